/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Readings of counts as rows: what was counted in between, whatever came, went or is missing. */
#include "symbolizer/counts/count_rows.h"

#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "format/record/event_attr.h"
#include "format/record/perf_record.h"
#include "tests/lab/attr_encode.h"

#define FORMAT                                                                                     \
	(PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED |                     \
	 PERF_FORMAT_TOTAL_TIME_RUNNING)
#define SECOND UINT64_C(1000000000)
#define ROWS_MAX 16

/* Two events; that of number e has the id 10 e + 1 on CPU 0, and + 2 on CPU 1. */
struct readings {
	struct event_attr attr;
	struct event_set *events;
	struct count_rows rows;
	uint8_t words[32];
	struct row {
		uint64_t from_ns, until_ns;
		size_t counts;
		struct read_total of[2];
	} seen[ROWS_MAX];
	size_t nr;
};

static int
see(void *arg, const struct count_row *row)
{
	struct readings *r = arg;
	struct row *seen = &r->seen[r->nr++];

	assert_true(r->nr <= ROWS_MAX);
	*seen = (struct row){ row->from_ns,
			      row->until_ns,
			      row->counts.nr,
			      { read_counts_total(&row->counts, 0),
				read_counts_total(&row->counts, 1) } };
	return 0;
}

static void
begin(struct readings *r, uint64_t interval_ns, uint64_t span_ns)
{
	const struct count_rows_options o = {
		.interval_ns = interval_ns, .span_ns = span_ns, .see = see, .arg = r
	};
	uint8_t bytes[ATTR_ENCODE_MAX];

	memset(r, 0, sizeof(*r));
	r->attr = (struct event_attr){ .size = 128,
				       .sample_type = PERF_SAMPLE_IDENTIFIER,
				       .read_format = FORMAT };
	r->events = event_set_new();
	for (size_t e = 0; e < 2; e++) {
		int size = attr_encode(&r->attr, bytes);

		assert_int_equal(event_set_add(r->events, span_of(bytes, (size_t)size), "e", NULL),
				 0);
		assert_int_equal(event_set_add_id(r->events, e, 10 * e + 1), 0);
		assert_int_equal(event_set_add_id(r->events, e, 10 * e + 2), 0);
	}
	count_rows_init(&r->rows, &o);
}

/* The group of a CPU: its second event has counted twice as much; running is half of enabled on CPU 1. */
static void
reading(struct readings *r, uint64_t time_ns, uint32_t cpu, uint64_t value, uint64_t enabled_ns,
	bool outside)
{
	struct perf_record record = { .type = REC_READ,
				      .attr = &r->attr,
				      .sid = { .time = time_ns, .cpu = cpu, .id = cpu + 1 },
				      .read = { .pid = UINT32_MAX, .tid = UINT32_MAX } };

	le64enc(r->words, value);
	le64enc(r->words + 8, cpu + 1);
	le64enc(r->words + 16, 2 * value);
	le64enc(r->words + 24, 10 + cpu + 1);
	record.read.read = (struct perf_read){ .format = FORMAT,
					       .nr = 2,
					       .time_enabled = enabled_ns,
					       .time_running = cpu ? enabled_ns / 2 : enabled_ns,
					       .values = span_of(r->words, 32) };
	assert_int_equal(count_rows_add(&r->rows, r->events, &record, outside), 0);
}

static void
end(struct readings *r)
{
	count_rows_done(&r->rows);
	event_set_free(r->events);
}

static void
assert_row(const struct row *row, uint64_t from_s, uint64_t until_s, uint64_t value)
{
	assert_int_equal(row->from_ns, from_s * SECOND);
	assert_int_equal(row->until_ns, until_s * SECOND);
	assert_true(row->of[0].known);
	assert_int_equal(row->of[0].value, value);
	assert_int_equal(row->of[1].value, 2 * value);
}

static void
test_rows(void **state)
{
	struct readings r;

	(void)state;
	begin(&r, SECOND, 0);
	/* What was counted before the first one is of no row. */
	for (uint64_t s = 0; s < 4; s++) {
		reading(&r, (100 + s) * SECOND, 0, 1000 + 7 * s, 50 * SECOND + s * SECOND, false);
		reading(&r, (100 + s) * SECOND, 1, s * s, s * SECOND, false);
		assert_int_equal(r.nr, s > 1 ? s - 1 : 0);
	}
	assert_int_equal(count_rows_end(&r.rows), 0);
	assert_int_equal(count_rows_end(&r.rows), 0);
	assert_int_equal(r.nr, 3);
	for (uint64_t s = 0; s < 3; s++) {
		assert_row(&r.seen[s], 100 + s, 101 + s, 7 + 2 * s + 1);
		assert_int_equal(r.seen[s].counts, 4);
		/* One CPU had a counter all the time, the other one half of it. */
		assert_int_equal(r.seen[s].of[0].enabled_ns, 2 * SECOND);
		assert_int_equal(r.seen[s].of[0].running_ns, SECOND + SECOND / 2);
		assert_int_equal(read_total_scaled(&r.seen[s].of[0]), (7 + 2 * s + 1) * 4 / 3);
	}
	assert_int_equal(r.rows.backwards, 0);
	end(&r);
}

/* Levels: no difference, no sum of readings, and none goes backwards; those of CPUs add up. */
static void
test_levels(void **state)
{
	static const uint64_t levels[] = { 50, 20, 30, 5 };

	(void)state;
	for (uint64_t span = 0; span < 2; span++) {
		struct readings r;

		begin(&r, SECOND, span * 100 * SECOND);
		event_set_unit(r.events, 0, &(struct count_unit){ .snapshot = true });
		for (uint64_t s = 0; s < 4; s++) {
			reading(&r, (100 + s) * SECOND, 0, levels[s] + 1000, s * SECOND, false);
			reading(&r, (100 + s) * SECOND, 1, levels[s], s * SECOND, false);
		}
		assert_int_equal(count_rows_end(&r.rows), 0);
		assert_int_equal(r.nr, span ? 1 : 3);
		for (size_t i = 0; i < r.nr; i++)
			assert_int_equal(r.seen[i].of[0].value,
					 1000 + 2 * levels[span ? 3 : i + 1]);
		/* The event beside it is none. */
		assert_true(r.rows.backwards > 0);
		end(&r);
	}
}

/* A reading that is missing: a longer interval, and nothing lost. */
static void
test_missed(void **state)
{
	struct readings r;

	(void)state;
	begin(&r, SECOND, 0);
	for (uint64_t s = 0; s < 6; s++)
		if (s != 2 && s != 3) {
			reading(&r, s * SECOND, 0, 10 * s, s * SECOND, false);
			/* Of one CPU alone: it is told with the next row. */
			if (s != 4)
				reading(&r, s * SECOND, 1, s, s * SECOND, false);
		}
	assert_int_equal(count_rows_end(&r.rows), 0);
	assert_int_equal(r.nr, 3);
	assert_row(&r.seen[0], 0, 1, 11);
	assert_row(&r.seen[1], 1, 4, 30);
	assert_row(&r.seen[2], 1, 5, 10 + 4);
	end(&r);
}

static void
test_backwards(void **state)
{
	struct readings r;

	(void)state;
	begin(&r, SECOND, 0);
	reading(&r, 0, 0, 100, 0, false);
	reading(&r, SECOND, 0, 150, SECOND, false);
	reading(&r, 2 * SECOND, 0, 20, 2 * SECOND, false);
	reading(&r, 3 * SECOND, 0, 25, 3 * SECOND, false);
	/* The same count, but of a time that is less. */
	reading(&r, 4 * SECOND, 0, 30, SECOND, false);
	/* The same reading once more, and one of before. */
	reading(&r, 4 * SECOND, 0, 30, SECOND, false);
	reading(&r, 5 * SECOND, 0, UINT64_MAX / 2, 2 * SECOND, false);
	assert_int_equal(count_rows_end(&r.rows), 0);
	assert_int_equal(r.nr, 3);
	assert_row(&r.seen[0], 0, 1, 50);
	assert_row(&r.seen[1], 2, 3, 5);
	assert_row(&r.seen[2], 4, 5, UINT64_MAX / 2 - 30);
	assert_int_equal(r.rows.backwards, 4);
	end(&r);
}

/* CPU 1 comes at 1.5 s and goes at 3.5 s: it is read by itself, and then all are. */
static void
test_hotplug(void **state)
{
	const uint64_t ms = SECOND / 1000;
	struct readings r;

	(void)state;
	begin(&r, SECOND, 0);
	reading(&r, 0, 0, 0, 0, false);
	reading(&r, 1000 * ms, 0, 10, SECOND, false);
	reading(&r, 1500 * ms, 1, 0, 0, false);
	reading(&r, 1502 * ms, 0, 15, SECOND, false);
	reading(&r, 1502 * ms, 1, 1, 1 * ms, false);
	reading(&r, 2000 * ms, 0, 20, SECOND, false);
	reading(&r, 2000 * ms, 1, 8, 500 * ms, false);
	reading(&r, 3500 * ms, 1, 30, 2000 * ms, false);
	reading(&r, 3503 * ms, 0, 35, 2 * SECOND, false);
	reading(&r, 4000 * ms, 0, 40, 2 * SECOND, false);
	assert_int_equal(count_rows_end(&r.rows), 0);
	assert_int_equal(r.nr, 5);
	assert_int_equal(r.seen[1].of[0].value, 5 + 1);
	assert_int_equal(r.seen[1].until_ns, 1502 * ms);
	assert_int_equal(r.seen[2].of[0].value, 5 + 7);
	/* Both in one row, although the one that went was read first. */
	assert_int_equal(r.seen[3].of[0].value, 22 + 15);
	assert_int_equal(r.seen[3].until_ns, 3503 * ms);
	assert_int_equal(r.seen[4].of[0].value, 5);
	end(&r);
}

/* Readings outside of the window are where counts begin. Several make a row of a longer span. */
static void
test_window_and_span(void **state)
{
	struct readings r;

	(void)state;
	begin(&r, SECOND, 3 * SECOND);
	for (uint64_t s = 0; s < 12; s++)
		reading(&r, s * SECOND + s, 0, s * s, s * SECOND, s < 4 || s > 9);
	assert_int_equal(count_rows_end(&r.rows), 0);
	assert_int_equal(r.nr, 2);
	assert_int_equal(r.seen[0].from_ns, 3 * SECOND + 3);
	assert_int_equal(r.seen[0].until_ns, 6 * SECOND + 6);
	assert_int_equal(r.seen[0].of[0].value, 36 - 9);
	assert_int_equal(r.seen[1].of[0].value, 81 - 36);
	end(&r);
}

/* Of events with samples, of no event that is known, of tasks that end. */
static void
test_passed_over(void **state)
{
	struct readings r;

	(void)state;
	begin(&r, SECOND, 0);
	r.attr.sample_period = 1;
	reading(&r, 0, 0, 1, 1, false);
	reading(&r, SECOND, 0, 2, 2, false);
	r.attr.sample_period = 0;
	r.attr.flags = UINT64_C(1) << EVENT_ATTR_inherit_stat;
	reading(&r, 0, 0, 1, 1, false);
	reading(&r, SECOND, 0, 2, 2, false);
	r.attr.flags = 0;
	reading(&r, 0, 5, 1, 1, false);
	reading(&r, SECOND, 5, 2, 2, false);
	assert_int_equal(count_rows_end(&r.rows), 0);
	assert_int_equal(r.nr, 0);
	end(&r);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),	    cmocka_unit_test(test_levels),
		cmocka_unit_test(test_missed),	    cmocka_unit_test(test_backwards),
		cmocka_unit_test(test_hotplug),	    cmocka_unit_test(test_window_and_span),
		cmocka_unit_test(test_passed_over),
	};

	return cmocka_run_group_tests_name("count_rows", tests, NULL, NULL);
}
