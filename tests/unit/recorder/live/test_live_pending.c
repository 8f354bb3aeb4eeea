/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records that wait: they are taken by time, and taking some of them away needs no memory, however
 * many stay. A thread that is late is one that takes none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "recorder/live/live_pending.h"

#define RECORD_BYTES 64u

struct taken {
	uint64_t last, nr;
};

static void
add(struct live_pending *p, uint64_t time_ns)
{
	uint8_t bytes[RECORD_BYTES] = { 0 };
	struct perf_record r = { .size = sizeof(bytes), .raw = span_of(bytes, sizeof(bytes)) };

	r.sid.time = time_ns;
	memcpy(bytes, &time_ns, sizeof(time_ns));
	assert_true(live_pending_add(p, &r));
}

static void
take(void *arg, struct span record)
{
	struct taken *t = arg;
	uint64_t time_ns;

	assert_int_equal(record.len, RECORD_BYTES);
	memcpy(&time_ns, record.p, sizeof(time_ns));
	assert_true(time_ns >= t->last);
	t->last = time_ns;
	t->nr++;
}

static void
test_in_place(void **state)
{
	struct live_pending p = { 0 };
	struct taken t = { 0 };
	const uint8_t *bytes;
	uint64_t middle;

	/* From two rings, a record of each in turn: their times go up and down. */
	for (uint64_t i = 0; i < 20000; i++)
		add(&p, i % 2 ? 1000000 + i : i);
	bytes = p.bytes.p;
	middle = live_pending_middle_ns(&p);
	live_pending_run(&p, middle, take, &t);
	assert_int_equal(t.nr, 10000);
	assert_ptr_equal(p.bytes.p, bytes);
	assert_int_equal(p.bytes.len, 10000 * RECORD_BYTES);
	/* The others are whole, also between younger ones. */
	add(&p, middle + 1);
	live_pending_run(&p, UINT64_MAX, take, &t);
	assert_int_equal(t.nr, 20001);
	assert_int_equal(live_pending_bytes(&p), 0);
	live_pending_done(&p);
}

/* What is counted is what there is, with the copy that sorting makes. */
static void
test_counted(void **state)
{
	struct live_pending p = { 0 };
	struct taken t = { 0 };

	for (uint64_t i = 0; i < 1000; i++)
		add(&p, 1000 - i);
	assert_true(live_pending_bytes(&p) >= 1000 * (RECORD_BYTES + 2 * 32));
	live_pending_run(&p, 501, take, &t);
	assert_int_equal(t.nr, 500);
	assert_true(live_pending_bytes(&p) >= 500 * (RECORD_BYTES + 2 * 32));
	live_pending_done(&p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_in_place),
		cmocka_unit_test(test_counted),
	};

	return cmocka_run_group_tests_name("live_pending", tests, NULL, NULL);
}
