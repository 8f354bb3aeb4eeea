/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts of READ records, in every shape, added up by event; and what shares its counter. */
#include "format/record/read_counts.h"

#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "tests/lab/attr_encode.h"
#include "tests/lab/wire.h"

#define TIMES (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)
#define EVENTS 3

static struct wire wire;

static struct event_attr
attr_of(uint64_t read_format, uint64_t flags)
{
	return (struct event_attr){ .size = 128,
				    .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID |
					    PERF_SAMPLE_TIME,
				    .read_format = read_format,
				    .flags = UINT64_C(1) << EVENT_ATTR_sample_id_all | flags };
}

/* Event i has the ids 10 i + 1, + 2. */
static struct event_set *
events_of(const struct event_attr *attr)
{
	struct event_set *set = event_set_new();
	uint8_t bytes[ATTR_ENCODE_MAX];
	int size = attr_encode(attr, bytes);

	assert_non_null(set);
	for (size_t i = 0; i < EVENTS; i++) {
		assert_int_equal(event_set_add(set, span_of(bytes, (size_t)size), "e", NULL), 0);
		assert_int_equal(event_set_add_id(set, i, 10 * i + 1), 0);
		assert_int_equal(event_set_add_id(set, i, 10 * i + 2), 0);
	}
	return set;
}

/* A READ of ids of this CPU (1, 2): the event alone, or with GROUP of all of them. */
static void
add_at(struct read_counts *c, const struct event_set *set, const struct event_attr *attr,
       uint16_t misc, uint64_t time, uint32_t task, uint64_t id, uint64_t value, uint64_t enabled,
       uint64_t running)
{
	const uint64_t f = attr->read_format;
	const struct perf_sample_id sid = { .id = id, .pid = task, .tid = task, .time = time };
	struct perf_record r;
	int event;

	wire_begin(&wire, PERF_RECORD_READ, misc);
	wire_u32(&wire, task);
	wire_u32(&wire, task);
	wire_u64(&wire, f & PERF_FORMAT_GROUP ? EVENTS : value);
	if (f & PERF_FORMAT_TOTAL_TIME_ENABLED)
		wire_u64(&wire, enabled);
	if (f & PERF_FORMAT_TOTAL_TIME_RUNNING)
		wire_u64(&wire, running);
	for (uint64_t i = 0; i < (f & PERF_FORMAT_GROUP ? EVENTS : 1); i++) {
		if (f & PERF_FORMAT_GROUP)
			wire_u64(&wire, value + i);
		if (f & PERF_FORMAT_ID)
			wire_u64(&wire, id + 10 * i);
		if (f & PERF_FORMAT_LOST)
			wire_u64(&wire, 99);
	}
	wire_trailer(&wire, attr->sample_type, &sid);
	wire_end(&wire);
	assert_int_equal(event_set_parse(set, span_of(wire.bytes, wire.len), &r, &event), 0);
	assert_int_equal(read_counts_add(c, set, &r), 0);
}

static void
add(struct read_counts *c, const struct event_set *set, const struct event_attr *attr,
    uint32_t task, uint64_t id, uint64_t value, uint64_t enabled, uint64_t running)
{
	add_at(c, set, attr, 0, 5, task, id, value, enabled, running);
}

static void
test_shapes(void **state)
{
	(void)state;
	for (uint64_t f = 0; f < PERF_FORMAT_LOST << 1; f++) {
		const struct event_attr attr = attr_of(f, 0);
		struct event_set *set = events_of(&attr);
		struct read_counts c = { 0 };
		bool all = f & PERF_FORMAT_GROUP && f & PERF_FORMAT_ID;
		/* Without ids a group's values are all taken for the event that was read. */
		uint64_t first = f & PERF_FORMAT_GROUP && !all ? 12 : 10;
		struct read_total t;

		add(&c, set, &attr, UINT32_MAX, 1, 7, 100, 90);
		add(&c, set, &attr, UINT32_MAX, 1, 10, 1000, 900);
		add(&c, set, &attr, UINT32_MAX, 2, 100, 1000, 1000);
		read_counts_settle(&c);
		t = read_counts_total(&c, 0);
		assert_true(t.known);
		assert_int_equal(t.value, first + (first == 12 ? 102 : 100));
		assert_int_equal(t.enabled_ns, f & PERF_FORMAT_TOTAL_TIME_ENABLED ? 2000 : 0);
		assert_int_equal(t.running_ns, f & PERF_FORMAT_TOTAL_TIME_RUNNING ? 1900 : 0);
		t = read_counts_total(&c, 2);
		assert_int_equal(t.known, all);
		assert_int_equal(t.value, all ? 12 + 102 : 0);
		assert_false(read_counts_total(&c, EVENTS).known);
		read_counts_done(&c);
		event_set_free(set);
	}
}

/* On one of its CPUs at a time a task's event counts, on all of them it is enabled. */
static void
test_tasks(void **state)
{
	const struct event_attr attr = attr_of(PERF_FORMAT_ID | TIMES, 0);
	struct event_set *set = events_of(&attr);
	struct read_counts c = { 0 };
	struct read_total t;

	(void)state;
	add(&c, set, &attr, 50, 1, 600, 1000, 600);
	add(&c, set, &attr, 50, 2, 400, 990, 400);
	add(&c, set, &attr, 50, 11, 200, 1000, 200);
	add(&c, set, &attr, 60, 12, 100, 500, 100);
	read_counts_settle(&c);
	t = read_counts_total(&c, 0);
	assert_int_equal(t.enabled_ns, 1000);
	assert_int_equal(t.running_ns, 1000);
	assert_false(read_total_shared(&t));
	assert_int_equal(read_total_scaled(&t), 1000);
	t = read_counts_total(&c, 1);
	assert_int_equal(t.enabled_ns, 1500);
	assert_true(read_total_shared(&t));
	assert_int_equal(read_total_scaled(&t), 300 * 5);
	assert_true(read_total_percent(&t) == 20);
	read_counts_done(&c);
	event_set_free(set);
}

#define TOTAL(v, e, r)                                                                             \
	{                                                                                          \
		.known = true, .value = (v), .enabled_ns = (e), .running_ns = (r)                  \
	}

static void
test_shared(void **state)
{
	const struct read_total never = TOTAL(0, 1000, 0), unknown = { .enabled_ns = 10 },
				nearly = TOTAL(500, 1000, 991), part = TOTAL(43, 1000, 430),
				more = TOTAL(5, 1000, 1100);

	(void)state;
	assert_true(read_total_shared(&never));
	assert_int_equal(read_total_scaled(&never), 0);
	assert_true(read_total_percent(&never) == 0);
	assert_false(read_total_shared(&unknown));
	assert_true(read_total_percent(&unknown) == 100);
	assert_false(read_total_shared(&nearly));
	assert_int_equal(read_total_scaled(&nearly), 500);
	assert_true(read_total_shared(&part));
	assert_int_equal(read_total_scaled(&part), 100);
	assert_false(read_total_shared(&more));
	assert_true(read_total_percent(&more) == 100);
}

/* Of tasks that ended, by the kernel (inherit_stat): parts of what the last READ has. */
static void
test_parts(void **state)
{
	const struct event_attr attr =
		attr_of(PERF_FORMAT_ID, UINT64_C(1) << EVENT_ATTR_inherit_stat);
	struct event_set *set = events_of(&attr);
	struct read_counts c = { 0 };

	(void)state;
	add(&c, set, &attr, 51, 1, 600, 0, 0);
	read_counts_settle(&c);
	assert_false(read_counts_total(&c, 0).known);
	read_counts_done(&c);
	event_set_free(set);
}

/* Where they are read at intervals, what was counted before a file's first READ is not of it. */
static void
test_intervals(void **state)
{
	struct event_attr attr = attr_of(PERF_FORMAT_GROUP | PERF_FORMAT_ID | TIMES, 0);

	(void)state;
	for (uint64_t period = 0; period < 2; period++) {
		struct read_counts c = { .at_intervals = true };
		struct event_set *set;
		struct read_total t;

		attr.sample_period = period;
		set = events_of(&attr);
		add(&c, set, &attr, UINT32_MAX, 1, 1000, 5000, 4000);
		add(&c, set, &attr, UINT32_MAX, 1, 1007, 5010, 4005);
		add(&c, set, &attr, UINT32_MAX, 2, 0, 0, 0);
		add(&c, set, &attr, UINT32_MAX, 2, 50, 10, 10);
		read_counts_settle(&c);
		/* Samples are of events that have but one READ. */
		t = read_counts_total(&c, 0);
		assert_int_equal(t.value, period ? 1057 : 57);
		assert_int_equal(t.enabled_ns, period ? 5020 : 20);
		assert_int_equal(t.running_ns, period ? 4015 : 15);
		/* The values of a group are of ids of their own. */
		t = read_counts_total(&c, 2);
		assert_int_equal(t.value, period ? 1009 + 52 : 57);
		read_counts_done(&c);
		event_set_free(set);
	}
}

/*
 * A file that follows another one: what was counted before it is not its own, whatever comes first in it. Without
 * another READ (the recorder was killed) nothing is known.
 */
static void
test_follows(void **state)
{
	struct event_attr attr = attr_of(PERF_FORMAT_GROUP | PERF_FORMAT_ID | TIMES, 0);
	struct read_counts c = { 0 };
	struct event_set *set;
	struct read_total t;

	(void)state;
	attr.sample_period = 1;
	set = events_of(&attr);
	add_at(&c, set, &attr, READ_MISC_BEFORE, 7, UINT32_MAX, 1, 1000, 5000, 4000);
	assert_int_equal(c.nr, EVENTS);
	assert_false(read_counts_total(&c, 0).known);
	add_at(&c, set, &attr, 0, 9, UINT32_MAX, 1, 1007, 5010, 4005);
	/* Of a CPU that went, and its beginning after that; of one that came. */
	add_at(&c, set, &attr, 0, 8, UINT32_MAX, 2, 50, 110, 110);
	add_at(&c, set, &attr, READ_MISC_BEFORE, 7, UINT32_MAX, 2, 40, 100, 100);
	read_counts_settle(&c);
	t = read_counts_total(&c, 0);
	assert_true(t.known);
	assert_int_equal(t.value, 7 + 10);
	assert_int_equal(t.enabled_ns, 20);
	assert_int_equal(t.running_ns, 15);
	assert_int_equal(read_counts_total(&c, 2).value, 7 + 10);
	read_counts_done(&c);
	event_set_free(set);
}

/* A file that was to end, and goes on, has what it counted until then as well. */
static void
test_goes_on(void **state)
{
	const struct event_attr attr = attr_of(PERF_FORMAT_ID | TIMES, 0);

	(void)state;
	for (int follows = 0; follows < 2; follows++) {
		struct event_set *set = events_of(&attr);
		struct read_counts c = { 0 };

		if (follows)
			add_at(&c, set, &attr, READ_MISC_BEFORE, 6, UINT32_MAX, 1, 300, 30, 30);
		add_at(&c, set, &attr, 0, 7, UINT32_MAX, 1, 1000, 100, 100);
		add_at(&c, set, &attr, READ_MISC_BEFORE, 7, UINT32_MAX, 1, 1000, 100, 100);
		assert_true(read_counts_total(&c, 0).known);
		assert_int_equal(read_counts_total(&c, 0).value, follows ? 700 : 1000);
		add_at(&c, set, &attr, 0, 9, UINT32_MAX, 1, 1100, 110, 110);
		assert_int_equal(read_counts_total(&c, 0).value, follows ? 800 : 1100);
		read_counts_done(&c);
		event_set_free(set);
	}
}

/* A level is what the last READ tells, also where that is less, and where a file begins with one. */
static void
test_level(void **state)
{
	const struct event_attr attr = attr_of(PERF_FORMAT_ID | TIMES, 0);
	const struct count_unit level = { .snapshot = true };

	(void)state;
	for (int intervals = 0; intervals < 2; intervals++) {
		struct read_counts c = { .at_intervals = intervals };
		struct event_set *set = events_of(&attr);
		struct read_total t;

		event_set_unit(set, 0, &level);
		for (uint64_t id = 1; id < 3; id++) {
			add(&c, set, &attr, UINT32_MAX, id, 40, 1000, 500);
			add(&c, set, &attr, UINT32_MAX, id, 90, 2000, 1000);
			add(&c, set, &attr, UINT32_MAX, id, 30, 3000, 1500);
		}
		read_counts_settle(&c);
		t = read_counts_total(&c, 0);
		/* Of two CPUs; and as much with half of the time on a counter. */
		assert_true(t.level);
		assert_int_equal(t.value, 60);
		assert_int_equal(read_total_scaled(&t), 60);
		assert_int_equal(t.enabled_ns, intervals ? 4000 : 6000);
		read_counts_done(&c);
		event_set_free(set);
	}
}

/* Members of a group that is sampled have no samples, and are read for themselves where their CPU goes. */
static void
test_member(void **state)
{
	struct event_attr attr = attr_of(PERF_FORMAT_GROUP | PERF_FORMAT_ID | TIMES, 0);
	struct read_counts c = { .at_intervals = true };
	struct event_set *set;
	struct read_total t;

	(void)state;
	attr.sample_type |= PERF_SAMPLE_READ;
	assert_false(read_counts_alone(&attr));
	set = events_of(&attr);
	add(&c, set, &attr, UINT32_MAX, 1, 1000, 5000, 4000);
	read_counts_settle(&c);
	t = read_counts_total(&c, 1);
	assert_int_equal(t.value, 1001);
	assert_int_equal(t.enabled_ns, 5000);
	read_counts_done(&c);
	event_set_free(set);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shapes),	  cmocka_unit_test(test_tasks),
		cmocka_unit_test(test_shared),	  cmocka_unit_test(test_parts),
		cmocka_unit_test(test_intervals), cmocka_unit_test(test_member),
		cmocka_unit_test(test_follows),	  cmocka_unit_test(test_goes_on),
		cmocka_unit_test(test_level),
	};

	return cmocka_run_group_tests_name("read_counts", tests, NULL, NULL);
}
