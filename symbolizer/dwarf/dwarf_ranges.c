/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/dwarf/dwarf_ranges.h"

#include <stdlib.h>

#include "format/bytes/array.h"
#include "format/bytes/fmt_error.h"

#define RANGES_MAX (64u << 20)
#define LOOK_BACK_MAX 256 /* ranges that hold one address, in a file that somebody made well */

void
dwarf_ranges_init(struct dwarf_ranges *r, const struct dwarf_code *code, size_t nr_code)
{
	*r = (struct dwarf_ranges){ .code = code, .nr_code = nr_code };
}

void
dwarf_ranges_done(struct dwarf_ranges *r)
{
	free(r->v);
	*r = (struct dwarf_ranges){ 0 };
}

int
dwarf_ranges_add(struct dwarf_ranges *r, uint64_t start, uint64_t end, uint32_t owner)
{
	/* At 0 is the ELF header, also where that is in a segment with code. */
	if (end <= start || start == 0 || !dwarf_code_has(r->code, r->nr_code, start))
		return 0;
	if (r->n == RANGES_MAX)
		return -FMT_E_TOO_BIG;
	if (array_reserve(r->v, r->n, r->cap, 1) < 0)
		return -FMT_E_NOMEM;
	r->v[r->n++] = (struct dwarf_range){ .start = start, .end = end, .owner = owner };
	return 0;
}

int
dwarf_ranges_add_die(struct dwarf_ranges *r, Dwarf_Die *die, uint32_t owner)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t offset = 0;
	int found = 0, error = 0;

	while (!error && (offset = dwarf_ranges(die, offset, &base, &start, &end)) > 0) {
		error = dwarf_ranges_add(r, start, end, owner);
		found = 1;
	}
	return error ? error : found;
}

static int
compare_ranges(const void *x, const void *y)
{
	const struct dwarf_range *a = x, *b = y;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	/* Of two that begin together the shorter one is found. */
	if (a->end != b->end)
		return a->end > b->end ? -1 : 1;
	return (a->owner < b->owner) - (a->owner > b->owner);
}

void
dwarf_ranges_sort(struct dwarf_ranges *r)
{
	uint64_t reach = 0;

	if (r->n > 0)
		qsort(r->v, r->n, sizeof(*r->v), compare_ranges);
	for (size_t i = 0; i < r->n; i++) {
		reach = r->v[i].end > reach ? r->v[i].end : reach;
		r->v[i].reach = reach;
	}
}

bool
dwarf_ranges_find(const struct dwarf_ranges *r, uint64_t address, uint32_t *ret_owner)
{
	size_t low = 0, n = r->n;

	while (low < n) {
		size_t middle = low + (n - low) / 2;

		if (r->v[middle].start <= address)
			low = middle + 1;
		else
			n = middle;
	}
	for (size_t i = 0; low > 0 && i < LOOK_BACK_MAX && r->v[low - 1].reach > address;
	     i++, low--)
		if (address < r->v[low - 1].end) {
			*ret_owner = r->v[low - 1].owner;
			return true;
		}
	return false;
}
