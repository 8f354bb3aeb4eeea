/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Both orders against qsort(3): many and few, wide and narrow words, alike and not. */
#include "format/columns/columns_sort.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define MOST 20000

static struct columns_sort_item items[2 * MOST];
static uint64_t random_state = 1;

static uint64_t
random_word(void)
{
	random_state = random_state * 6364136223846793005 + 1442695040888963407;
	return random_state ^ random_state >> 29;
}

static int
item_cmp(const void *a, const void *b)
{
	const struct columns_sort_item *x = a, *y = b;

	return x->key != y->key ? (x->key > y->key) - (x->key < y->key)
				: (x->number > y->number) - (x->number < y->number);
}

/* Equal keys stay in the order they came in, too. */
static void
test_items(void **state)
{
	static struct columns_sort_item want[MOST];
	static const uint64_t masks[] = {
		0, 7, 0xffff, 0xff00ff0000, UINT64_MAX, 0x3fffffffff, 1ull << 63
	};
	static const size_t sizes[] = { 0, 1, 2, 12, 13, 500, MOST };

	for (size_t m = 0; m < sizeof(masks) / sizeof(masks[0]); m++) {
		for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
			size_t n = sizes[s];

			for (size_t i = 0; i < n; i++)
				items[i] = (struct columns_sort_item){ random_word() & masks[m],
								       (uint32_t)i };
			memcpy(want, items, n * sizeof(*items));
			qsort(want, n, sizeof(*want), item_cmp);
			columns_sort_items(items, items + n, n);
			for (size_t i = 0; i < n; i++) {
				assert_int_equal(items[i].key, want[i].key);
				assert_int_equal(items[i].number, want[i].number);
			}
		}
	}
}

/* --- paths ---------------------------------------------------------------------------- */

static struct columns_paths paths;

static int
path_cmp(const void *a, const void *b)
{
	const struct columns_path *x = &paths.v[*(const uint32_t *)a],
				  *y = &paths.v[*(const uint32_t *)b];

	for (uint32_t i = 0; i < x->n && i < y->n; i++) {
		uint32_t p = paths.words[x->start + i], q = paths.words[y->start + i];

		if (p != q)
			return p < q ? -1 : 1;
	}
	return (x->n > y->n) - (x->n < y->n);
}

/*
 * n paths of words of so many bits. With alike most go on where another ended, so that long ones
 * begin alike and some are the beginning of others; equal ones are left out, as there are none.
 */
static void
try_paths(unsigned int bits, size_t n, bool alike)
{
	uint32_t words_max = (uint32_t)n * 24 + 64, at = 0, *words = calloc(words_max, 4);
	struct columns_path *v = calloc(n, sizeof(*v));
	uint32_t *want = calloc(n, sizeof(*want));
	size_t kept = 0;

	assert_true(words && v && want);
	for (size_t i = 0; i < n; i++) {
		const struct columns_path *of = &v[i ? random_word() % i : 0];
		uint32_t same = alike && i ? of->n : 0, more = 1 + (uint32_t)random_word() % 4;

		same = same > 20 ? 20 - (uint32_t)random_word() % 3 : same;
		v[i] = (struct columns_path){ at, same + more };
		memcpy(words + at, words + of->start, same * 4);
		for (uint32_t k = same; k < v[i].n; k++)
			words[at + k] = (uint32_t)random_word() & ((1u << bits) - 1);
		at += v[i].n;
		assert_true(at <= words_max);
	}
	paths = (struct columns_paths){ words, v, bits };
	for (uint32_t i = 0; i < n; i++)
		want[i] = i;
	qsort(want, n, sizeof(*want), path_cmp);
	for (size_t i = 0; i < n; i++) {
		if (kept == 0 || path_cmp(&want[kept - 1], &want[i]) != 0)
			want[kept++] = want[i];
	}
	for (size_t i = 0; i < kept; i++) {
		size_t other = random_word() % (i + 1);

		items[i].number = items[other].number;
		items[other].number = want[i];
	}
	columns_sort_paths(&paths, items, items + kept, kept);
	for (size_t i = 0; i < kept; i++)
		assert_int_equal(items[i].number, want[i]);
	free(words);
	free(v);
	free(want);
}

/* 20 and 21 bits: where three words have room in a key, and where no longer. */
static void
test_paths(void **state)
{
	static const unsigned int bits[] = { 1, 2, 7, 13, 20, 21, 22, 31 };
	static const size_t sizes[] = { 1, 2, 12, 13, 300, 512, 513, 3000, MOST };

	for (size_t b = 0; b < sizeof(bits) / sizeof(bits[0]); b++) {
		for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
			try_paths(bits[b], sizes[s], false);
			try_paths(bits[b], sizes[s], true);
		}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_items),
					    cmocka_unit_test(test_paths) };

	return cmocka_run_group_tests_name("columns_sort", tests, NULL, NULL);
}
