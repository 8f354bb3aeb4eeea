/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which events are off, and what the writer is told of it: without a CPU that has them. */
#include "recorder/ring/ring_set.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <setjmp.h>
#include <cmocka.h>

#include <bsd/string.h>

#include "format/block/gap.h"
#include "recorder/event/event.h"
#include "recorder/ground/message.h"

#define NOW UINT64_C(1000000000000)
#define EVENTS 40
#define NOTE "asked to be off while others were on:"

struct rig {
	struct event_def defs[EVENTS];
	struct event_plan plan;
	struct ring_set set;
	struct queue *q;
	struct session_error error;
	uint64_t now;
	char told[2048]; /* "gap 1-", "gap 1-2", notes without what all begin with; with semicolons */
};

static void
rig_begin(struct rig *r, size_t nr)
{
	memset(r, 0, sizeof(*r));
	for (size_t i = 0; i < nr; i++)
		snprintf(r->defs[i].name, sizeof(r->defs[i].name), "e%zu", i);
	r->defs[nr - 1].sideband = true;
	r->plan = (struct event_plan){ .defs = r->defs, .nr = nr, .sideband = nr - 1 };
	r->set.each.plan = &r->plan;
	assert_int_equal(queue_new(QUEUE_BYTES_MIN, &r->q), 0);
}

static void
take_told(struct rig *r)
{
	struct queue_message m;
	size_t n = 0;

	r->told[0] = '\0';
	for (; queue_peek(r->q, &m); queue_next(r->q)) {
		struct gap gap;

		if (m.kind == MESSAGE_NOTE) {
			assert_int_equal(m.p[m.bytes - 1], '\0');
			assert_memory_equal(m.p, NOTE, strlen(NOTE));
			n += (size_t)snprintf(r->told + n, sizeof(r->told) - n, "off%s;",
					      (const char *)m.p + strlen(NOTE));
		} else if (m.kind == MESSAGE_GAP) {
			memcpy(&gap, m.p, sizeof(gap));
			assert_int_equal(gap.cpu, GAP_CPU_ALL);
			n += (size_t)snprintf(r->told + n, sizeof(r->told) - n, "gap %d-%d;",
					      (int)(gap.from_ns - NOW),
					      gap.until_ns ? (int)(gap.until_ns - NOW) : 0);
		}
	}
}

static int
turn(struct rig *r, const char *name, bool on)
{
	r->now++;
	if (name)
		return ring_set_enable_event(&r->set, r->q, name, on, NULL, NOW + r->now,
					     &r->error);
	return ring_set_enable(&r->set, r->q, on, NULL, NOW + r->now) ? 0 : -EAGAIN;
}

/* At the time that its number is. */
static void
check(struct rig *r, const char *name, bool on, const char *told)
{
	assert_int_equal(turn(r, name, on), 0);
	take_told(r);
	assert_string_equal(r->told, told);
}

static void
test_what_is_told(void **state)
{
	struct rig r;

	(void)state;
	rig_begin(&r, 4);
	check(&r, "e1", true, "");
	check(&r, "e1", false, "off e1;");
	check(&r, "e1", false, "");
	check(&r, "e1", true, "");
	check(&r, "e1", false, ""); /* the file has it */
	check(&r, "e0", false, "off e0;");
	/* None is on: that is a gap, from the 7th to the 9th. */
	check(&r, "e2", false, "gap 7-0;");
	check(&r, "e2", false, "");
	check(&r, "e1", true, "gap 7-9;off e2;");
	assert_false(r.defs[1].off);
	assert_true(r.defs[0].off && r.defs[2].off);
	/* Another file: what is off is told in it. */
	assert_true(ring_set_gaps(&r.set, r.q));
	take_told(&r);
	assert_string_equal(r.told, "off e0 e2;");
	check(&r, NULL, true, "");
	assert_false(r.defs[0].off || r.defs[2].off);
	check(&r, NULL, false, "gap 11-0;");
	check(&r, "e0", false, "");
	/* One that was not off before is, when another one alone comes on. */
	check(&r, "e0", true, "gap 11-13;off e1;");
	check(&r, NULL, true, "");
	queue_free(r.q);
}

static void
test_what_has_no_name(void **state)
{
	struct rig r;

	(void)state;
	rig_begin(&r, 4);
	r.defs[1].member_of = 1;
	r.defs[2].attr.context_switch = 1;
	assert_int_equal(turn(&r, "e9", false), -ENOENT);
	assert_string_equal(r.error.text, "no event is called 'e9'");
	assert_int_equal(turn(&r, "e3", false), -ENOENT); /* side-band */
	assert_int_equal(turn(&r, "e1", false), -EINVAL);
	assert_non_null(strstr(r.error.text, "e1 is in the group of e0"));
	assert_int_equal(turn(&r, "e2", false), -EOPNOTSUPP);
	take_told(&r);
	assert_string_equal(r.told, "");
	for (size_t i = 0; i < r.plan.nr; i++)
		assert_false(r.defs[i].off);
	/* A leader, and another event of its name. */
	(void)strlcpy(r.defs[2].name, "e0", sizeof(r.defs[2].name));
	r.defs[2].attr.context_switch = 0;
	check(&r, "e0", false, "gap 5-0;");
	check(&r, "e0", true, "gap 5-6;");
	assert_false(r.defs[0].off || r.defs[2].off);
	queue_free(r.q);
}

/* What only counts is no other one that is on, and is not off by the name of another, or by its own. */
static void
test_what_counts(void **state)
{
	struct rig r;

	(void)state;
	rig_begin(&r, 4);
	r.defs[1].counts = r.defs[2].counts = true;
	/* One is called as the event that is sampled. */
	(void)strlcpy(r.defs[2].name, "e0", sizeof(r.defs[2].name));
	check(&r, "e0", false, "gap 1-0;");
	check(&r, "e0", true, "gap 1-2;");
	check(&r, NULL, false, "gap 3-0;");
	check(&r, "e0", true, "gap 3-4;");
	assert_int_equal(turn(&r, "e1", false), -EOPNOTSUPP);
	assert_non_null(strstr(r.error.text, "e1 is counted"));
	take_told(&r);
	assert_string_equal(r.told, "");
	for (size_t i = 0; i < r.plan.nr; i++)
		assert_false(r.defs[i].off);
	queue_free(r.q);
}

/* Where the queue has no room, it is asked again, and nothing is told twice or left out. */
static void
test_no_room(void **state)
{
	struct rig r;

	(void)state;
	rig_begin(&r, 3);
	while (queue_send(r.q, MESSAGE_PASS, 0, 0))
		;
	assert_int_equal(turn(&r, "e0", false), -EAGAIN);
	take_told(&r);
	check(&r, "e0", false, "off e0;");
	while (queue_send(r.q, MESSAGE_PASS, 0, 0))
		;
	assert_int_equal(turn(&r, "e1", false), -EAGAIN);
	take_told(&r);
	check(&r, "e1", false, "gap 4-0;");
	while (queue_send(r.q, MESSAGE_PASS, 0, 0))
		;
	assert_int_equal(turn(&r, "e0", true), -EAGAIN);
	take_told(&r);
	check(&r, "e0", true, "gap 4-6;off e1;");
	queue_free(r.q);
}

/* Of many, as many as a line has room for are named. */
static void
test_many(void **state)
{
	struct rig r;
	size_t named = 0, more;

	(void)state;
	rig_begin(&r, EVENTS);
	for (size_t i = 0; i < EVENTS; i++)
		memset(r.defs[i].name + strlen(r.defs[i].name), 'x', 40);
	assert_int_equal(turn(&r, NULL, false), 0);
	assert_int_equal(turn(&r, r.defs[3].name, true), 0);
	take_told(&r);
	for (const char *s = r.told; (s = strstr(s, "xxx ")); s += 4)
		named++;
	assert_non_null(strstr(r.told, " and "));
	assert_int_equal(sscanf(strstr(r.told, " and "), " and %zu more;", &more), 1);
	assert_int_equal(named + more, EVENTS - 2);
	assert_uint_in_range(named, 5, 20);
	queue_free(r.q);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_told), cmocka_unit_test(test_what_has_no_name),
		cmocka_unit_test(test_what_counts),  cmocka_unit_test(test_no_room),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
