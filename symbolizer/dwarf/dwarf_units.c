/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/dwarf/dwarf_units.h"

#include <stdlib.h>

#include <dwarf.h>

#include "format/bytes/array.h"
#include "format/bytes/fmt_error.h"
#include "symbolizer/dwarf/dwarf_functions.h"
#include "symbolizer/dwarf/dwarf_ranges.h"

#define UNITS_MAX (4u << 20)

struct dwarf_units {
	struct dwarf_unit *v;
	uint64_t *offsets; /* of their DIEs in .debug_info, ascending */
	bool *ranged;	   /* .debug_aranges has some of it */
	size_t n, cap, cap_offsets;
	struct dwarf_ranges ranges;
};

void
dwarf_units_free(struct dwarf_units *u)
{
	if (!u)
		return;
	free(u->v);
	free(u->offsets);
	free(u->ranged);
	dwarf_ranges_done(&u->ranges);
	free(u);
}

static int
add_unit(struct dwarf_units *u, const struct dwarf_unit *unit)
{
	Dwarf_Die die = unit->die;

	if (u->n == UNITS_MAX)
		return -FMT_E_TOO_BIG;
	if (array_reserve(u->v, u->n, u->cap, 1) < 0 ||
	    array_reserve(u->offsets, u->n, u->cap_offsets, 1) < 0)
		return -FMT_E_NOMEM;
	u->v[u->n] = *unit;
	u->offsets[u->n++] = dwarf_dieoffset(&die);
	return 0;
}

/*
 * Before DWARF 5 a skeleton is told by the name of its other half; libdw takes one that has children
 * (clang -fsplit-dwarf-inlining) for that half itself.
 */
static bool
is_skeleton(uint8_t type, Dwarf_Die *die)
{
	return type == DW_UT_skeleton ||
		(type == DW_UT_split_compile && dwarf_hasattr(die, DW_AT_GNU_dwo_name));
}

/* Types, and what dwz moved out of units, have no code. */
static int
read_units(struct dwarf_units *u, Dwarf *dwarf)
{
	struct dwarf_unit unit;
	Dwarf_CU *cu = NULL;
	Dwarf_Half version;
	uint8_t type;
	int error = 0;

	while (!error && dwarf_get_units(dwarf, cu, &cu, &version, &type, &unit.die, NULL) == 0) {
		unit.split = is_skeleton(type, &unit.die);
		if (type != DW_UT_compile && !unit.split)
			continue;
		if (dwarf_cu_info(cu, NULL, NULL, NULL, NULL, &unit.dwo_id, NULL, NULL) == 0)
			error = add_unit(u, &unit);
	}
	return error;
}

static bool
unit_at(const struct dwarf_units *u, uint64_t offset, uint32_t *ret)
{
	size_t low = 0, n = u->n;

	while (low < n) {
		size_t middle = low + (n - low) / 2;

		if (u->offsets[middle] < offset)
			low = middle + 1;
		else
			n = middle;
	}
	*ret = (uint32_t)low;
	return low < u->n && u->offsets[low] == offset;
}

static int
read_aranges(struct dwarf_units *u, Dwarf *dwarf)
{
	Dwarf_Aranges *aranges;
	size_t n;
	int error = 0;

	if (dwarf_getaranges(dwarf, &aranges, &n) != 0)
		return 0;
	for (size_t i = 0; !error && i < n; i++) {
		Dwarf_Arange *a = dwarf_onearange(aranges, i);
		Dwarf_Addr start;
		Dwarf_Word length;
		Dwarf_Off offset;
		uint32_t unit;

		if (!a || dwarf_getarangeinfo(a, &start, &length, &offset) != 0 ||
		    length > UINT64_MAX - start || !unit_at(u, offset, &unit))
			continue;
		u->ranged[unit] = true;
		error = dwarf_ranges_add(&u->ranges, start, start + length, unit);
	}
	return error;
}

static int
read_ranges(struct dwarf_units *u, uint32_t number)
{
	struct dwarf_functions functions;
	int found = dwarf_ranges_add_die(&u->ranges, &u->v[number].die, number);
	int error;

	if (found)
		return found < 0 ? found : 0;
	error = dwarf_functions_read(&functions, &u->v[number].die, NULL, u->ranges.code,
				     u->ranges.nr_code, false);
	for (size_t i = 0; !error && i < functions.ranges.n; i++)
		error = dwarf_ranges_add(&u->ranges, functions.ranges.v[i].start,
					 functions.ranges.v[i].end, number);
	dwarf_functions_done(&functions);
	return error;
}

int
dwarf_units_read(Dwarf *dwarf, const struct dwarf_code *code, size_t nr_code,
		 struct dwarf_units **ret)
{
	struct dwarf_units *u = calloc(1, sizeof(*u));
	int error;

	if (!u)
		return -FMT_E_NOMEM;
	dwarf_ranges_init(&u->ranges, code, nr_code);
	error = read_units(u, dwarf);
	if (!error) {
		u->ranged = calloc(u->n + 1, sizeof(*u->ranged));
		error = u->ranged ? read_aranges(u, dwarf) : -FMT_E_NOMEM;
	}
	for (size_t i = 0; !error && i < u->n; i++)
		if (!u->ranged[i])
			error = read_ranges(u, (uint32_t)i);
	if (error) {
		dwarf_units_free(u);
		return error;
	}
	dwarf_ranges_sort(&u->ranges);
	*ret = u;
	return 0;
}

bool
dwarf_units_find(const struct dwarf_units *u, uint64_t address, uint32_t *ret)
{
	return dwarf_ranges_find(&u->ranges, address, ret);
}

struct dwarf_unit *
dwarf_units_at(const struct dwarf_units *u, uint32_t number)
{
	return &u->v[number];
}

size_t
dwarf_units_count(const struct dwarf_units *u)
{
	return u->n;
}
