/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/dwarf/dwarf_functions.h"

#include <stdlib.h>

#include <dwarf.h>

#include "format/bytes/array.h"
#include "format/bytes/fmt_error.h"

#define DEPTH_MAX 256 /* of DIEs within DIEs */

/*
 * Strict DWARF 2 has one range for each DIE, of however many there are: what is inside of a DIE may be
 * outside of its range.
 */
static bool
is_loose(const Dwarf_Die *die)
{
	Dwarf_Half version;

	return dwarf_cu_info(die->cu, &version, NULL, NULL, NULL, NULL, NULL, NULL) == 0 &&
		version == 2;
}

/* --- functions --------------------------------------------------------------------------- */

void
dwarf_functions_done(struct dwarf_functions *f)
{
	free(f->dies);
	dwarf_ranges_done(&f->ranges);
	*f = (struct dwarf_functions){ 0 };
}

/* One without ranges is one where calls inside may have some. */
static int
add_function(struct dwarf_functions *f, Dwarf_Die *die, bool loose)
{
	int found = dwarf_ranges_add_die(&f->ranges, die, (uint32_t)f->n);

	if (found < 0 || (found == 0 && !loose))
		return found;
	if (array_reserve(f->dies, f->n, f->cap, 1) < 0)
		return -FMT_E_NOMEM;
	f->dies[f->n++] = *die;
	return 0;
}

/* Can there be functions inside? Rust and clang have them in namespaces and in types. */
static bool
holds_functions(int tag, bool deep)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_interface_type:
		return true;
	case DW_TAG_subprogram:
	case DW_TAG_lexical_block:
		return deep;
	}
	return false;
}

#define NO_FUNCTION UINT32_MAX

struct functions_reader {
	struct dwarf_functions *f;
	bool deep;
	bool loose; /* ranges of calls that were inlined are the function's, too */
};

static int
read_functions(const struct functions_reader *r, Dwarf_Die *parent, uint32_t function,
	       unsigned int depth)
{
	struct dwarf_functions *f = r->f;
	Dwarf_Die die;
	int error = 0;

	if (depth == DEPTH_MAX || dwarf_child(parent, &die) != 0)
		return 0;
	do {
		const int tag = dwarf_tag(&die);
		const bool inlined = r->loose && tag == DW_TAG_inlined_subroutine;
		uint32_t within = function;

		if (tag == DW_TAG_subprogram) {
			within = (uint32_t)f->n;
			error = add_function(f, &die, r->loose);
		} else if (inlined && function < f->n) {
			error = dwarf_ranges_add_die(&f->ranges, &die, function);
		}
		if (error >= 0 && (inlined || holds_functions(tag, r->deep)) &&
		    dwarf_haschildren(&die) > 0)
			error = read_functions(r, &die, within, depth + 1);
	} while (error >= 0 && dwarf_siblingof(&die, &die) == 0);
	return error < 0 ? error : 0;
}

int
dwarf_functions_read(struct dwarf_functions *f, Dwarf_Die *unit, const struct dwarf_base *base,
		     const struct dwarf_code *code, size_t nr_code, bool deep)
{
	const bool loose = is_loose(unit);
	const struct functions_reader r = { .f = f, .deep = deep || loose, .loose = loose };
	int error;

	*f = (struct dwarf_functions){ 0 };
	dwarf_ranges_init(&f->ranges, code, nr_code);
	f->ranges.base = base;
	error = read_functions(&r, unit, NO_FUNCTION, 0);
	dwarf_ranges_sort(&f->ranges);
	return error;
}

/* --- scopes ------------------------------------------------------------------------------ */

struct scopes_reader {
	struct dwarf_scopes *s;
	const uint64_t *addresses;
	uint32_t *inner;
	bool loose; /* what is inside may be outside of the ranges around it */
};

void
dwarf_scopes_done(struct dwarf_scopes *s)
{
	free(s->v);
	free(s->lists);
	*s = (struct dwarf_scopes){ 0 };
}

static int
add_scope(struct dwarf_scopes *s, const Dwarf_Die *die, uint32_t parent)
{
	if (array_reserve(s->v, s->n, s->cap, 1) < 0)
		return -FMT_E_NOMEM;
	s->v[s->n++] = (struct dwarf_scope){ *die, parent };
	return 0;
}

/* Is this the scope, or one that it is within? */
static bool
is_around(const struct dwarf_scopes *s, uint32_t outer, uint32_t scope)
{
	while (scope != outer && s->v[scope].parent != DWARF_NO_SCOPE)
		scope = s->v[scope].parent;
	return scope == outer;
}

/*
 * Puts those of the list [from, to) that die holds behind the last list. Only those that are in
 * scope still, or around it: where siblings overlap, which bad compilers make, the first has them. 1: the DIE has
 * ranges, 0: it has none, -FMT_E_NOMEM.
 */
static int
list_inside(struct scopes_reader *r, Dwarf_Die *die, size_t from, size_t to, uint32_t scope)
{
	struct dwarf_scopes *s = r->s;
	Dwarf_Addr base, start, end;
	ptrdiff_t offset = 0;
	int found = 0;

	while ((offset = dwarf_ranges_next(die, s->base, offset, &base, &start, &end)) > 0) {
		found = 1;
		for (size_t i = from; i < to; i++) {
			uint32_t number = s->lists[i];

			if (r->addresses[number] < start || r->addresses[number] >= end ||
			    !is_around(s, r->inner[number], scope))
				continue;
			if (array_reserve(s->lists, s->nr_lists, s->cap_lists, 1) < 0)
				return -FMT_E_NOMEM;
			s->lists[s->nr_lists++] = number;
		}
	}
	return found;
}

static bool
holds_code(int tag)
{
	switch (tag) {
	case DW_TAG_inlined_subroutine:
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_with_stmt:
	case DW_TAG_common_block:
		return true;
	}
	return false;
}

static int read_scopes(struct scopes_reader *r, Dwarf_Die *parent, size_t from, size_t to,
		       uint32_t scope, unsigned int depth);

/*
 * A block, or a call that was inlined, within scope. What has no ranges may have something inside with
 * some; and in strict DWARF 2, where it has but one of its ranges, also outside of that.
 */
static int
read_inside(struct scopes_reader *r, Dwarf_Die *die, size_t from, size_t to, uint32_t scope,
	    unsigned int depth)
{
	const size_t first = r->s->nr_lists;
	int found = list_inside(r, die, from, to, scope), error = 0;
	const bool loose = found == 0 || r->loose;

	if (found < 0)
		return found;
	if (dwarf_tag(die) == DW_TAG_inlined_subroutine && (loose || r->s->nr_lists > first)) {
		error = add_scope(r->s, die, scope);
		scope = (uint32_t)r->s->n - 1;
		for (size_t i = first; !error && i < r->s->nr_lists; i++)
			r->inner[r->s->lists[i]] = scope;
	}
	if (!error && loose)
		error = read_scopes(r, die, from, to, scope, depth + 1);
	else if (!error && r->s->nr_lists > first)
		error = read_scopes(r, die, first, r->s->nr_lists, scope, depth + 1);
	r->s->nr_lists = first;
	return error;
}

static int
read_scopes(struct scopes_reader *r, Dwarf_Die *parent, size_t from, size_t to, uint32_t scope,
	    unsigned int depth)
{
	Dwarf_Die die;
	int error = 0;

	if (depth == DEPTH_MAX || dwarf_child(parent, &die) != 0)
		return 0;
	do {
		if (holds_code(dwarf_tag(&die)))
			error = read_inside(r, &die, from, to, scope, depth);
	} while (!error && dwarf_siblingof(&die, &die) == 0);
	return error;
}

int
dwarf_scopes_read(struct dwarf_scopes *s, Dwarf_Die *function, const uint64_t *addresses, size_t n,
		  uint32_t *inner)
{
	struct scopes_reader r = { .s = s, .addresses = addresses, .inner = inner };
	int error = add_scope(s, function, DWARF_NO_SCOPE);

	r.loose = is_loose(function);
	if (error || array_reserve(s->lists, 0, s->cap_lists, n) < 0)
		return -FMT_E_NOMEM;
	s->nr_lists = n;
	for (size_t i = 0; i < n; i++) {
		s->lists[i] = (uint32_t)i;
		inner[i] = (uint32_t)s->n - 1;
	}
	error = read_scopes(&r, function, 0, n, (uint32_t)s->n - 1, 0);
	s->nr_lists = 0;
	return error;
}
