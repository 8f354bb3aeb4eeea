/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/jit/jit_table.h"
#include "tests/lab/jit_expect.h"

static void
add(struct jit_table *t, uint64_t start, uint64_t size, uint64_t time_ns, const char *name)
{
	assert_int_equal(jit_table_add(t, start, size, time_ns, name, strlen(name), NULL), 1);
}

static void
test_later_is_right(void **state)
{
	struct jit_table *t = jit_table_new();

	add(t, 100, 100, 0, "old");
	add(t, 150, 20, 0, "new");
	add(t, 300, 1, 0, "one");
	assert_int_equal(jit_table_settle(t), 0);
	jit_expect(t, 99, 0, NULL);
	jit_expect(t, 100, 0, "old");
	jit_expect(t, 149, 0, "old");
	jit_expect(t, 150, 0, "new");
	jit_expect(t, 169, 0, "new");
	jit_expect(t, 170, 0, "old");
	jit_expect(t, 200, 0, NULL);
	jit_expect(t, 300, UINT64_MAX, "one");
	jit_expect(t, 301, 0, NULL);
	jit_table_free(t);
}

static int
count_ranges(void *arg, const struct jit_range *range)
{
	unsigned *seen = arg;

	assert_true(range->number < 3);
	assert_true(range->start + range->size > 155);
	seen[0]++;
	seen[1] |= 1u << range->order;
	return strcmp(range->name, "stop") == 0 ? 7 : 0;
}

static void
test_each(void **state)
{
	struct jit_table *t = jit_table_new();
	unsigned seen[2] = { 0 };

	jit_table_limit(t, 3, 64);
	add(t, 100, 100, 9, "a");
	add(t, 150, 20, 3, "");
	add(t, 300, 1, 0, "stop");
	assert_int_equal(jit_table_add(t, 1, 1, 0, "b", 1, NULL), 0);
	assert_int_equal(jit_table_left_out(t), 1);
	assert_int_equal(jit_table_each(t, 155, count_ranges, seen), 0);
	assert_int_equal(jit_table_settle(t), 0);
	assert_int_equal(jit_table_each(t, 155, count_ranges, seen), 0);
	assert_int_equal(seen[0], 2);
	assert_int_equal(seen[1], 3);
	assert_int_equal(jit_table_each(t, 250, count_ranges, seen), 0);
	assert_int_equal(seen[0], 2);
	assert_int_equal(jit_table_each(t, 300, count_ranges, seen), 7);
	jit_table_free(t);
}

static void
test_times(void **state)
{
	struct jit_table *t = jit_table_new();
	uint32_t entry;

	/* out of order: threads write when they come to it */
	add(t, 100, 10, 30, "third");
	assert_int_equal(jit_table_add(t, 100, 10, 10, "first", 5, &entry), 1);
	assert_int_equal(jit_table_add(t, 100, 10, 20, "", 0, NULL), 1);
	assert_int_equal(jit_table_again(t, 500, 10, 20, entry), 1);
	assert_int_equal(jit_table_settle(t), 0);
	jit_expect(t, 105, 9, NULL);
	jit_expect(t, 105, 10, "first");
	jit_expect(t, 105, 19, "first");
	jit_expect(t, 105, 20, NULL);
	jit_expect(t, 105, 30, "third");
	jit_expect(t, 505, 19, NULL);
	jit_expect(t, 505, 20, "first");
	jit_table_free(t);
}

static void
test_odd_ranges(void **state)
{
	struct jit_table *t = jit_table_new();

	assert_int_equal(jit_table_settle(t), 0);
	jit_expect(t, 0, 0, NULL);
	jit_table_free(t);
	t = jit_table_new();
	assert_int_equal(jit_table_add(t, 5, 0, 0, "empty", 5, NULL), 0);
	assert_int_equal(jit_table_add(t, UINT64_MAX, 1, 0, "wraps", 5, NULL), 0);
	add(t, 0, UINT64_MAX, 0, "all");
	assert_int_equal(jit_table_settle(t), 0);
	jit_expect(t, 0, 0, "all");
	jit_expect(t, UINT64_MAX - 1, 0, "all");
	jit_expect(t, UINT64_MAX, 0, NULL);
	jit_table_free(t);
}

/* Against the obvious way: the last of all that hold the address and are old enough. */
static void
test_random(void **state)
{
	enum { N = 200, SPACE = 300, TIMES = 8 };
	uint64_t start[N], size[N], time[N];
	char name[16];

	srand(11);
	for (int round = 0; round < 50; round++) {
		struct jit_table *t = jit_table_new();
		int n = 1 + rand() % N;

		for (int i = 0; i < n; i++) {
			start[i] = (uint64_t)rand() % SPACE;
			size[i] = 1 + (uint64_t)rand() % (rand() % 4 ? 10 : SPACE);
			time[i] = (uint64_t)rand() % TIMES;
			snprintf(name, sizeof(name), "%d", i);
			add(t, start[i], size[i], time[i], name);
		}
		assert_int_equal(jit_table_settle(t), 0);
		for (uint64_t a = 0; a < 2 * SPACE; a++)
			for (uint64_t at = 0; at < TIMES; at++) {
				int best = -1;

				for (int i = 0; i < n; i++)
					if (start[i] <= a && a - start[i] < size[i] &&
					    time[i] <= at && (best < 0 || time[i] >= time[best]))
						best = i;
				snprintf(name, sizeof(name), "%d", best);
				jit_expect(t, a, at, best < 0 ? NULL : name);
			}
		jit_table_free(t);
	}
}

static void
test_bounds(void **state)
{
	struct jit_table *t = jit_table_new();

	for (uint32_t i = 0; i < JIT_ENTRIES_MAX; i++)
		assert_int_equal(jit_table_add(t, i, 1000000, i, "n", 1, NULL), 1);
	assert_int_equal(jit_table_add(t, 1, 1, 0, "n", 1, NULL), 0);
	assert_int_equal(jit_table_left_out(t), 1);
	/* all over one another */
	assert_int_equal(jit_table_settle(t), 0);
	jit_expect(t, JIT_ENTRIES_MAX, 5, "n");
	jit_table_free(t);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_later_is_right), cmocka_unit_test(test_each),
		cmocka_unit_test(test_times),	       cmocka_unit_test(test_odd_ranges),
		cmocka_unit_test(test_random),	       cmocka_unit_test(test_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
