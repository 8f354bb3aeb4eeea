/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/unwind/cfi_table.h"

#include <stdlib.h>
#include <string.h>

#include "format/bytes/fmt_error.h"
#include "format/bytes/span.h"
#include "symbolizer/object/dwarf_pointer.h"
#include "symbolizer/object/elf_bytes.h"

#define DATAREL_SDATA4 0x3b /* of the table: what all linkers write */

/* Its entries, of the bytes of a header. */
static int
find_entries(const struct elf_bytes *b, struct span *ret, size_t *ret_nr)
{
	struct span s = span_of(b->p, b->len);
	uint8_t version, frame, count, table;
	uint64_t ignored;
	uint32_t nr;

	if (!span_u8(&s, &version) || version != 1 || !span_u8(&s, &frame) ||
	    !span_u8(&s, &count) || !span_u8(&s, &table))
		return -FMT_E_CORRUPT;
	if (count != DWARF_UDATA4 || table != DATAREL_SDATA4)
		return -FMT_E_EMPTY;
	if (!dwarf_pointer(&s, frame, b->vaddr + 4, b->vaddr, &ignored) || !span_u32(&s, &nr) ||
	    nr > s.len / sizeof(struct cfi_table_entry))
		return -FMT_E_CORRUPT;
	*ret = s;
	*ret_nr = nr;
	return nr > 0 ? 0 : -FMT_E_EMPTY;
}

static bool
is_sorted(const struct cfi_table *t)
{
	for (size_t i = 1; i < t->nr; i++)
		if (t->v[i].code < t->v[i - 1].code)
			return false;
	return true;
}

/* From the first FDE to the last, and never more than the file has. */
static size_t
section_bytes(const struct cfi_table *t, const struct elf_object *o)
{
	int64_t first = INT32_MAX, last = INT32_MIN;
	struct stat st;

	for (size_t i = 0; i < t->nr; i++) {
		first = t->v[i].fde < first ? t->v[i].fde : first;
		last = t->v[i].fde > last ? t->v[i].fde : last;
	}
	if (!elf_object_stat(o, &st) || st.st_size < last - first)
		return 0;
	return (size_t)(last - first);
}

int
cfi_table_read(struct elf_object *o, struct cfi_table *ret)
{
	struct cfi_table t = { .v = NULL };
	struct elf_bytes b;
	struct span entries;
	void *less;
	int err = elf_bytes_of_header(o, &b);

	if (err)
		return err;
	err = find_entries(&b, &entries, &t.nr);
	if (err) {
		free(b.p);
		return err;
	}
	t.vaddr = b.vaddr;
	/* Whatever is before them, malloc()'s memory is aligned. */
	memmove(b.p, entries.p, t.nr * sizeof(*t.v));
	t.v = (struct cfi_table_entry *)(void *)b.p;
	if (!is_sorted(&t)) {
		cfi_table_done(&t);
		return -FMT_E_CORRUPT;
	}
	/* A header may claim more bytes than its table has. */
	less = reallocarray(t.v, t.nr, sizeof(*t.v));
	t.v = less ? less : t.v;
	t.section_bytes = section_bytes(&t, o);
	*ret = t;
	return 0;
}

void
cfi_table_done(struct cfi_table *t)
{
	free(t->v);
	*t = (struct cfi_table){ .v = NULL };
}

size_t
cfi_table_find(const struct cfi_table *t, uint64_t vaddr)
{
	const int64_t code = (int64_t)(vaddr - t->vaddr);
	size_t low = 0, n = t->nr;

	while (n > 1) {
		const size_t half = n / 2;

		if (t->v[low + half].code <= code)
			low += half;
		n -= half;
	}
	return t->nr > 0 && t->v[low].code <= code ? low : CFI_TABLE_NONE;
}
