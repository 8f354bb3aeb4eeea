/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/dwarf/dwarf_image.h"

#include <stdlib.h>
#include <string.h>

#include <bsd/string.h>
#include <gelf.h>

#include "format/bytes/buf.h"
#include "format/bytes/fmt_error.h"
#include "symbolizer/dwarf/dwarf_copy.h"
#include "symbolizer/object/elf_packed.h"

#define CODE_MAX 64

struct dwarf_image {
	Elf *elf;
	struct buf copy; /* empty: the file itself is mapped */
	struct dwarf_code code[CODE_MAX];
	size_t nr_code;
};

/* --- what the file has ------------------------------------------------------------------- */

static const char *
section_name(Elf *elf, const GElf_Shdr *shdr)
{
	size_t names;
	const char *name = NULL;

	if (elf_getshdrstrndx(elf, &names) == 0)
		name = elf_strptr(elf, names, shdr->sh_name);
	return name ? name : "";
}

static bool
is_old_compressed(const char *name)
{
	return strncmp(name, ".zdebug_", 8) == 0;
}

/* What is read of them; places of variables, macros and indexes of names are left where they are. */
static bool
is_debug(const char *name)
{
	static const char *const read[] = { "abbrev",	"addr", "aranges",     "cu_index",
					    "info",	"line", "line_str",    "ranges",
					    "rnglists", "str",	"str_offsets", "types" };
	const char *rest;
	size_t len;

	if (strcmp(name, ".gnu_debugaltlink") == 0)
		return true;
	if (strncmp(name, ".debug_", 7) != 0 && !is_old_compressed(name))
		return false;
	rest = strchr(name, '_') + 1;
	for (size_t i = 0; i < sizeof(read) / sizeof(read[0]); i++) {
		len = strlen(read[i]);
		if (strncmp(rest, read[i], len) == 0 &&
		    (rest[len] == '\0' || strcmp(rest + len, ".dwo") == 0))
			return true;
	}
	return false;
}

/* ".debug_info", ".zdebug_line", ".debug_info.dwo"... from the "_" on: without one of them nothing can be had. */
static bool
begins_with_info(const char *rest)
{
	return rest && (strncmp(rest, "_info", 5) == 0 || strcmp(rest, "_line") == 0);
}

static void
look_at_sections(Elf *elf, bool *ret_debug, bool *ret_compressed)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;

	while ((scn = elf_nextscn(elf, scn))) {
		const char *name;

		if (!gelf_getshdr(scn, &shdr))
			continue;
		name = section_name(elf, &shdr);
		if (!is_debug(name) || shdr.sh_type == SHT_NOBITS)
			continue;
		*ret_debug |= begins_with_info(strchr(name, '_'));
		*ret_compressed |= is_old_compressed(name) || (shdr.sh_flags & SHF_COMPRESSED);
	}
}

static void
find_code(struct dwarf_image *image, Elf *elf)
{
	size_t nr = 0;
	GElf_Phdr phdr;

	if (elf_getphdrnum(elf, &nr) != 0)
		return;
	for (size_t i = 0; i < nr && image->nr_code < CODE_MAX; i++) {
		if (!gelf_getphdr(elf, (int)i, &phdr) || phdr.p_type != PT_LOAD ||
		    !(phdr.p_flags & PF_X) || phdr.p_memsz > UINT64_MAX - phdr.p_vaddr)
			continue;
		image->code[image->nr_code++] =
			(struct dwarf_code){ phdr.p_vaddr, phdr.p_vaddr + phdr.p_memsz };
	}
}

/* --- the copy ---------------------------------------------------------------------------- */

/* What is copied, of what may be. */
struct inflating {
	struct dwarf_copy copy;
	uint64_t left; /* bytes that may come yet */
	bool is64;     /* the original */
};

static int
add_section(struct inflating *c, const char *name, struct span in, bool compressed)
{
	const bool old = is_old_compressed(name);
	struct elf_packed p = { .bytes = in, .size = in.len };
	char plain[64];
	uint8_t *out;
	int error = 0;

	if ((old || compressed) && !elf_packed_read(in, old, c->is64, &p))
		return -FMT_E_DECOMPRESS;
	if (p.size > c->left)
		return -FMT_E_TOO_BIG;
	c->left -= p.size;
	out = dwarf_copy_room(&c->copy, (size_t)p.size);
	if (!out)
		return -FMT_E_NOMEM;
	if (old || compressed)
		error = elf_packed_inflate(&p, out);
	else if (in.len > 0)
		memcpy(out, in.p, in.len);
	if (error)
		return error;
	if (strlcpy(plain, old ? ".debug_" : name, sizeof(plain)) >= sizeof(plain) ||
	    (old && strlcat(plain, name + strlen(".zdebug_"), sizeof(plain)) >= sizeof(plain)))
		return -FMT_E_CORRUPT;
	dwarf_copy_take(&c->copy, plain, (size_t)p.size);
	return 0;
}

static int
add_sections(struct inflating *c, Elf *elf)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	int error = 0;

	while (!error && (scn = elf_nextscn(elf, scn))) {
		const char *name;
		Elf_Data *d;

		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type == SHT_NOBITS)
			continue;
		name = section_name(elf, &shdr);
		d = is_debug(name) ? elf_rawdata(scn, NULL) : NULL;
		if (d && d->d_buf)
			error = add_section(c, name, span_of(d->d_buf, d->d_size),
					    shdr.sh_flags & SHF_COMPRESSED);
	}
	return error;
}

/* What the sections of such a file may become. */
static uint64_t
inflated_max(Elf *elf)
{
	size_t size = 0;
	uint64_t max;

	elf_rawfile(elf, &size);
	max = DWARF_IMAGE_BYTES_FREE + (uint64_t)size * DWARF_IMAGE_RATIO_MAX;
	return max < DWARF_IMAGE_BYTES_MAX ? max : DWARF_IMAGE_BYTES_MAX;
}

static int
open_copy(struct dwarf_image *image)
{
	struct inflating c = { .left = inflated_max(image->elf),
			       .is64 = gelf_getclass(image->elf) == ELFCLASS64 };
	int error;
	Elf *copy;

	dwarf_copy_init(&c.copy);
	error = add_sections(&c, image->elf);
	if (error) {
		dwarf_copy_done(&c.copy);
		return error;
	}
	error = dwarf_copy_open(&c.copy, image->elf, &image->copy, &copy);
	if (error)
		return error;
	elf_end(image->elf);
	image->elf = copy;
	return 0;
}

/* --- the image --------------------------------------------------------------------------- */

static int
open_elf(struct dwarf_image *image, int fd)
{
	bool debug = false, compressed = false;

	image->elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (!image->elf || elf_kind(image->elf) != ELF_K_ELF)
		return -FMT_E_CORRUPT;
	find_code(image, image->elf);
	look_at_sections(image->elf, &debug, &compressed);
	if (!debug)
		return -FMT_E_EMPTY;
	return compressed ? open_copy(image) : 0;
}

int
dwarf_image_open(int fd, struct dwarf_image **ret)
{
	struct dwarf_image *image = calloc(1, sizeof(*image));
	int error;

	if (!image)
		return -FMT_E_NOMEM;
	elf_version(EV_CURRENT);
	error = open_elf(image, fd);
	if (error) {
		dwarf_image_close(image);
		return error;
	}
	*ret = image;
	return 0;
}

void
dwarf_image_close(struct dwarf_image *image)
{
	if (!image)
		return;
	elf_end(image->elf);
	buf_done(&image->copy);
	free(image);
}

Elf *
dwarf_image_elf(const struct dwarf_image *image)
{
	return image->elf;
}

struct span
dwarf_image_section_if(const struct dwarf_image *image, const char *name,
		       bool (*is_wanted)(struct span bytes))
{
	struct span first = span_of(NULL, 0), s;
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;

	while ((scn = elf_nextscn(image->elf, scn))) {
		Elf_Data *d;

		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type == SHT_NOBITS ||
		    strcmp(section_name(image->elf, &shdr), name) != 0)
			continue;
		d = elf_rawdata(scn, NULL);
		s = d && d->d_buf ? span_of(d->d_buf, d->d_size) : span_of(NULL, 0);
		if (!is_wanted || is_wanted(s))
			return s;
		if (first.len == 0)
			first = s;
	}
	return first;
}

struct span
dwarf_image_section(const struct dwarf_image *image, const char *name)
{
	return dwarf_image_section_if(image, name, NULL);
}

size_t
dwarf_image_code(const struct dwarf_image *image, const struct dwarf_code **ret)
{
	*ret = image->code;
	return image->nr_code;
}
