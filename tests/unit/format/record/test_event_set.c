/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/record/event_set.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "format/bytes/fmt_error.h"
#include "tests/lab/attr_encode.h"
#include "tests/lab/wire.h"

#define ALL (UINT64_C(1) << EVENT_ATTR_sample_id_all)

static struct wire wire;

static size_t
add(struct event_set *set, uint64_t sample_type, uint64_t flags, const char *name)
{
	struct event_attr a = { .size = 112, .sample_type = sample_type, .flags = flags };
	uint8_t raw[EVENT_ATTR_SIZE_MAX];
	size_t index = SIZE_MAX;
	int n = attr_encode(&a, raw);

	assert_int_equal(n, 112);
	assert_int_equal(event_set_add(set, span_of(raw, 112), name, &index), 0);
	memset(raw, 0xff, sizeof(raw)); /* the set has a copy */
	return index;
}

static void
put(uint32_t type, const uint64_t *words, size_t n)
{
	wire_begin(&wire, type, 0);
	for (size_t i = 0; i < n; i++)
		wire_u64(&wire, words[i]);
	wire_end(&wire);
}

#define PUT(type, ...)                                                                             \
	put(type, (const uint64_t[]){ __VA_ARGS__ },                                               \
	    sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

static int
parse(const struct event_set *set, struct perf_record *r, int *event)
{
	*event = -77;
	return event_set_parse(set, wire_guard(wire.bytes, wire.len), r, event);
}

static void
test_holds_what_it_was_given(void **state)
{
	struct event_set *set = event_set_new();
	const struct event *e;

	assert_non_null(set);
	assert_int_equal(event_set_count(set), 0);
	assert_int_equal(event_set_find(set, 0), -1);
	assert_int_equal(add(set, PERF_SAMPLE_IP, ALL, "cpu-clock"), 0);
	assert_int_equal(add(set, PERF_SAMPLE_TID, 0, NULL), 1);
	assert_int_equal(event_set_count(set), 2);
	e = event_set_at(set, 0);
	assert_string_equal(e->name, "cpu-clock");
	assert_int_equal(e->attr.sample_type, PERF_SAMPLE_IP);
	assert_int_equal(e->attr_raw.len, 112);
	assert_int_equal(e->attr_raw.p[4], 112);
	assert_int_equal(e->nr_ids, 0);
	assert_string_equal(event_set_at(set, 1)->name, "");
	event_set_free(set);
	event_set_free(NULL);
}

static void
test_refuses_bad_attrs(void **state)
{
	struct event_set *set = event_set_new();
	uint8_t raw[128] = { 0 };

	raw[4] = 128;
	for (size_t n = 0; n < sizeof(raw); n++)
		assert_int_equal(event_set_add(set, wire_guard(raw, n), "x", NULL),
				 -FMT_E_TRUNCATED);
	raw[4] = 63;
	assert_int_equal(event_set_add(set, span_of(raw, 128), "x", NULL), -FMT_E_CORRUPT);
	assert_int_equal(event_set_count(set), 0);
	event_set_free(set);
}

/* Only the attr's own bytes are kept, whatever follows them. */
static void
test_attr_raw_ends_with_the_attr(void **state)
{
	struct event_set *set = event_set_new();
	uint8_t raw[256] = { 0 };

	raw[4] = 200;
	raw[199] = 9;
	assert_int_equal(event_set_add(set, span_of(raw, 256), "x", NULL), 0);
	assert_int_equal(event_set_at(set, 0)->attr_raw.len, 200);
	assert_int_equal(event_set_at(set, 0)->attr_raw.p[199], 9);
	event_set_free(set);
}

static void
test_many_ids(void **state)
{
	struct event_set *set = event_set_new();
	const uint64_t steps[] = { 1, 8, 1 << 16, UINT64_C(1) << 32, UINT64_C(0x9e3779b97f4a7c15) };
	const size_t nr_steps = sizeof(steps) / sizeof(steps[0]);
	const size_t n = 20000;

	for (size_t e = 0; e < nr_steps; e++)
		assert_int_equal(add(set, PERF_SAMPLE_IDENTIFIER, ALL, "x"), e);
	for (size_t i = 1; i <= n; i++)
		for (size_t e = 0; e < nr_steps; e++)
			assert_int_equal(event_set_add_id(set, e,
							  ((uint64_t)e + 1) << 60 |
								  (i * steps[e] & UINT64_MAX >> 4)),
					 0);
	for (size_t e = 0; e < nr_steps; e++) {
		assert_int_equal(event_set_at(set, e)->nr_ids, n);
		for (size_t i = 1; i <= n; i++) {
			uint64_t id = ((uint64_t)e + 1) << 60 | (i * steps[e] & UINT64_MAX >> 4);

			assert_int_equal(event_set_find(set, id), e);
			assert_int_equal(event_set_at(set, e)->ids[i - 1], id);
		}
	}
	assert_int_equal(event_set_find(set, UINT64_C(0xf000000000000000)), -1);
	assert_int_equal(event_set_add_id(set, 3, UINT64_C(1) << 60 | 5), -FMT_E_CORRUPT);
	assert_int_equal(event_set_find(set, UINT64_C(1) << 60 | 5), 0);
	event_set_free(set);
}

/* Ids made to collide by the finalizer of MurmurHash3 must not cost the square of their number. */
static void
test_hostile_ids(void **state)
{
	struct event_set *set = event_set_new();
	const uint64_t inverse1 = UINT64_C(0x9cb4b2f8129337db),
		       inverse2 = UINT64_C(0x4f74430c22a54005);
	size_t accepted = 0;

	add(set, PERF_SAMPLE_IDENTIFIER, ALL, "x");
	for (uint64_t i = 1; i < 100000; i++) {
		uint64_t id = i << 33; /* the hash of id shall end in zeros: undo it */

		id ^= id >> 33;
		id *= inverse1;
		id ^= id >> 33;
		id *= inverse2;
		id ^= id >> 33;
		if (event_set_add_id(set, 0, id) == 0)
			accepted++;
	}
	assert_int_equal(accepted, 99999);
	assert_int_equal(event_set_at(set, 0)->nr_ids, accepted);
	event_set_free(set);
}

static void
test_by_identifier(void **state)
{
	struct event_set *set = event_set_new();
	struct perf_record r;
	int event;

	/* Two shapes; only the place of the identifier is the same. */
	add(set, PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP, ALL, "a");
	add(set, PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD,
	    ALL, "b");
	assert_int_equal(event_set_add_id(set, 0, 100), 0);
	assert_int_equal(event_set_add_id(set, 0, 101), 0);
	assert_int_equal(event_set_add_id(set, 1, 200), 0);

	PUT(PERF_RECORD_SAMPLE, 101, 0x1234);
	assert_int_equal(parse(set, &r, &event), 0);
	assert_int_equal(event, 0);
	assert_int_equal(r.sample.ip, 0x1234);
	assert_int_equal(r.trailing.len, 0);
	assert_ptr_equal(r.attr, &event_set_at(set, 0)->attr);

	PUT(PERF_RECORD_SAMPLE, 200, 5, 3, 7);
	assert_int_equal(parse(set, &r, &event), 0);
	assert_int_equal(event, 1);
	assert_int_equal(r.sid.time, 5);
	assert_int_equal(r.sid.cpu, 3);
	assert_int_equal(r.sample.period, 7);

	PUT(PERF_RECORD_LOST, 1, 2, 100);
	assert_int_equal(parse(set, &r, &event), 0);
	assert_int_equal(event, 0);
	assert_int_equal(r.sid.id, 100);
	PUT(PERF_RECORD_LOST, 1, 2, 5, 3, 200);
	assert_int_equal(parse(set, &r, &event), 0);
	assert_int_equal(event, 1);
	assert_int_equal(r.lost.lost, 2);
	assert_int_equal(r.sid.cpu, 3);

	PUT(PERF_RECORD_SAMPLE, 102, 0x1234);
	assert_int_equal(parse(set, &r, &event), -FMT_E_UNKNOWN_ID);
	assert_int_equal(event, -77);
	PUT(PERF_RECORD_LOST, 1, 2, 102);
	assert_int_equal(parse(set, &r, &event), -FMT_E_UNKNOWN_ID);
	event_set_free(set);
}

static void
test_id_zero_is_the_first_events(void **state)
{
	struct event_set *set = event_set_new();
	struct perf_record r;
	int event;

	add(set, PERF_SAMPLE_IDENTIFIER, ALL, "a");
	add(set, PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TIME, ALL, "b");
	assert_int_equal(event_set_add_id(set, 0, 100), 0);
	assert_int_equal(event_set_add_id(set, 1, 200), 0);
	PUT(PERF_RECORD_LOST, 1, 2, 0);
	assert_int_equal(parse(set, &r, &event), 0);
	assert_int_equal(event, 0);
	assert_int_equal(r.lost.lost, 2);
	assert_int_equal(r.sid.have, PERF_SAMPLE_IDENTIFIER);
	/* The caller need not want the index. */
	assert_int_equal(event_set_parse(set, span_of(wire.bytes, wire.len), &r, NULL), 0);
	event_set_free(set);
}

/* Others' files: no IDENTIFIER, but ID where both have it at the same place. */
static void
test_by_id(void **state)
{
	struct event_set *set = event_set_new();
	struct perf_record r;
	int event;

	add(set, PERF_SAMPLE_IP | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_CPU, ALL, "a");
	add(set,
	    PERF_SAMPLE_IP | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |
		    PERF_SAMPLE_PERIOD,
	    ALL, "b");
	assert_int_equal(event_set_add_id(set, 0, 100), 0);
	assert_int_equal(event_set_add_id(set, 1, 200), 0);
	PUT(PERF_RECORD_SAMPLE, 1, 2, 100, 3);
	assert_int_equal(parse(set, &r, &event), 0);
	assert_int_equal(event, 0);
	assert_int_equal(r.sid.time, 2);
	PUT(PERF_RECORD_SAMPLE, 1, 2, 200, 3, 4);
	assert_int_equal(parse(set, &r, &event), 0);
	assert_int_equal(event, 1);
	assert_int_equal(r.sample.addr, 2);
	assert_int_equal(r.sample.period, 4);
	PUT(PERF_RECORD_LOST_SAMPLES, 9, 5, 100, 3);
	assert_int_equal(parse(set, &r, &event), 0);
	assert_int_equal(event, 0);
	assert_int_equal(r.sid.time, 5);
	PUT(PERF_RECORD_LOST_SAMPLES, 9, 200, 6);
	assert_int_equal(parse(set, &r, &event), 0);
	assert_int_equal(event, 1);
	assert_int_equal(r.sid.stream_id, 6);
	PUT(PERF_RECORD_SAMPLE, 1, 2, 300, 3);
	assert_int_equal(parse(set, &r, &event), -FMT_E_UNKNOWN_ID);
	event_set_free(set);
}

/* Where the events do not agree on the place, no word is taken for an id. */
static void
test_places_that_differ(void **state)
{
	struct event_set *set = event_set_new();
	struct perf_record r;
	int event;

	add(set, PERF_SAMPLE_IP | PERF_SAMPLE_ID, ALL, "a");
	add(set, PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_ID | PERF_SAMPLE_CPU, ALL, "b");
	assert_int_equal(event_set_add_id(set, 0, 100), 0);
	PUT(PERF_RECORD_SAMPLE, 100, 100);
	assert_int_equal(parse(set, &r, &event), -FMT_E_UNKNOWN_ID);
	PUT(PERF_RECORD_LOST, 1, 2, 100, 100);
	assert_int_equal(parse(set, &r, &event), -FMT_E_UNKNOWN_ID);
	event_set_free(set);
}

/* No ids anywhere: any event will do where all have the same shape, and none is named. */
static void
test_no_ids_same_shape(void **state)
{
	struct event_set *set = event_set_new();
	struct perf_record r;
	int event;

	add(set, PERF_SAMPLE_IP | PERF_SAMPLE_TIME, ALL, "a");
	add(set, PERF_SAMPLE_IP | PERF_SAMPLE_TIME, ALL, "b");
	PUT(PERF_RECORD_SAMPLE, 1, 2);
	assert_int_equal(parse(set, &r, &event), 0);
	assert_int_equal(event, -1);
	assert_int_equal(r.sid.time, 2);
	PUT(PERF_RECORD_LOST_SAMPLES, 3, 4);
	assert_int_equal(parse(set, &r, &event), 0);
	assert_int_equal(event, -1);
	assert_int_equal(r.sid.time, 4);
	add(set, PERF_SAMPLE_IP, ALL, "c");
	PUT(PERF_RECORD_SAMPLE, 1, 2);
	assert_int_equal(parse(set, &r, &event), -FMT_E_UNKNOWN_ID);
	PUT(PERF_RECORD_LOST_SAMPLES, 3, 4);
	assert_int_equal(parse(set, &r, &event), -FMT_E_UNKNOWN_ID);
	event_set_free(set);
}

/* Without sample_id_all side-band is the same for all, whatever their samples are. */
static void
test_no_trailers(void **state)
{
	struct event_set *set = event_set_new();
	struct perf_record r;
	int event;

	add(set, PERF_SAMPLE_IP | PERF_SAMPLE_ID, 0, "a");
	add(set, PERF_SAMPLE_IP | PERF_SAMPLE_ID | PERF_SAMPLE_CPU, 0, "b");
	assert_int_equal(event_set_add_id(set, 1, 200), 0);
	PUT(PERF_RECORD_LOST, 3, 4);
	assert_int_equal(parse(set, &r, &event), 0);
	assert_int_equal(event, -1);
	assert_int_equal(r.lost.lost, 4);
	PUT(PERF_RECORD_SAMPLE, 1, 200, 7);
	assert_int_equal(parse(set, &r, &event), 0);
	assert_int_equal(event, 1);
	event_set_free(set);
}

static void
test_one_event_needs_no_id(void **state)
{
	struct event_set *set = event_set_new();
	struct perf_record r;
	int event;

	add(set, PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP, ALL, "a");
	PUT(PERF_RECORD_SAMPLE, 555, 1);
	assert_int_equal(parse(set, &r, &event), 0);
	assert_int_equal(event, 0);
	assert_int_equal(event_set_add_id(set, 0, 100), 0);
	assert_int_equal(parse(set, &r, &event), -FMT_E_UNKNOWN_ID);
	event_set_free(set);

	set = event_set_new();
	add(set, PERF_SAMPLE_IP, ALL, "a");
	assert_int_equal(event_set_add_id(set, 0, 100), 0);
	PUT(PERF_RECORD_SAMPLE, 1);
	assert_int_equal(parse(set, &r, &event), 0);
	assert_int_equal(event, 0);
	event_set_free(set);
}

static void
test_no_events(void **state)
{
	struct event_set *set = event_set_new();
	struct perf_record r;
	int event;

	PUT(PERF_RECORD_SAMPLE, 1);
	assert_int_equal(parse(set, &r, &event), -FMT_E_UNKNOWN_ID);
	PUT(PERF_RECORD_LOST, 1, 2);
	assert_int_equal(parse(set, &r, &event), -FMT_E_UNKNOWN_ID);
	PUT(64, 1, 2);
	assert_int_equal(parse(set, &r, &event), 0);
	assert_int_equal(event, -1);
	event_set_free(set);
}

static void
test_too_short_for_an_id(void **state)
{
	struct event_set *set = event_set_new();
	struct perf_record r;
	int event;

	add(set, PERF_SAMPLE_IDENTIFIER, ALL, "a");
	assert_int_equal(event_set_add_id(set, 0, 8u << 16 | 9), 0);
	PUT(PERF_RECORD_SAMPLE, 1, 2, 3);
	for (size_t n = 0; n < 16; n++) {
		assert_int_equal(event_set_parse(set, wire_guard(wire.bytes, n), &r, &event),
				 -FMT_E_TRUNCATED);
	}
	/* The header is no id, even where it would make one. */
	wire_begin(&wire, PERF_RECORD_SWITCH, 0);
	wire_end(&wire);
	assert_int_equal(parse(set, &r, &event), -FMT_E_TRUNCATED);
	event_set_free(set);
}

static void
test_user_types_have_no_trailer(void **state)
{
	struct event_set *set = event_set_new();
	struct perf_record r;
	int event;

	add(set, PERF_SAMPLE_IDENTIFIER, ALL, "a");
	assert_int_equal(event_set_add_id(set, 0, 100), 0);
	PUT(68, 1, 2, 3);
	assert_int_equal(parse(set, &r, &event), 0);
	assert_int_equal(event, -1);
	assert_int_equal(span_words(r.trailing), 3);
	/* A kernel type that is not known has one, with an id. */
	PUT(40, 1, 2, 100);
	assert_int_equal(parse(set, &r, &event), 0);
	assert_int_equal(event, 0);
	assert_int_equal(span_words(r.trailing), 2);
	event_set_free(set);
}

static void
add_software(struct event_set *set, uint64_t config, uint64_t id)
{
	struct event_attr a = { .type = PERF_TYPE_SOFTWARE,
				.size = 112,
				.config = config,
				.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TIME,
				.flags = ALL };
	uint8_t raw[EVENT_ATTR_SIZE_MAX];
	size_t index;

	assert_int_equal(
		event_set_add(set, span_of(raw, (size_t)attr_encode(&a, raw)), "e", &index), 0);
	assert_int_equal(event_set_add_id(set, index, id), 0);
}

/* The kernel gives a software event's samples the id of somebody else's event of that kind. */
static void
test_id_of_others(void **state)
{
	struct event_set *set = event_set_new();
	struct sample_glance glance;
	struct perf_record r;
	int event;

	add_software(set, PERF_COUNT_SW_CPU_CLOCK, 100);
	add_software(set, PERF_COUNT_SW_DUMMY, 200);
	PUT(PERF_RECORD_SAMPLE, 999, 5);
	assert_int_equal(parse(set, &r, &event), -FMT_E_UNKNOWN_ID);
	add_software(set, PERF_COUNT_SW_CONTEXT_SWITCHES, 300);
	assert_int_equal(parse(set, &r, &event), 0);
	assert_int_equal(event, 2);
	assert_int_equal(r.sid.time, 5);
	assert_true(event_set_glance(set, wire_guard(wire.bytes, wire.len), &glance));
	assert_int_equal(glance.event, 2);
	/* No other record has it, and no sample of id 0. */
	PUT(PERF_RECORD_LOST_SAMPLES, 3, 5, 999);
	assert_int_equal(parse(set, &r, &event), -FMT_E_UNKNOWN_ID);
	PUT(PERF_RECORD_SAMPLE, 0, 5);
	assert_int_equal(parse(set, &r, &event), 0);
	assert_int_equal(event, 0);
	/* Of two it is not known whose it is. */
	add_software(set, PERF_COUNT_SW_PAGE_FAULTS, 400);
	PUT(PERF_RECORD_SAMPLE, 999, 5);
	assert_int_equal(parse(set, &r, &event), -FMT_E_UNKNOWN_ID);
	event_set_free(set);
}

/* The kernel's header of a record may be too long: the id stands behind the fields. */
static void
test_header_too_long(void **state)
{
	const uint64_t type = PERF_SAMPLE_TIME | PERF_SAMPLE_IDENTIFIER;
	struct event_set *set = event_set_new();
	struct perf_record r;
	int event;

	add(set, type, ALL, "a");
	add(set, type | PERF_SAMPLE_IP, ALL, "b");
	assert_int_equal(event_set_add_id(set, 0, 100), 0);
	assert_int_equal(event_set_add_id(set, 1, 200), 0);
	/* What was there before ends with an id of ours, as often it does. */
	PUT(PERF_RECORD_BPF_EVENT, 1, 7, 5, 200, 666, 777, 4, 100);
	assert_int_equal(parse(set, &r, &event), 0);
	assert_int_equal(event, 1);
	assert_int_equal(r.sid.time, 5);
	assert_int_equal(r.filled, 40);
	assert_int_equal(r.size, 72);
	assert_int_equal(r.trailing.len, 0);
	PUT(PERF_RECORD_BPF_EVENT, 1, 7, 5, 200, 666);
	assert_int_equal(parse(set, &r, &event), 0);
	assert_int_equal(event, 1);
	/* A field of a newer kernel. */
	PUT(PERF_RECORD_BPF_EVENT, 1, 7, 666, 5, 200);
	assert_int_equal(parse(set, &r, &event), 0);
	assert_int_equal(event, 1);
	assert_int_equal(r.sid.time, 5);
	assert_int_equal(r.filled, r.size);
	assert_int_equal(r.trailing.len, 8);
	event_set_free(set);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_holds_what_it_was_given),
		cmocka_unit_test(test_refuses_bad_attrs),
		cmocka_unit_test(test_attr_raw_ends_with_the_attr),
		cmocka_unit_test(test_many_ids),
		cmocka_unit_test(test_hostile_ids),
		cmocka_unit_test(test_by_identifier),
		cmocka_unit_test(test_id_zero_is_the_first_events),
		cmocka_unit_test(test_by_id),
		cmocka_unit_test(test_id_of_others),
		cmocka_unit_test(test_header_too_long),
		cmocka_unit_test(test_places_that_differ),
		cmocka_unit_test(test_no_ids_same_shape),
		cmocka_unit_test(test_no_trailers),
		cmocka_unit_test(test_one_event_needs_no_id),
		cmocka_unit_test(test_no_events),
		cmocka_unit_test(test_too_short_for_an_id),
		cmocka_unit_test(test_user_types_have_no_trailer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
