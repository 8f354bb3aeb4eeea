/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which part of the code holds an address, against a walk over all of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "symbolizer/dwarf/dwarf_ranges.h"

static const struct dwarf_code code[] = { { 0, 0x2000 }, { 0x4000, 0x5000 } };

static void
test_random(void **state)
{
	struct dwarf_range all[200];
	struct dwarf_ranges r;
	uint32_t owner;

	(void)state;
	for (unsigned int round = 0; round < 200; round++) {
		srand(round);
		dwarf_ranges_init(&r, code, 2);
		for (uint32_t i = 0; i < 200; i++) {
			uint64_t start = 1 + (uint64_t)rand() % 0x1f00;
			uint64_t end = start + 1 + (uint64_t)rand() % (round % 2 ? 0x1000 : 0x40);

			all[i] = (struct dwarf_range){ start, end, 0, i };
			assert_int_equal(dwarf_ranges_add(&r, start, end, i), 0);
		}
		dwarf_ranges_sort(&r);
		for (uint64_t address = 0; address < 0x3000; address += 7) {
			const struct dwarf_range *best = NULL;

			for (uint32_t i = 0; i < 200; i++)
				if (all[i].start <= address && address < all[i].end &&
				    (!best || all[i].start > best->start ||
				     (all[i].start == best->start && all[i].end < best->end)))
					best = &all[i];
			assert_int_equal(dwarf_ranges_find(&r, address, &owner), best != NULL);
			if (best && all[owner].start != best->start)
				fail();
			if (best)
				assert_int_equal(all[owner].end, best->end);
		}
		dwarf_ranges_done(&r);
	}
}

static void
test_dropped(void **state)
{
	struct dwarf_ranges r;
	uint32_t owner = 77;

	(void)state;
	dwarf_ranges_init(&r, code, 2);
	assert_int_equal(dwarf_ranges_add(&r, 0, 0x100, 1), 0);
	assert_int_equal(dwarf_ranges_add(&r, 0x3000, 0x4100, 2), 0);
	assert_int_equal(dwarf_ranges_add(&r, UINT64_MAX, 5, 3), 0);
	assert_int_equal(dwarf_ranges_add(&r, UINT64_MAX - 1, UINT64_MAX, 4), 0);
	assert_int_equal(dwarf_ranges_add(&r, 0x50, 0x50, 5), 0);
	assert_int_equal(r.n, 0);
	dwarf_ranges_sort(&r);
	assert_false(dwarf_ranges_find(&r, 0x50, &owner));
	assert_int_equal(dwarf_ranges_add(&r, 0x4fff, 0x6000, 6), 0);
	dwarf_ranges_sort(&r);
	assert_true(dwarf_ranges_find(&r, 0x4fff, &owner));
	assert_int_equal(owner, 6);
	assert_false(dwarf_ranges_find(&r, 0x4ffe, &owner));
	dwarf_ranges_done(&r);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_dropped),
	};

	return cmocka_run_group_tests_name("dwarf_ranges", tests, NULL, NULL);
}
