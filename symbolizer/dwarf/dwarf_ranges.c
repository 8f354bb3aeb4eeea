/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/dwarf/dwarf_ranges.h"

#include <stdlib.h>

#include <dwarf.h>

#include "format/bytes/array.h"
#include "format/bytes/fmt_error.h"
#include "symbolizer/object/leb128.h"

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

/* The list of a number: a table of where they begin, counted from itself, is behind the head. */
static bool
list_by_number(struct span lists, uint64_t number, uint64_t *ret)
{
	const bool is64 = lists.len >= 4 && le32dec(lists.p) == UINT32_MAX;
	const size_t each = is64 ? 8 : 4, head = is64 ? 20 : 12;
	const uint8_t *entry;

	if (lists.len < head || number >= (lists.len - head) / each)
		return false;
	entry = lists.p + head + number * each;
	*ret = is64 ? le64dec(entry) : le32dec(entry);
	if (*ret >= lists.len)
		return false;
	*ret += head;
	return true;
}

/* Where the list of a DIE is in its section; false: it has none, or nobody can tell. */
static bool
find_list(Dwarf_Die *die, const struct dwarf_base *base, ptrdiff_t *ret)
{
	struct span rest = base->info;
	Dwarf_Attribute attribute;
	Dwarf_Word offset;
	uint64_t number;

	if (!dwarf_attr(die, DW_AT_ranges, &attribute))
		return false;
	if (attribute.form != DW_FORM_rnglistx) {
		if (dwarf_formudata(&attribute, &offset) != 0)
			return false;
		offset += base->lists;
	} else if (attribute.valp < rest.p ||
		   !span_skip(&rest, (size_t)(attribute.valp - rest.p)) ||
		   !span_uleb(&rest, &number) || !list_by_number(base->rnglists, number, &offset)) {
		return false;
	}
	*ret = (ptrdiff_t)offset;
	return offset > 1 && offset <= PTRDIFF_MAX;
}

ptrdiff_t
dwarf_ranges_next(Dwarf_Die *die, const struct dwarf_base *base, ptrdiff_t offset, Dwarf_Addr *at,
		  Dwarf_Addr *ret_start, Dwarf_Addr *ret_end)
{
	ptrdiff_t list;

	/* From within a list libdw goes on with the base that it is given. */
	if (base && offset == 0 && find_list(die, base, &list)) {
		offset = list;
		*at = base->address;
	}
	return dwarf_ranges(die, offset, at, ret_start, ret_end);
}

int
dwarf_ranges_add_die(struct dwarf_ranges *r, Dwarf_Die *die, uint32_t owner)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t offset = 0;
	int found = 0, error = 0;

	while (!error &&
	       (offset = dwarf_ranges_next(die, r->base, offset, &base, &start, &end)) > 0) {
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
