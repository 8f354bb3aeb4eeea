/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/unwind/cfi_fdes.h"

#include <stdlib.h>
#include <string.h>

#include "format/bytes/array.h"
#include "format/bytes/fmt_error.h"
#include "symbolizer/object/elf_cfi.h"

#define ENTRY_BYTES_MAX (64u << 10) /* of an FDE that is read by itself: 20,000 rows */

/* --- all of them --------------------------------------------------------------------------- */

struct indexing {
	struct cfi_fdes *f;
	struct elf_object *o; /* NULL: code that no file has, */
	uint64_t start, size; /* which is here */
	bool is_eh;
	size_t max; /* FDEs that the index may have */
};

static bool
is_code(const struct indexing *i, uint64_t start, uint64_t length)
{
	if (i->o)
		return elf_cfi_is_code(i->o, start, length);
	return start - i->start < i->size && length <= i->size - (start - i->start);
}

/*
 * Code that the linker dropped leaves FDEs at 0, or of no length: what is not in a segment of code
 * is passed over.
 */
static int
index_add(void *arg, const struct cfi_entry *entry, const struct cfi_cie *cie,
	  const struct cfi_fde *fde)
{
	const struct indexing *i = arg;
	struct cfi_fdes *f = i->f;
	int err;

	(void)cie;
	if (!is_code(i, fde->start, fde->length))
		return 0;
	if (f->nr >= i->max)
		return -FMT_E_TOO_BIG;
	err = array_reserve(f->v, f->nr, f->cap, 1);
	if (err == 0)
		f->v[f->nr++] = (struct cfi_fde_place){ .start = fde->start,
							.length = (uint32_t)fde->length,
							.offset = (uint32_t)entry->offset,
							.first = CFI_FDE_NEW,
							.is_eh = i->is_eh };
	return err;
}

static size_t
bytes_read(const struct cfi_fdes *f)
{
	return f->bytes[0].len + f->bytes[1].len;
}

static int
index_section(struct indexing i, size_t max)
{
	const size_t sections = bytes_read(i.f);

	if (sections > max)
		return -FMT_E_TOO_BIG;
	i.max = (max - sections) / sizeof(*i.f->v);
	return cfi_entry_each(&i.f->sections[i.is_eh], index_add, &i);
}

/* Of two that begin at one address .eh_frame's is the first: it is what the program itself uses. */
static int
compare_places(const void *a, const void *b)
{
	const struct cfi_fde_place *x = a, *y = b;

	if (x->start != y->start)
		return x->start > y->start ? 1 : -1;
	if (x->is_eh != y->is_eh)
		return y->is_eh - x->is_eh;
	return (x->offset > y->offset) - (x->offset < y->offset);
}

static void
index_sort(struct cfi_fdes *f)
{
	size_t kept = 0;

	if (f->nr == 0)
		return;
	qsort(f->v, f->nr, sizeof(*f->v), compare_places);
	for (size_t i = 1; i < f->nr; i++) {
		struct cfi_fde_place *before = &f->v[kept];

		if (f->v[i].start == before->start)
			continue;
		if (before->length > f->v[i].start - before->start)
			before->length = (uint32_t)(f->v[i].start - before->start);
		f->v[++kept] = f->v[i];
	}
	f->nr = kept + 1;
	if (f->cap > f->nr) {
		void *less = reallocarray(f->v, f->nr, sizeof(*f->v));

		f->v = less ? less : f->v;
		f->cap = less ? f->nr : f->cap;
	}
}

static int
read_section(struct cfi_fdes *f, struct elf_object *o, struct elf_object *debug, bool is_eh,
	     size_t max)
{
	int err = elf_cfi_read(o, debug, is_eh, &f->bytes[is_eh], &f->sections[is_eh]);

	if (err)
		return err == -FMT_E_EMPTY ? 0 : err;
	return index_section((struct indexing){ .f = f, .o = o, .is_eh = is_eh }, max);
}

/* Of both files, while their sections are read. */
static void
limit(struct elf_object *o, struct elf_object *debug, size_t max)
{
	elf_bytes_limit(o, max);
	if (debug)
		elf_bytes_limit(debug, max);
}

int
cfi_fdes_read(struct cfi_fdes *f, struct elf_object *o, struct elf_object *debug, size_t max)
{
	int err;

	limit(o, debug, max);
	err = read_section(f, o, debug, false, max);
	if (err == 0)
		err = read_section(f, o, debug, true, max);
	limit(o, debug, SIZE_MAX);
	if (err == 0)
		index_sort(f);
	return err;
}

int
cfi_fdes_made(struct cfi_fdes *f, uint64_t start, uint64_t size, const struct span *eh_frame,
	      uint64_t vaddr, bool narrow)
{
	struct elf_bytes *b = &f->bytes[1];
	int err;

	b->p = malloc(eh_frame->len + 1);
	if (!b->p)
		return -FMT_E_NOMEM;
	memcpy(b->p, eh_frame->p, eh_frame->len);
	b->len = eh_frame->len;
	f->sections[1] = (struct cfi_section){
		.bytes = span_of(b->p, b->len), .vaddr = vaddr, .is_eh = true, .narrow = narrow
	};
	err = index_section(
		(struct indexing){ .f = f, .start = start, .size = size, .is_eh = true }, SIZE_MAX);
	if (err == 0)
		index_sort(f);
	return err;
}

void
cfi_fdes_done(struct cfi_fdes *f)
{
	free(f->bytes[0].p);
	free(f->bytes[1].p);
	free(f->v);
	free(f->cie_bytes);
	elf_reader_close(f->reader);
	cfi_table_done(&f->table);
	slots_done(&f->asked);
}

size_t
cfi_fdes_bytes(const struct cfi_fdes *f)
{
	return bytes_read(f) + f->cap * sizeof(*f->v) + f->table.nr * sizeof(*f->table.v) +
		(f->asked.v ? (f->asked.mask + 1) * sizeof(*f->asked.v) : 0) +
		(f->reader ? elf_reader_bytes(f->reader) + CFI_FDES_CIE_BYTES : 0);
}

size_t
cfi_fdes_section_bytes(const struct cfi_fdes *f)
{
	const size_t about = f->table.section_bytes + ENTRY_BYTES_MAX;

	if (!f->reader)
		return bytes_read(f);
	return about < f->section_max ? about : f->section_max;
}

static const struct cfi_fde_place *
last_before(const struct cfi_fdes *f, uint64_t vaddr)
{
	size_t low = 0, n = f->nr;

	while (n > 1) {
		const size_t half = n / 2;

		if (f->v[low + half].start <= vaddr)
			low += half;
		n -= half;
	}
	return f->nr > 0 ? &f->v[low] : NULL;
}

static bool
has(const struct cfi_fde_place *p, uint64_t vaddr)
{
	return vaddr >= p->start && vaddr - p->start < p->length;
}

/* --- of a file that stays open ------------------------------------------------------------- */

int
cfi_fdes_open(struct cfi_fdes *f, struct elf_object *o, size_t max, struct elf_budget *budget)
{
	bool is64;
	int err;

	/* They know of code that the table does not know. */
	if (elf_bytes_has_section(o, ".debug_frame") || elf_bytes_has_section(o, ".gopclntab") ||
	    elf_bytes_has_section(o, ".data.rel.ro.gopclntab"))
		return -FMT_E_EMPTY;
	elf_bytes_limit(o, max);
	err = cfi_table_read(o, &f->table);
	elf_bytes_limit(o, SIZE_MAX);
	if (err == 0)
		err = elf_reader_open(o, budget, &f->reader);
	if (err == 0)
		f->cie_bytes = malloc(CFI_FDES_CIE_BYTES);
	if (err == 0 && !f->cie_bytes)
		err = -FMT_E_NOMEM;
	f->section_max = max;
	(void)elf_object_code_machine(o, &is64);
	/* Offsets are addresses. */
	f->cie = f->sections[1] = (struct cfi_section){ .is_eh = true, .narrow = !is64 };
	return err;
}

/* The bytes of an entry, with its length; they are read into so many of to, or of *more. As cfi_fdes_look(). */
static int
read_entry(const struct cfi_fdes *f, uint64_t vaddr, uint8_t *to, size_t size, uint8_t **more,
	   struct cfi_section *ret)
{
	size_t n, whole;
	int err = elf_reader_read(f->reader, vaddr, to, size, &n);
	struct span s = span_of(to, n);
	uint32_t length;

	if (err)
		return err;
	/* An extended length (0xffffffff) is refused as well: compilers write none. */
	if (!span_u32(&s, &length) || length > ENTRY_BYTES_MAX)
		return -FMT_E_CORRUPT;
	whole = sizeof(length) + length;
	if (whole > n && more) {
		to = *more = malloc(whole);
		err = to ? elf_reader_read(f->reader, vaddr, to, whole, &n) : -FMT_E_NOMEM;
	}
	if (err)
		return err;
	if (whole > n)
		return -FMT_E_CORRUPT;
	ret->bytes = span_of(to, whole);
	ret->base = (size_t)vaddr;
	return 0;
}

static int
read_cie(struct cfi_fdes *f, uint64_t vaddr)
{
	if (f->cie.bytes.len > 0 && f->cie.base == vaddr)
		return 0;
	f->cie.bytes.len = 0;
	return read_entry(f, vaddr, f->cie_bytes, CFI_FDES_CIE_BYTES, NULL, &f->cie);
}

/* Its file may have been written to since it was looked at before. */
static bool
is_same(const struct cfi_fde_place *p, const struct cfi_fde *fde)
{
	return fde->start == p->start && (p->length == 0 || fde->length == p->length);
}

static int
look_in_file(struct cfi_fdes *f, const struct cfi_fde_place *p, struct cfi_fde_reading *r)
{
	const uint64_t vaddr = cfi_table_fde(&f->table, p->offset);
	struct cfi_entry entry;
	size_t offset = (size_t)vaddr;
	int err;

	r->section = f->sections[1];
	err = read_entry(f, vaddr, r->bytes, sizeof(r->bytes), &r->more, &r->section);
	if (err)
		return err;
	if (cfi_entry_next(&r->section, &offset, &entry) <= 0 || entry.is_cie)
		return -FMT_E_CORRUPT;
	err = read_cie(f, entry.cie);
	if (err)
		return err;
	return cfi_entry_cie(&f->cie, entry.cie, &r->cie) &&
			cfi_entry_fde(&r->section, &entry, &r->cie, &r->fde) && is_same(p, &r->fde)
		? 0
		: -FMT_E_CORRUPT;
}

static bool
same_entry(const void *owner, uint32_t index, const void *key)
{
	return ((const struct cfi_fdes *)owner)->v[index].offset ==
		((const struct cfi_fde_place *)key)->offset;
}

/* Its code, if it is code that has bytes, and begins where the table says. 0, -FMT_E_NOMEM. */
static int
learn(struct cfi_fdes *f, struct cfi_fde_place *p)
{
	struct cfi_fde_reading r;
	uint64_t start, end;
	int err = cfi_fdes_look(f, p, &r);

	if (err == 0 && r.fde.length <= UINT32_MAX &&
	    elf_reader_code(f->reader, p->start, &start, &end) && r.fde.length <= end - p->start)
		p->length = (uint32_t)r.fde.length;
	cfi_fde_reading_done(&r);
	p->is_learnt = err != -FMT_E_NOMEM;
	return p->is_learnt ? 0 : err;
}

/* Entry i of the table. 1; 0: i is CFI_TABLE_NONE; -FMT_E_NOMEM. */
static int
ask(struct cfi_fdes *f, size_t i, struct cfi_fde_place **ret)
{
	struct cfi_fde_place key = { .offset = (uint32_t)i, .first = CFI_FDE_NEW, .is_eh = true };
	uint32_t number;
	int err;

	if (i == CFI_TABLE_NONE)
		return 0;
	key.start = cfi_table_code(&f->table, i);
	err = slots_keep(&f->asked, (uint32_t)slots_mix(0, i), same_entry, f, &key, f->v, f->nr,
			 f->cap, &number);
	if (err)
		return err;
	*ret = &f->v[number];
	if (!(*ret)->is_learnt)
		err = learn(f, *ret);
	return err ? err : 1;
}

int
cfi_fdes_gap(struct cfi_fdes *f, uint64_t vaddr, uint64_t *ret_start, uint64_t *ret_end)
{
	const size_t i = cfi_table_find(&f->table, vaddr);
	struct cfi_fde_place *p;
	uint64_t start, end, next;
	int err;

	if (!elf_reader_code(f->reader, vaddr, &start, &end))
		return 0;
	err = ask(f, i, &p);
	if (err < 0 || (err > 0 && has(p, vaddr)))
		return err < 0 ? err : 0;
	if (err > 0 && p->start <= vaddr && p->start + p->length > start)
		start = p->start + p->length;
	/* Behind CFI_TABLE_NONE is 0. */
	next = i + 1 < f->table.nr ? cfi_table_code(&f->table, i + 1) : end;
	if (next > vaddr && next < end) {
		if (next - start < CFI_GAP_MIN)
			return 0;
		end = next;
	}
	*ret_start = start;
	*ret_end = end;
	return 1;
}

/* --- for both ------------------------------------------------------------------------------ */

int
cfi_fdes_find(struct cfi_fdes *f, uint64_t vaddr, struct cfi_fde_place **ret)
{
	int err;

	if (!f->reader) {
		const struct cfi_fde_place *p = last_before(f, vaddr);

		if (!p || !has(p, vaddr))
			return 0;
		*ret = &f->v[p - f->v];
		return 1;
	}
	err = ask(f, cfi_table_find(&f->table, vaddr), ret);
	return err <= 0 ? err : has(*ret, vaddr);
}

int
cfi_fdes_look(struct cfi_fdes *f, const struct cfi_fde_place *place, struct cfi_fde_reading *ret)
{
	struct cfi_entry entry;
	size_t offset = place->offset;

	ret->more = NULL;
	if (f->reader)
		return look_in_file(f, place, ret);
	ret->section = f->sections[place->is_eh];
	return cfi_entry_next(&ret->section, &offset, &entry) > 0 &&
			cfi_entry_cie(&ret->section, entry.cie, &ret->cie) &&
			cfi_entry_fde(&ret->section, &entry, &ret->cie, &ret->fde)
		? 0
		: -FMT_E_CORRUPT;
}

void
cfi_fde_reading_done(struct cfi_fde_reading *r)
{
	free(r->more);
}
