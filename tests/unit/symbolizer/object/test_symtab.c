/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which symbol an address belongs to: aliases, nesting, holes, symbols without a size. */
#include "symbolizer/object/symtab.h"

#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format/bytes/fmt_error.h"

struct row {
	uint64_t start, size;
	const char *name;
	uint32_t flags;
	uint64_t limit;
};

static struct symtab *
table(const struct row *rows, size_t n)
{
	struct symtab_builder *b = symtab_builder_new();
	struct symtab *t = NULL;

	assert_non_null(b);
	for (size_t i = 0; i < n; i++) {
		uint32_t base;

		assert_int_equal(
			symtab_builder_strings(b, rows[i].name, strlen(rows[i].name), &base), 0);
		assert_int_equal(symtab_builder_add(b, rows[i].start, rows[i].size, rows[i].limit,
						    base, rows[i].flags),
				 0);
	}
	assert_int_equal(symtab_build(b, &t), 0);
	return t;
}
#define TABLE(...)                                                                                 \
	table((const struct row[]){ __VA_ARGS__ },                                                 \
	      sizeof((const struct row[]){ __VA_ARGS__ }) / sizeof(struct row))

static const char *
at(const struct symtab *t, uint64_t vaddr)
{
	struct symbol s;

	return symtab_find(t, vaddr, &s) ? s.name : "-";
}

static void
empty_table_names_nothing(void **state)
{
	struct symtab *t = table(NULL, 0);

	assert_string_equal(at(t, 0), "-");
	assert_string_equal(at(t, UINT64_MAX), "-");
	symtab_free(t);
}

static void
a_hole_has_no_name(void **state)
{
	struct symtab *t = TABLE({ 100, 10, "a", 0, 0 }, { 120, 10, "b", 0, 0 });

	assert_string_equal(at(t, 99), "-");
	assert_string_equal(at(t, 100), "a");
	assert_string_equal(at(t, 109), "a");
	assert_string_equal(at(t, 110), "-");
	assert_string_equal(at(t, 119), "-");
	assert_string_equal(at(t, 129), "b");
	assert_string_equal(at(t, 130), "-");
	symtab_free(t);
}

/* In the order of perf's choose_best_symbol(). */
static void
best_of_aliases(void **state)
{
	static const struct {
		struct row loser, winner;
	} pairs[] = {
		{ { 8, 0, "a_very_long_name", SYMBOL_GLOBAL, 16 }, { 8, 4, "_l", SYMBOL_WEAK, 0 } },
		{ { 8, 4, "a_long_name", SYMBOL_WEAK, 0 }, { 8, 4, "__s", 0, 0 } },
		{ { 8, 4, "a_long_name", 0, 0 }, { 8, 4, "__s", SYMBOL_GLOBAL, 0 } },
		{ { 8, 4, "__longer", SYMBOL_GLOBAL, 0 }, { 8, 4, "s", SYMBOL_GLOBAL, 0 } },
		{ { 8, 4, "_short", SYMBOL_GLOBAL, 0 }, { 8, 4, "_longer", SYMBOL_GLOBAL, 0 } },
		{ { 8, 4, "ff", 0, 0 }, { 8, 4, "f@@VERSION_1.0", 0, 0 } },
	};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		struct symtab *one = TABLE(pairs[i].loser, pairs[i].winner);
		struct symtab *other = TABLE(pairs[i].winner, pairs[i].loser);

		assert_string_equal(at(one, 8), pairs[i].winner.name);
		assert_string_equal(at(other, 8), pairs[i].winner.name);
		symtab_free(one);
		symtab_free(other);
	}
}

static void
of_equals_the_first(void **state)
{
	struct symtab *t =
		TABLE({ 8, 4, "ab", SYMBOL_GLOBAL, 0 }, { 8, 4, "cd", SYMBOL_GLOBAL, 0 });

	assert_string_equal(at(t, 8), "ab");
	symtab_free(t);
}

/* A symbol tells where it begins and ends, and which one it is, wherever in it one asks. */
static void
tells_its_extent(void **state)
{
	struct symtab *t = TABLE({ 100, 100, "outer", 0, 0 }, { 120, 10, "inner", 0, 0 },
				 { 300, 0, "unsized", 0, 0 }, { 350, 5, "next", 0, 0 });
	struct symbol before, behind, inner, unsized;

	assert_true(symtab_find(t, 119, &before));
	assert_true(symtab_find(t, 125, &inner));
	assert_true(symtab_find(t, 130, &behind));
	assert_int_equal(before.start, 100);
	assert_int_equal(before.end, 200);
	assert_int_equal(inner.end, 130);
	assert_int_equal(before.index, behind.index);
	assert_int_not_equal(before.index, inner.index);
	assert_true(before.index < symtab_count(t) && inner.index < symtab_count(t));
	if (symtab_find(t, 300, &unsized))
		assert_in_range(unsized.end, 301, 350);
	symtab_free(t);
}

static void
innermost_when_nested(void **state)
{
	struct symtab *t = TABLE({ 100, 100, "outer", 0, 0 }, { 120, 20, "inner", 0, 0 },
				 { 130, 5, "innermost", 0, 0 }, { 190, 30, "crossing", 0, 0 });

	assert_string_equal(at(t, 119), "outer");
	assert_string_equal(at(t, 120), "inner");
	assert_string_equal(at(t, 130), "innermost");
	assert_string_equal(at(t, 135), "inner");
	assert_string_equal(at(t, 140), "outer");
	assert_string_equal(at(t, 190), "crossing");
	assert_string_equal(at(t, 219), "crossing");
	assert_string_equal(at(t, 220), "-");
	symtab_free(t);
}

static void
a_longer_alias_covers_the_rest(void **state)
{
	struct symtab *t = TABLE({ 100, 50, "weak_but_long", SYMBOL_WEAK, 0 },
				 { 100, 10, "strong", SYMBOL_GLOBAL, 0 });

	assert_string_equal(at(t, 105), "strong");
	assert_string_equal(at(t, 115), "weak_but_long");
	symtab_free(t);
}

static void
without_a_size(void **state)
{
	struct symtab *t = TABLE({ 100, 0, "first", 0, 200 }, { 110, 0, "second", 0, 200 },
				 { 300, 0, "at_end", 0, 300 }, { 400, 50, "sized", 0, 0 },
				 { 420, 0, "label_within", SYMBOL_LABEL, 500 });

	assert_string_equal(at(t, 109), "first");
	assert_string_equal(at(t, 110), "second");
	assert_string_equal(at(t, 199), "second");
	assert_string_equal(at(t, 200), "-");
	assert_string_equal(at(t, 300), "-");
	assert_string_equal(at(t, 430), "sized");
	assert_string_equal(at(t, 450), "-");
	symtab_free(t);
}

static void
versions_are_no_part_of_a_name(void **state)
{
	assert_int_equal(symbol_name_length("memcpy@@GLIBC_2.14"), 6);
	assert_int_equal(symbol_name_length("memcpy@GLIBC_2.2.5"), 6);
	assert_int_equal(symbol_name_length("memcpy@plt"), 10);
	assert_int_equal(symbol_name_length("memcpy"), 6);
	assert_int_equal(symbol_name_length("@"), 1);
	assert_int_equal(symbol_name_length(""), 0);
}

static void
nonsense_is_left_out(void **state)
{
	struct symtab_builder *b = symtab_builder_new();
	struct symtab *t;
	uint32_t base;

	assert_int_equal(symtab_builder_strings(b, "name", 4, &base), 0);
	assert_int_equal(symtab_builder_add(b, UINT64_MAX - 3, 8, 0, base, 0), 0);
	assert_int_equal(symtab_builder_add(b, 10, 8, 0, base + 5, 0), 0);
	assert_int_equal(symtab_builder_add(b, 10, 0, 5, base, 0), 0);
	assert_int_equal(symtab_builder_add(b, UINT64_MAX - 8, 8, 0, base, 0), 0);
	assert_int_equal(symtab_build(b, &t), 0);
	assert_string_equal(at(t, 4), "-");
	assert_string_equal(at(t, 10), "-");
	assert_string_equal(at(t, UINT64_MAX - 8), "name");
	assert_string_equal(at(t, UINT64_MAX - 1), "name");
	symtab_free(t);
}

/* The rule as it reads: of the symbols over an address the one with the greatest start. */
static const char *
brute(const struct row *rows, size_t n, uint64_t vaddr)
{
	const struct row *best = NULL;

	for (size_t i = 0; i < n; i++)
		if (vaddr >= rows[i].start && vaddr < rows[i].start + rows[i].size &&
		    (best == NULL || rows[i].start > best->start))
			best = &rows[i];
	return best ? best->name : "-";
}

static void
ranges_agree_with_the_rule(void **state)
{
	static char names[40][8];
	struct row rows[40];

	srandom(1);
	for (int round = 0; round < 2000; round++) {
		size_t n = (size_t)random() % 40;
		bool taken[200] = { false };
		struct symtab *t;

		for (size_t i = 0; i < n; i++) {
			uint64_t start;

			do
				start = (uint64_t)random() % 200;
			while (taken[start]);
			taken[start] = true;
			snprintf(names[i], sizeof(names[i]), "s%zu", i);
			rows[i] = (struct row){ start,
						1 + (uint64_t)random() % (round % 2 ? 10 : 80),
						names[i], 0, 0 };
		}
		t = table(rows, n);
		for (uint64_t v = 0; v < 300; v++)
			assert_string_equal(at(t, v), brute(rows, n, v));
		symtab_free(t);
	}
}

#ifndef __SANITIZE_ADDRESS__
static size_t
bytes_in_use(void)
{
	const struct mallinfo2 m = mallinfo2();

	return m.uordblks + m.hblkhd;
}

/* A million of one place, of which one is left, are not kept. */
static void
what_is_left_is_kept(void **state)
{
	const size_t before = bytes_in_use();
	struct symtab_builder *b = symtab_builder_new();
	struct symtab *t;
	uint32_t base;

	(void)state;
	assert_int_equal(symtab_builder_strings(b, "name", 5, &base), 0);
	for (int i = 0; i < 1 << 20; i++)
		assert_int_equal(symtab_builder_add(b, 0x1000, 16, 0, base, 0), 0);
	assert_int_equal(symtab_build(b, &t), 0);
	assert_int_equal(symtab_count(t), 1);
	assert_true(bytes_in_use() - before < 1 << 20);
	symtab_free(t);
}
#endif

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty_table_names_nothing),
		cmocka_unit_test(a_hole_has_no_name),
		cmocka_unit_test(best_of_aliases),
		cmocka_unit_test(of_equals_the_first),
		cmocka_unit_test(tells_its_extent),
		cmocka_unit_test(innermost_when_nested),
		cmocka_unit_test(a_longer_alias_covers_the_rest),
		cmocka_unit_test(without_a_size),
		cmocka_unit_test(versions_are_no_part_of_a_name),
		cmocka_unit_test(nonsense_is_left_out),
#ifndef __SANITIZE_ADDRESS__
		cmocka_unit_test(what_is_left_is_kept),
#endif
		cmocka_unit_test(ranges_agree_with_the_rule),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
