/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/text/data_source.h"

#include <linux/perf_event.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#define LVLNUM(n) ((uint64_t)(n) << 33)
#define REMOTE (UINT64_C(1) << 37)
#define HOPS(n) ((uint64_t)(n) << 43)

static void
expect(enum data_source_part part, uint64_t data_src, const char *text)
{
	char ret[DATA_SOURCE_TEXT];

	data_source_text(part, data_src, ret);
	assert_string_equal(ret, text);
}

/* What perf script prints of the same words. */
static void
test_words(void **state)
{
	expect(DATA_SOURCE_op, PERF_MEM_S(OP, LOAD), "LOAD");
	expect(DATA_SOURCE_op, PERF_MEM_S(OP, STORE), "STORE");
	expect(DATA_SOURCE_op, 0, "No");
	expect(DATA_SOURCE_op, PERF_MEM_S(OP, NA), "N/A");
	expect(DATA_SOURCE_snoop, PERF_MEM_S(SNOOP, NONE), "None");
	expect(DATA_SOURCE_snoop, PERF_MEM_S(SNOOP, HIT) | PERF_MEM_S(SNOOP, MISS), "Hit or Miss");
	expect(DATA_SOURCE_snoop, UINT64_C(1) << 38, "Fwd");
	expect(DATA_SOURCE_snoop, PERF_MEM_S(SNOOP, HITM) | UINT64_C(2) << 38, "HitM or Peer");
	expect(DATA_SOURCE_tlb, PERF_MEM_S(TLB, L1) | PERF_MEM_S(TLB, L2) | PERF_MEM_S(TLB, HIT),
	       "L1 or L2 hit");
	expect(DATA_SOURCE_tlb, PERF_MEM_S(TLB, WK) | PERF_MEM_S(TLB, MISS), "Walker miss");
	expect(DATA_SOURCE_tlb, PERF_MEM_S(TLB, HIT), "N/A hit");
	expect(DATA_SOURCE_tlb, 0, "N/A");
	expect(DATA_SOURCE_lock, 0, "No");
	expect(DATA_SOURCE_lock, PERF_MEM_S(LOCK, LOCKED), "Yes");
	expect(DATA_SOURCE_lock, PERF_MEM_S(LOCK, NA), "N/A");
	expect(DATA_SOURCE_blk, UINT64_C(2) << 40, "Data");
	expect(DATA_SOURCE_blk, UINT64_C(6) << 40, "Data Addr");
	expect(DATA_SOURCE_blk, UINT64_C(3) << 40, "N/A");
	expect(DATA_SOURCE_region, UINT64_C(7) << 46, "MMIO");
	expect(DATA_SOURCE_region, UINT64_C(31) << 46, "31");
}

static void
test_levels(void **state)
{
	expect(DATA_SOURCE_lvl, PERF_MEM_S(LVL, L1) | PERF_MEM_S(LVL, HIT), "L1 hit");
	expect(DATA_SOURCE_lvl, PERF_MEM_S(LVL, L2) | PERF_MEM_S(LVL, L3) | PERF_MEM_S(LVL, MISS),
	       "L2 or L3 miss");
	expect(DATA_SOURCE_lvl, PERF_MEM_S(LVL, UNC), "Uncached");
	expect(DATA_SOURCE_lvl, PERF_MEM_S(LVL, HIT), "N/A");
	expect(DATA_SOURCE_lvl, PERF_MEM_S(LVL, NA), "N/A");
	/* Both say the same: it is said once. */
	expect(DATA_SOURCE_lvl, PERF_MEM_S(LVL, L1) | PERF_MEM_S(LVL, HIT) | LVLNUM(1), "L1 hit");
	expect(DATA_SOURCE_lvl, PERF_MEM_S(LVL, HIT) | LVLNUM(0xd) | REMOTE | HOPS(3),
	       "Remote socket, same board RAM hit");
	expect(DATA_SOURCE_lvl, LVLNUM(7), "L0");
	/* A number that says nothing leaves it to the bits. */
	expect(DATA_SOURCE_lvl, PERF_MEM_S(LVL, L3) | LVLNUM(0xf), "L3");
}

/* Any word has a text of every part, and what is outside a part does not change it. */
static void
test_bits(void **state)
{
	char all[DATA_SOURCE_TEXT], masked[DATA_SOURCE_TEXT];

	for (unsigned i = 0; i < 20000; i++) {
		const uint64_t word = (i + UINT64_C(1)) * UINT64_C(0x9e3779b97f4a7c15);

		for (enum data_source_part part = 0; part < DATA_SOURCE_PARTS_MAX; part++) {
			data_source_text(part, word, all);
			data_source_text(part, word & data_source_bits(part), masked);
			assert_string_equal(all, masked);
			assert_true(*all && strlen(all) + 1 < DATA_SOURCE_TEXT);
		}
	}
	data_source_text(DATA_SOURCE_lvl, data_source_bits(DATA_SOURCE_lvl), all);
	assert_true(strlen(all) + 8 < DATA_SOURCE_TEXT); /* none of it was cut */
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_levels),
		cmocka_unit_test(test_bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
