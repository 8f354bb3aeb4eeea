/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What samples with counts have more than those before, by id, and of inherited events by task. */
#include "symbolizer/profile/read_deltas.h"

#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "format/record/event_attr.h"

#define GROUP (PERF_FORMAT_GROUP | PERF_FORMAT_ID)
#define PERIOD 77

struct samples {
	struct event_attr attr;
	struct read_deltas deltas;
	uint8_t words[64];
	struct perf_record r;
};

static void
begin(struct samples *s, uint64_t format, bool inherit)
{
	memset(s, 0, sizeof(*s));
	s->attr.sample_type = PERF_SAMPLE_READ;
	s->attr.read_format = format;
	s->attr.flags = (uint64_t)inherit << EVENT_ATTR_inherit;
}

/* A sample of event 1 with these values, of the ids 1 and 2. */
static const struct perf_record *
sample(struct samples *s, uint32_t tid, uint64_t one, uint64_t two)
{
	struct perf_read *read = &s->r.sample.read;
	bool group = s->attr.read_format & PERF_FORMAT_GROUP;

	s->r = (struct perf_record){ .attr = &s->attr, .sid = { .tid = tid, .id = 1 } };
	s->r.sample.have = s->attr.sample_type;
	s->r.sample.period = PERIOD;
	le64enc(s->words, one);
	le64enc(s->words + 8, 1);
	le64enc(s->words + 16, two);
	le64enc(s->words + 24, 2);
	*read = (struct perf_read){ .format = s->attr.read_format,
				    .nr = group ? 2 : 1,
				    .values = span_of(s->words, group ? 32 : 16) };
	return &s->r;
}

static uint64_t
delta(struct samples *s, const struct perf_record *r, uint64_t i, bool begins)
{
	uint64_t n;

	assert_true(read_deltas_has(r));
	assert_int_equal(read_deltas_at(&s->deltas, r, i, begins, &n), 0);
	assert_int_equal(read_deltas_id(r, i), i + 1);
	return n;
}

static void
test_deltas(void **state)
{
	const struct perf_record *r;
	struct samples s;

	(void)state;
	begin(&s, GROUP, false);
	r = sample(&s, 5, 100, 3);
	assert_int_equal(delta(&s, r, 0, true), 100);
	assert_int_equal(delta(&s, r, 1, true), 3);
	r = sample(&s, 6, 150, 3);
	assert_int_equal(delta(&s, r, 0, true), 50);
	assert_int_equal(delta(&s, r, 1, true), 0);
	r = sample(&s, 5, 151, UINT64_C(1) << 63);
	assert_int_equal(delta(&s, r, 0, false), 1);
	assert_int_equal(delta(&s, r, 1, false), (UINT64_C(1) << 63) - 3);
	/* A count that fell is another's, from zero on. */
	r = sample(&s, 5, 20, 0);
	assert_int_equal(delta(&s, r, 0, false), 20);
	read_deltas_done(&s.deltas);
}

/* Nobody saw where it began: the leader has its period, a member nothing, and from there on both. */
static void
test_unknown_beginning(void **state)
{
	const struct perf_record *r;
	struct samples s;

	(void)state;
	begin(&s, GROUP, false);
	r = sample(&s, 5, 1000000, 3000);
	assert_int_equal(delta(&s, r, 0, false), PERIOD);
	assert_int_equal(delta(&s, r, 1, false), 0);
	r = sample(&s, 5, 1000050, 3001);
	assert_int_equal(delta(&s, r, 0, false), 50);
	assert_int_equal(delta(&s, r, 1, false), 1);
	read_deltas_done(&s.deltas);
}

/* Linux 6.12: a sample of an inherited event has what its own task counted. */
static void
test_inherited(void **state)
{
	const struct perf_record *r;
	struct samples s;

	(void)state;
	begin(&s, GROUP, true);
	r = sample(&s, 5, 100, 3);
	assert_int_equal(delta(&s, r, 0, true), 100);
	r = sample(&s, 6, 40, 1);
	assert_int_equal(delta(&s, r, 0, true), 40);
	r = sample(&s, 5, 110, 3);
	assert_int_equal(delta(&s, r, 0, true), 10);
	r = sample(&s, 6, 45, 3);
	assert_int_equal(delta(&s, r, 0, true), 5);
	read_deltas_done(&s.deltas);
}

static void
test_which(void **state)
{
	struct samples s;

	(void)state;
	begin(&s, PERF_FORMAT_GROUP, false);
	assert_false(read_deltas_has(sample(&s, 5, 1, 1)));
	begin(&s, 0, false);
	assert_true(read_deltas_has(sample(&s, 5, 1, 1)));
	assert_int_equal(delta(&s, &s.r, 0, true), 1);
	assert_int_equal(delta(&s, sample(&s, 5, 9, 1), 0, true), 8);
	read_deltas_done(&s.deltas);
	begin(&s, PERF_FORMAT_ID, false);
	s.attr.sample_type = PERF_SAMPLE_IP;
	assert_false(read_deltas_has(sample(&s, 5, 1, 1)));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_deltas),
		cmocka_unit_test(test_unknown_beginning),
		cmocka_unit_test(test_inherited),
		cmocka_unit_test(test_which),
	};

	return cmocka_run_group_tests_name("read_deltas", tests, NULL, NULL);
}
