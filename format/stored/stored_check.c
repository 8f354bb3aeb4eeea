/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/stored/stored_check.h"

#include <stdlib.h>
#include <string.h>

#include "format/bytes/fmt_error.h"
#include "format/stored/stored_plt.h"
#include "format/stored/stored_window.h"

#define NOTE_NAME_MAX 64
#define LINK_MAX 4352 /* .gnu_debuglink, .gnu_debugaltlink: a path and an id */
#define FLAG_MAX 64

#define FIELD(e, p, type, name) ELF_FIELD((e)->is64, p, type, name)

/* A section, as its header has it. */
struct part {
	const struct stored_elf *e;
	const uint8_t *header;
	const char *name;
	struct stored_window *in;
	uint64_t at, n;
};

static uint64_t
field_of(const struct part *p, size_t wide, size_t narrow, size_t wide_bytes, size_t narrow_bytes)
{
	return p->e->is64 ? elf_field(p->header + wide, wide_bytes)
			  : elf_field(p->header + narrow, narrow_bytes);
}

#define SECTION(p, name)                                                                           \
	field_of(p, offsetof(Elf64_Shdr, name), offsetof(Elf32_Shdr, name),                        \
		 sizeof(((Elf64_Shdr *)NULL)->name), sizeof(((Elf32_Shdr *)NULL)->name))

static int
window_free(struct stored_window *w, bool good)
{
	const int error = w->error;

	free(w);
	return error ? error : good;
}

static bool
is_zeros(const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i])
			return false;
	return true;
}

/* --- parts that program headers name ------------------------------------------------------ */

static const uint8_t *
find_segment(const struct stored_elf *e, uint32_t type)
{
	for (size_t i = 0; i < e->nr_segments; i++)
		if (FIELD(e, stored_elf_segment(e, i), Phdr, p_type) == type)
			return stored_elf_segment(e, i);
	return NULL;
}

static bool
is_tag(uint64_t tag)
{
	return tag < FLAG_MAX || (tag >= DT_LOOS && tag <= DT_HIPROC);
}

int
stored_check_dynamic(const struct stored_elf *e, struct stored_dynamic *ret)
{
	const size_t each = ELF_SIZE(e->is64, Dyn);
	const uint8_t *segment = find_segment(e, PT_DYNAMIC), *p = NULL;
	struct stored_dynamic d = { 0 };
	struct stored_window *w;
	uint64_t end, tag = DT_DEBUG;

	*ret = d;
	if (!segment)
		return 0;
	d.at = FIELD(e, segment, Phdr, p_offset);
	end = FIELD(e, segment, Phdr, p_filesz);
	if (!stored_elf_inside(e, d.at, end))
		return 0;
	end += d.at;
	w = stored_window_new(e->file, end);
	if (!w)
		return -FMT_E_NOMEM;
	while (tag != DT_NULL && (p = stored_window_get(w, d.at + d.n, each))) {
		const uint64_t value = FIELD(e, p, Dyn, d_un.d_val);

		tag = FIELD(e, p, Dyn, d_tag);
		if (!is_tag(tag))
			break;
		if (tag == DT_SYMTAB)
			d.symbols = value;
		else if (tag == DT_STRTAB)
			d.strings = value;
		else if (tag == DT_STRSZ)
			d.strings_bytes = value;
		d.n += each;
	}
	if (p && tag == DT_NULL)
		*ret = d;
	return window_free(w, p && tag == DT_NULL);
}

/* Go's has a NUL more. */
static bool
note_name_fits(const uint8_t *p, size_t n)
{
	size_t length = 0;

	while (length < n && p[length] > ' ' && p[length] <= '~')
		length++;
	return length > 0 && length < n && n - length <= 4 && is_zeros(p + length, n - length);
}

int
stored_check_notes(const struct stored_elf *e, uint64_t at, uint64_t end, uint64_t align)
{
	struct stored_window *w = stored_window_new(e->file, end);
	const uint64_t mask = align == 8 ? 7 : 3;
	bool good = true;
	const uint8_t *p;

	if (!w)
		return -FMT_E_NOMEM;
	while (good && at < end && (p = stored_window_get(w, at, sizeof(Elf32_Nhdr)))) {
		const uint64_t name = le32dec(p), bytes = le32dec(p + 4);
		const uint64_t data = (sizeof(Elf32_Nhdr) + name + mask) & ~mask;

		if (name > NOTE_NAME_MAX || bytes > end - at || data > end - at - bytes)
			break;
		p = stored_window_get(w, at + sizeof(Elf32_Nhdr), (size_t)name);
		good = p && note_name_fits(p, (size_t)name);
		at += data + bytes;
		/* The last one may lack what fills it up. */
		at = end - at < mask ? end : (at + mask) & ~mask;
	}
	return window_free(w, good && at == end);
}

/* --- tables ------------------------------------------------------------------------------- */

/* Each has a name in its strings, and a section. */
static bool
are_symbols(const struct part *s)
{
	const struct stored_elf *e = s->e;
	const size_t each = ELF_SIZE(e->is64, Sym);
	const uint64_t link = SECTION(s, sh_link);
	uint64_t strings;
	const uint8_t *p;

	if (link >= e->nr_sections || SECTION(s, sh_entsize) != each || s->n % each || !s->n)
		return false;
	strings = FIELD(e, stored_elf_section(e, (size_t)link), Shdr, sh_size);
	for (uint64_t at = 0; at < s->n; at += each) {
		uint64_t index;

		p = stored_window_get(s->in, s->at + at, each);
		if (!p || (at == 0 && !is_zeros(p, each)))
			return false;
		index = FIELD(e, p, Sym, st_shndx);
		if ((FIELD(e, p, Sym, st_name) >= strings && at > 0) ||
		    (index >= e->nr_sections && index < SHN_LORESERVE))
			return false;
	}
	return true;
}

/* Each is of a place that is loaded. */
static bool
are_relocations(const struct part *s)
{
	const struct stored_elf *e = s->e;
	const bool addend = SECTION(s, sh_type) == SHT_RELA;
	const size_t each = addend ? ELF_SIZE(e->is64, Rela) : ELF_SIZE(e->is64, Rel);

	if (SECTION(s, sh_entsize) != each || s->n % each)
		return false;
	for (uint64_t at = 0; at < s->n; at += each) {
		const uint8_t *p = stored_window_get(s->in, s->at + at, each);

		if (!p || !stored_elf_spans(e, FIELD(e, p, Rela, r_offset)))
			return false;
	}
	return true;
}

/* Of sections that are more than a half word can say. */
static bool
are_indices(const struct part *s)
{
	for (uint64_t at = 0; at < s->n; at += 4) {
		const uint8_t *p = stored_window_get(s->in, s->at + at, 4);

		if (!p || le32dec(p) >= s->e->nr_sections)
			return false;
	}
	return s->n % 4 == 0;
}

/* --- by name ------------------------------------------------------------------------------ */

static bool
begins(const struct part *s, const char *bytes, size_t n)
{
	const uint8_t *p = stored_window_get(s->in, s->at, n);

	return p && memcmp(p, bytes, n) == 0;
}

static bool
is_xz(const struct part *s)
{
	const uint8_t *p;

	if (s->n < 32 ||
	    !begins(s,
		    "\xfd"
		    "7zXZ\0",
		    6))
		return false;
	p = stored_window_get(s->in, s->at + s->n - 2, 2);
	return p && memcmp(p, "YZ", 2) == 0;
}

/* A name, and a sum or a build-id behind it. */
static bool
is_link(const struct part *s)
{
	const uint8_t *p = s->n <= LINK_MAX ? stored_window_get(s->in, s->at, (size_t)s->n) : NULL;
	const uint8_t *end = p ? memchr(p, 0, (size_t)s->n) : NULL;
	size_t left = end ? (size_t)(s->n - (uint64_t)(end - p) - 1) : 0;

	if (strcmp(s->name, ".gnu_debuglink") == 0)
		return end && end > p && left >= 4 && left <= 7 && s->n % 4 == 0;
	return end && end > p && left >= 2 && left <= 64;
}

/* Its head, as of Go 1.2 to now. */
static bool
is_pclntab(const struct part *s)
{
	const uint8_t *p = stored_window_get(s->in, s->at, 8);
	const uint32_t magic = p ? le32dec(p) : 0;

	return p && (magic == 0xfffffffbu || magic == 0xfffffffau || (magic | 1) == 0xfffffff1u) &&
		p[4] == 0 && p[5] == 0 && (p[6] == 1 || p[6] == 2 || p[6] == 4) &&
		p[7] == (s->e->is64 ? 8 : 4);
}

/* Debug information of another kind cannot be told from anything; it is compressed, where its header says so. */
static bool
is_debug(const struct part *s)
{
	const uint8_t *p;

	if (strncmp(s->name, ".zdebug_", 8) == 0)
		return begins(s, "ZLIB", 4);
	if (!(SECTION(s, sh_flags) & SHF_COMPRESSED))
		return true;
	p = stored_window_get(s->in, s->at, ELF_SIZE(s->e->is64, Chdr));
	return p && FIELD(s->e, p, Chdr, ch_type) >= ELFCOMPRESS_ZLIB &&
		FIELD(s->e, p, Chdr, ch_type) <= 2 /* ELFCOMPRESS_ZSTD */;
}

static bool
is_of_plt(const char *name)
{
	return strcmp(name, ".plt") == 0 || strcmp(name, ".iplt") == 0 ||
		strncmp(name, ".plt.", 5) == 0;
}

static bool
is_as_named(const struct part *s, bool debug)
{
	const uint64_t machine = FIELD(s->e, s->e->header, Ehdr, e_machine);

	if (is_of_plt(s->name))
		return stored_plt_fits((uint16_t)machine, s->in, s->at, s->n);
	if (strstr(s->name, ".gopclntab"))
		return is_pclntab(s);
	if (SECTION(s, sh_flags) & SHF_ALLOC)
		return false;
	if (strcmp(s->name, ".gnu_debugdata") == 0)
		return is_xz(s);
	if (strcmp(s->name, ".gnu_debuglink") == 0 || strcmp(s->name, ".gnu_debugaltlink") == 0)
		return is_link(s);
	return debug && is_debug(s);
}

int
stored_check_section(const struct stored_elf *e, const struct stored_dynamic *d, size_t i,
		     bool debug)
{
	struct part s = { .e = e, .header = stored_elf_section(e, i) };
	const bool loaded = SECTION(&s, sh_flags) & SHF_ALLOC;
	const uint64_t type = SECTION(&s, sh_type);
	bool good;

	s.name = stored_elf_name(e, i);
	s.at = SECTION(&s, sh_offset);
	s.n = SECTION(&s, sh_size);
	if (type == SHT_NOTE)
		return stored_check_notes(e, s.at, s.at + s.n, SECTION(&s, sh_addralign));
	s.in = stored_window_new(e->file, s.at + s.n);
	if (!s.in)
		return -FMT_E_NOMEM;
	if (type == SHT_SYMTAB)
		good = !loaded && are_symbols(&s);
	else if (type == SHT_DYNSYM)
		good = loaded && SECTION(&s, sh_addr) == d->symbols && are_symbols(&s);
	else if (type == SHT_SYMTAB_SHNDX)
		good = !loaded && are_indices(&s);
	else if (type == SHT_RELA || type == SHT_REL)
		good = loaded && are_relocations(&s);
	else
		good = is_as_named(&s, debug);
	return window_free(s.in, good);
}

int
stored_check_strings(const struct stored_elf *e, const struct stored_dynamic *d, size_t i)
{
	const uint8_t *h = stored_elf_section(e, i), *p;
	const uint64_t at = FIELD(e, h, Shdr, sh_offset), n = FIELD(e, h, Shdr, sh_size);
	struct stored_window *w;
	bool good = n > 0;

	if (FIELD(e, h, Shdr, sh_type) != SHT_STRTAB || !stored_elf_inside(e, at, n))
		return 0;
	if (FIELD(e, h, Shdr, sh_flags) & SHF_ALLOC &&
	    (FIELD(e, h, Shdr, sh_addr) != d->strings || n != d->strings_bytes))
		return 0;
	w = stored_window_new(e->file, at + n);
	if (!w)
		return -FMT_E_NOMEM;
	for (uint64_t k = 0; k < n && good; k += n > 1 ? n - 1 : 1)
		good = (p = stored_window_get(w, at + k, 1)) && *p == 0;
	return window_free(w, good);
}

bool
stored_check_table(const struct stored_elf *e)
{
	for (size_t i = 0; i < e->nr_sections; i++) {
		const uint8_t *s = stored_elf_section(e, i);
		const uint64_t type = FIELD(e, s, Shdr, sh_type);

		if (i == 0 && type != SHT_NULL)
			return false;
		if (FIELD(e, s, Shdr, sh_link) >= e->nr_sections && i > 0)
			return false;
		if (FIELD(e, s, Shdr, sh_name) > 0 && FIELD(e, s, Shdr, sh_name) >= e->names_len &&
		    e->names_len)
			return false;
	}
	return true;
}
