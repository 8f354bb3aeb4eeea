/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/object/elf_bytes.h"

#include <stdlib.h>
#include <string.h>

#include "format/bytes/array.h"
#include "format/bytes/fmt_error.h"
#include "symbolizer/object/elf_internal.h"
#include "symbolizer/object/elf_packed.h"

void
elf_bytes_limit(struct elf_object *o, uint64_t max)
{
	o->bytes_max = max < ELF_BYTES_MAX ? max : ELF_BYTES_MAX;
}

uint64_t
elf_bytes_made(const struct elf_object *o)
{
	return o->bytes_made;
}

static int
check_part(const struct elf_object *o, uint64_t offset, uint64_t size)
{
	if (offset > o->file_size || size > o->file_size - offset)
		return -FMT_E_TRUNCATED;
	if (size == 0)
		return -FMT_E_EMPTY;
	return size > o->bytes_max ? -FMT_E_TOO_BIG : 0;
}

static int
read_part(struct elf_object *o, uint64_t offset, uint8_t *to, size_t size)
{
	ssize_t n;

	o->bytes_made += size;
	n = o->file->read(o->file, offset, to, size);
	if (n < 0)
		return -FMT_E_IO;
	return (size_t)n < size ? -FMT_E_TRUNCATED : 0;
}

static int
copy_part(struct elf_object *o, uint64_t offset, uint64_t size, struct elf_bytes *ret)
{
	int err = check_part(o, offset, size);
	uint8_t *p = err ? NULL : malloc((size_t)size);

	if (err)
		return err;
	if (!p)
		return -FMT_E_NOMEM;
	err = read_part(o, offset, p, (size_t)size);
	if (err) {
		free(p);
		return err;
	}
	ret->p = p;
	ret->len = (size_t)size;
	return 0;
}

/* Makes what they stand for of packed bytes. */
static int
unpack(struct elf_object *o, bool is_zdebug, struct elf_bytes *b)
{
	const bool is64 = gelf_getclass(o->elf) == ELFCLASS64;
	struct elf_packed packed;
	uint8_t *out;
	int err;

	if (!elf_packed_read(span_of(b->p, b->len), is_zdebug, is64, &packed))
		return -FMT_E_DECOMPRESS;
	if (packed.size > o->bytes_max)
		return -FMT_E_TOO_BIG;
	if (packed.size == 0)
		return -FMT_E_EMPTY;
	out = malloc((size_t)packed.size);
	if (!out)
		return -FMT_E_NOMEM;
	o->bytes_made += packed.size;
	err = elf_packed_inflate(&packed, out);
	if (err) {
		free(out);
		return err;
	}
	free(b->p);
	b->p = out;
	b->len = (size_t)packed.size;
	return 0;
}

static int
read_section(struct elf_object *o, const GElf_Shdr *shdr, bool is_zdebug, struct elf_bytes *ret)
{
	struct elf_bytes b = { .vaddr = shdr->sh_flags & SHF_ALLOC ? shdr->sh_addr : 0 };
	int err = copy_part(o, shdr->sh_offset, shdr->sh_size, &b);

	if (err == 0 && (is_zdebug || (shdr->sh_flags & SHF_COMPRESSED)))
		err = unpack(o, is_zdebug, &b);
	if (err == 0)
		*ret = b;
	else
		free(b.p);
	return err;
}

/* The first section of that name that has bytes in the file. */
static bool
find_section(struct elf_object *o, const char *name, GElf_Shdr *ret, bool *ret_is_zdebug)
{
	for (size_t i = 1; i < o->nr_sections; i++) {
		const char *here;
		Elf_Scn *scn;

		if (!elf_section(o, i, &scn, ret) || ret->sh_type == SHT_NOBITS)
			continue;
		here = elf_section_name(o, ret);
		*ret_is_zdebug = strncmp(here, ".z", 2) == 0 && strcmp(here + 2, name + 1) == 0;
		if (*ret_is_zdebug || strcmp(here, name) == 0)
			return true;
	}
	return false;
}

int
elf_bytes_of_section(struct elf_object *o, const char *name, struct elf_bytes *ret)
{
	GElf_Shdr shdr;
	bool is_zdebug;

	if (!find_section(o, name, &shdr, &is_zdebug))
		return -FMT_E_EMPTY;
	return read_section(o, &shdr, is_zdebug, ret);
}

bool
elf_bytes_has_section(struct elf_object *o, const char *name)
{
	GElf_Shdr shdr;
	bool is_zdebug;

	return find_section(o, name, &shdr, &is_zdebug) && shdr.sh_size > 0;
}

int
elf_bytes_of_header(struct elf_object *o, struct elf_bytes *ret)
{
	struct elf_bytes b = { 0 };
	size_t nr = 0;
	int err = -FMT_E_EMPTY;

	if (elf_getphdrnum(o->elf, &nr) != 0)
		nr = 0;
	for (size_t i = 0; i < nr && err == -FMT_E_EMPTY; i++) {
		GElf_Phdr p;

		if (gelf_getphdr(o->elf, (int)i, &p) == NULL || p.p_type != PT_GNU_EH_FRAME)
			continue;
		b.vaddr = p.p_vaddr;
		err = copy_part(o, p.p_offset, p.p_filesz, &b);
	}
	if (err == 0)
		*ret = b;
	return err;
}

/* --- sections without their bytes --------------------------------------------------------- */

static int
compare_ranges(const void *a, const void *b)
{
	const struct elf_range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* Those that lie over each other become one. */
static void
merge_ranges(struct elf_emptied *e)
{
	size_t kept = 0;

	if (e->nr == 0)
		return;
	qsort(e->v, e->nr, sizeof(*e->v), compare_ranges);
	for (size_t i = 1; i < e->nr; i++) {
		struct elf_range *before = &e->v[kept];

		if (e->v[i].start > before->last)
			e->v[++kept] = e->v[i];
		else if (e->v[i].last > before->last)
			before->last = e->v[i].last;
	}
	e->nr = kept + 1;
}

/* There are ELF_SECTIONS_MAX at most. */
static int
find_emptied(const struct elf_object *o, struct elf_emptied *e)
{
	int err = 0;

	e->nr = 0;
	for (size_t i = 1; err == 0 && i < o->nr_sections; i++) {
		GElf_Shdr s;
		Elf_Scn *scn;

		if (!elf_section(o, i, &scn, &s) || s.sh_type != SHT_NOBITS ||
		    !(s.sh_flags & SHF_EXECINSTR) || s.sh_size == 0)
			continue;
		err = array_reserve(e->v, e->nr, e->cap, 1);
		if (err == 0)
			e->v[e->nr++] = (struct elf_range){
				.start = s.sh_addr,
				.last = s.sh_size - 1 > UINT64_MAX - s.sh_addr
					? UINT64_MAX
					: s.sh_addr + (s.sh_size - 1),
			};
	}
	if (err)
		return err;
	merge_ranges(e);
	e->known = true;
	return 0;
}

/*
 * Is there a section at the address that has lost its bytes? 1, 0, -FMT_E_NOMEM. Who asks may have a million places
 * (cfi_gaps), and a file as many sections as it likes: they are looked through once.
 */
static int
is_emptied(struct elf_object *o, uint64_t vaddr)
{
	struct elf_emptied *e = &o->emptied;
	size_t low = 0, n;
	int err = e->known ? 0 : find_emptied(o, e);

	if (err)
		return err;
	for (n = e->nr; n > 1; n -= n / 2)
		if (e->v[low + n / 2].start <= vaddr)
			low += n / 2;
	return n == 1 && vaddr >= e->v[low].start && vaddr <= e->v[low].last;
}

/* --- bytes at an address ------------------------------------------------------------------ */

/* Where they are in the file, and how many there are, at most *size. */
static int
find_part(struct elf_object *o, uint64_t vaddr, uint64_t *size, uint64_t *ret_offset)
{
	const int emptied = is_emptied(o, vaddr);

	if (emptied)
		return emptied < 0 ? emptied : -FMT_E_EMPTY;
	for (size_t i = 0; i < o->nr_segments; i++) {
		const struct elf_segment *s = &o->segments[i];
		const uint64_t at = vaddr - s->vaddr;

		if (vaddr < s->vaddr || at >= s->filesz || s->offset > o->file_size)
			continue;
		if (*size > s->filesz - at)
			*size = s->filesz - at;
		*ret_offset = s->offset + at;
		return 0;
	}
	return -FMT_E_EMPTY;
}

int
elf_bytes_at(struct elf_object *o, uint64_t vaddr, uint64_t size, struct elf_bytes *ret)
{
	struct elf_bytes b = { .vaddr = vaddr };
	uint64_t offset;
	int err = find_part(o, vaddr, &size, &offset);

	if (err == 0)
		err = copy_part(o, offset, size, &b);
	if (err == 0)
		*ret = b;
	return err;
}

int
elf_bytes_into(struct elf_object *o, uint64_t vaddr, uint8_t *to, size_t size, size_t *ret)
{
	uint64_t offset, n = size;
	int err = find_part(o, vaddr, &n, &offset);

	if (err == 0)
		err = check_part(o, offset, n);
	if (err == 0)
		err = read_part(o, offset, to, (size_t)n);
	if (err == 0)
		*ret = (size_t)n;
	return err;
}

int
elf_bytes_from(struct elf_object *o, uint64_t vaddr, struct elf_bytes *ret)
{
	return elf_bytes_at(o, vaddr, UINT64_MAX, ret);
}
