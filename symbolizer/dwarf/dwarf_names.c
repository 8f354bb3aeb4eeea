/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/dwarf/dwarf_names.h"

#include <stdlib.h>
#include <string.h>

#include <dwarf.h>

#include "format/bytes/array.h"
#include "format/bytes/buf.h"
#include "format/bytes/fmt_error.h"
#include "format/bytes/slots.h"

#define DEPTH_MAX 256	      /* of DIEs within DIEs */
#define SCOPE_BYTES_MAX 16384 /* templates of templates have long names */

/* The name of a DIE that others refer to, read once. DIEs are told by where they lie in memory. */
struct origin {
	const void *die;
	const char *name;
};

/* A function and what is around it: "std::vector<int>::". */
struct scoped {
	const void *die;
	const char *scope;
};

struct unit_scopes {
	const void *unit;
	bool deep; /* also of what is within functions */
	struct scoped *v;
	size_t n, cap;
};

struct dwarf_names {
	struct intern *strings;
	struct origin *origins;
	size_t nr_origins, cap_origins;
	struct slots origin_slots;
	struct unit_scopes *units;
	size_t nr_units, cap_units;
	struct slots unit_slots;
	struct buf text; /* the scope that is walked, then the name */
};

struct dwarf_names *
dwarf_names_new(struct intern *strings)
{
	struct dwarf_names *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->strings = strings;
	buf_init(&n->text);
	return n;
}

void
dwarf_names_free(struct dwarf_names *n)
{
	if (!n)
		return;
	for (size_t i = 0; i < n->nr_units; i++)
		free(n->units[i].v);
	free(n->units);
	slots_done(&n->unit_slots);
	free(n->origins);
	slots_done(&n->origin_slots);
	buf_done(&n->text);
	free(n);
}

static const char *
text_of(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;

	return dwarf_attr_integrate(die, name, &attribute) ? dwarf_formstring(&attribute) : NULL;
}

/* --- scopes ------------------------------------------------------------------------------ */

static int
add_scoped(struct dwarf_names *n, struct unit_scopes *u, const Dwarf_Die *die)
{
	/* Nothing is around it, and nothing was ever written there. */
	const char *text = n->text.len ? (const char *)n->text.p : "";
	const char *scope = intern_add(n->strings, text, n->text.len);

	if (!scope || array_reserve(u->v, u->n, u->cap, 1) < 0)
		return -FMT_E_NOMEM;
	u->v[u->n++] = (struct scoped){ die->addr, scope };
	return 0;
}

static void
append_scope(struct dwarf_names *n, const char *name)
{
	if (n->text.len + strlen(name) > SCOPE_BYTES_MAX)
		return;
	buf_append(&n->text, name, strlen(name));
	buf_append(&n->text, "::", 2);
}

/* What is around what is inside; false: there are no functions. */
static bool
enter_scope(struct dwarf_names *n, Dwarf_Die *die, bool deep)
{
	const char *name;

	switch (dwarf_tag(die)) {
	case DW_TAG_namespace:
		name = text_of(die, DW_AT_name);
		append_scope(n, name ? name : "(anonymous namespace)");
		return true;
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_interface_type:
		/* Lambdas are classes of no name. */
		name = text_of(die, DW_AT_name);
		append_scope(n, name ? name : "(anonymous class)");
		return true;
	case DW_TAG_subprogram:
		name = deep ? text_of(die, DW_AT_name) : NULL;
		if (name)
			append_scope(n, name);
		return deep;
	case DW_TAG_lexical_block:
		return deep;
	}
	return false;
}

static int
walk(struct dwarf_names *n, struct unit_scopes *u, Dwarf_Die *parent, unsigned int depth)
{
	const size_t length = n->text.len;
	Dwarf_Die die;
	int error = 0;

	if (depth == DEPTH_MAX || dwarf_child(parent, &die) != 0)
		return 0;
	do {
		if (dwarf_tag(&die) == DW_TAG_subprogram)
			error = add_scoped(n, u, &die);
		if (!error && dwarf_haschildren(&die) > 0 && enter_scope(n, &die, u->deep))
			error = walk(n, u, &die, depth + 1);
		n->text.len = length;
	} while (!error && dwarf_siblingof(&die, &die) == 0);
	return error;
}

static int
compare_scoped(const void *x, const void *y)
{
	const uintptr_t a = (uintptr_t)((const struct scoped *)x)->die,
			b = (uintptr_t)((const struct scoped *)y)->die;

	return (a > b) - (a < b);
}

static const char *
find_scoped(const struct unit_scopes *u, const void *die)
{
	const struct scoped key = { .die = die }, *found;

	found = u->n ? bsearch(&key, u->v, u->n, sizeof(key), compare_scoped) : NULL;
	return found ? found->scope : NULL;
}

static bool
same_unit(const void *owner, uint32_t index, const void *key)
{
	return ((const struct dwarf_names *)owner)->units[index].unit ==
		((const struct unit_scopes *)key)->unit;
}

static int
read_scopes(struct dwarf_names *n, struct unit_scopes *u, Dwarf_Die *unit)
{
	int error;

	u->n = 0;
	buf_clear(&n->text);
	error = walk(n, u, unit, 0);
	if (u->n > 0)
		qsort(u->v, u->n, sizeof(*u->v), compare_scoped);
	return error;
}

/* In C nothing is around a function. */
static bool
has_scopes(Dwarf_Die *unit)
{
	switch (dwarf_srclang(unit)) {
	case DW_LANG_C:
	case DW_LANG_C89:
	case DW_LANG_C99:
	case DW_LANG_C11:
	case DW_LANG_Mips_Assembler:
	case DW_LANG_Go:
		return false;
	}
	return true;
}

/* *ret NULL: nobody knows. */
static int
scope_of(struct dwarf_names *n, Dwarf_Die *die, const char **ret)
{
	struct unit_scopes key = { 0 };
	const size_t known = n->nr_units;
	struct unit_scopes *u;
	Dwarf_Die unit;
	uint32_t i;
	int error;

	*ret = NULL;
	if (!dwarf_diecu(die, &unit, NULL, NULL) || !has_scopes(&unit))
		return 0;
	key.unit = unit.addr;
	error = slots_keep(&n->unit_slots, (uint32_t)slots_mix((uintptr_t)key.unit, 0), same_unit,
			   n, &key, n->units, n->nr_units, n->cap_units, &i);
	if (error)
		return error;
	u = &n->units[i];
	if (i == known)
		error = read_scopes(n, u, &unit);
	*ret = find_scoped(u, die->addr);
	if (error || *ret || u->deep)
		return error;
	/* Lambdas are within functions, which most are not. */
	u->deep = true;
	error = read_scopes(n, u, &unit);
	*ret = find_scoped(u, die->addr);
	return error;
}

/* --- names ------------------------------------------------------------------------------- */

/* Where a function stands is told by its declaration, where it has one. */
static void
find_declaration(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	Dwarf_Die at;

	if (dwarf_attr(die, DW_AT_specification, &attribute) && dwarf_formref_die(&attribute, &at))
		*die = at;
}

static int
read_name(struct dwarf_names *n, Dwarf_Die die, const char **ret)
{
	const char *name = text_of(&die, DW_AT_linkage_name), *scope = NULL;
	int error = 0;

	if (!name)
		name = text_of(&die, DW_AT_MIPS_linkage_name);
	*ret = NULL;
	if (!name) {
		name = text_of(&die, DW_AT_name);
		if (!name)
			return 0;
		find_declaration(&die);
		error = scope_of(n, &die, &scope);
	}
	buf_clear(&n->text);
	if (scope)
		buf_append(&n->text, scope, strlen(scope));
	buf_append(&n->text, name, strlen(name));
	if (error || buf_failed(&n->text))
		return -FMT_E_NOMEM;
	*ret = intern_add(n->strings, (const char *)n->text.p, n->text.len);
	return *ret ? 0 : -FMT_E_NOMEM;
}

static bool
same_origin(const void *owner, uint32_t index, const void *key)
{
	return ((const struct dwarf_names *)owner)->origins[index].die ==
		((const struct origin *)key)->die;
}

int
dwarf_names_of(struct dwarf_names *n, Dwarf_Die *die, const char **ret)
{
	struct origin key = { 0 };
	const size_t known = n->nr_origins;
	Dwarf_Attribute attribute;
	Dwarf_Die origin;
	uint32_t i;
	int error;

	if (!dwarf_attr(die, DW_AT_abstract_origin, &attribute) ||
	    !dwarf_formref_die(&attribute, &origin))
		origin = *die;
	key.die = origin.addr;
	error = slots_keep(&n->origin_slots, (uint32_t)slots_mix((uintptr_t)key.die, 0),
			   same_origin, n, &key, n->origins, n->nr_origins, n->cap_origins, &i);
	if (!error && i == known)
		error = read_name(n, origin, &n->origins[i].name);
	*ret = error ? NULL : n->origins[i].name;
	return error;
}
