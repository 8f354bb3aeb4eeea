/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A sample at a glance, against the parser that takes it apart field by field. */
#include "format/record/event_set.h"

#include <linux/perf_event.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "tests/lab/attr_encode.h"
#include "tests/lab/numbered.h"
#include "tests/lab/wire.h"

#define EVENTS_MAX 3
#define IDS 4 /* of each event */
#define WORDS_MAX 48
#define PLAIN                                                                                      \
	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | \
	 PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN |    \
	 PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_TRANSACTION |                     \
	 PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_CGROUP | PERF_SAMPLE_DATA_PAGE_SIZE |                 \
	 PERF_SAMPLE_CODE_PAGE_SIZE | PERF_SAMPLE_WEIGHT_STRUCT)
#define EVERY ((UINT64_C(1) << 26) - 1) /* one of them means nothing yet */

struct tried {
	struct event_set *set;
	size_t nr;
	bool plain; /* nothing stands in the way of a glance */
	size_t glances, parsed, refused;
};

static uint64_t seed;

static uint64_t
any(void)
{
	return numbered_roll(&seed, UINT64_MAX);
}

static void
add_event(struct tried *t, bool plain)
{
	struct event_attr a = { .size = 112,
				.sample_type = any() & (plain ? PLAIN : EVERY),
				.read_format = plain ? 0 : any() % 32,
				.flags = UINT64_C(1) << EVENT_ATTR_sample_id_all };
	uint8_t raw[EVENT_ATTR_SIZE_MAX];
	size_t index;
	int n;

	if (plain || any() % 16)
		a.sample_type |= PERF_SAMPLE_IDENTIFIER;
	if (!plain && any() % 4)
		a.sample_type &= PLAIN | PERF_SAMPLE_IDENTIFIER;
	n = attr_encode(&a, raw);
	assert_int_equal(event_set_add(t->set, span_of(raw, (size_t)n), "", &index), 0);
	for (uint64_t id = 1; id <= IDS; id++)
		assert_int_equal(event_set_add_id(t->set, index, index * IDS + id), 0);
}

/* Any words behind a header that is mostly right, often with small numbers, which make sense. */
static struct span
any_record(const struct tried *t)
{
	static struct wire wire;
	size_t words = any() % WORDS_MAX;
	bool small = any() % 4;

	wire_begin(&wire, any() % 16 ? REC_SAMPLE : REC_COMM, (uint16_t)any());
	for (size_t i = 0; i < words; i++)
		wire_u64(&wire, small ? any() % 8 : any());
	wire_end(&wire);
	if (words && any() % 8)
		wire.bytes[8] = (uint8_t)(1 + any() % (t->nr * IDS + 1));
	if (words && small)
		memset(wire.bytes + 9, 0, 7);
	if (any() % 32 == 0)
		wire_size(wire.bytes, (uint16_t)any());
	return wire_guard(wire.bytes, any() % 32 ? wire.len : any() % (wire.len + 1));
}

static void
compare(struct tried *t, struct span record)
{
	struct sample_glance g = { .event = -77 }, slow;
	struct perf_record r;
	int event;
	bool glance = event_set_glance(t->set, record, &g);
	bool parsed = event_set_parse(t->set, record, &r, &event) == 0;

	t->glances += glance;
	t->parsed += parsed;
	t->refused += !parsed;
	if (!glance) {
		assert_int_equal(g.event, -77);
		/* Id 0 is the first event's, for the one who asks at length. */
		assert_false(t->plain && parsed && r.type == REC_SAMPLE && r.sid.id);
		return;
	}
	assert_true(parsed);
	assert_int_equal(r.type, REC_SAMPLE);
	sample_glance_of(&r, event, &slow);
	assert_int_equal(g.event, event);
	assert_int_equal(g.misc, r.misc);
	assert_int_equal(g.ip, slow.ip);
	assert_int_equal(g.time, slow.time);
	assert_int_equal(g.pid, slow.pid);
	assert_int_equal(g.callchain.len, slow.callchain.len);
	if (slow.callchain.len)
		assert_ptr_equal(g.callchain.p, slow.callchain.p);
}

static void
try_sets(struct tried *t, size_t sets, bool plain)
{
	seed = 0x9e3779b97f4a7c15;
	for (size_t i = 0; i < sets; i++) {
		t->set = event_set_new();
		t->nr = 1 + any() % EVENTS_MAX;
		t->plain = plain;
		for (size_t k = 0; k < t->nr; k++)
			add_event(t, plain);
		for (size_t k = 0; k < 200; k++)
			compare(t, any_record(t));
		event_set_free(t->set);
	}
}

/* Whatever is in a record: a glance never takes what the parser refuses or reads another way. */
static void
test_agrees_with_the_parser(void **state)
{
	struct tried t = { .set = NULL };

	try_sets(&t, 1000, false);
	assert_true(t.glances > 10000 && t.parsed > t.glances && t.refused > 10000);
}

/* And of plain samples it takes every one. */
static void
test_takes_all_plain_ones(void **state)
{
	struct tried t = { .set = NULL };

	try_sets(&t, 500, true);
	assert_true(t.glances > 10000 && t.refused > 10000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_agrees_with_the_parser),
		cmocka_unit_test(test_takes_all_plain_ones),
	};

	return cmocka_run_group_tests_name("sample_glance", tests, NULL, NULL);
}
