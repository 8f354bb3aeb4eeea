/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The pass over rings that we play the kernel of. */
#include "recorder/ring_set.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <setjmp.h>
#include <cmocka.h>

#include "format/perf_record.h"

#define RING (2u * QUEUE_BYTES_MIN)
#define RECORD 64u
#define NOW UINT64_C(1000000000000)

struct rig {
	struct perf_event_mmap_page page;
	uint8_t *data;
	struct cpu_rings cpu;
	struct ring_set set;
	struct queue *q;
};

static void
rig_begin(struct rig *r)
{
	memset(r, 0, sizeof(*r));
	r->data = calloc(1, RING);
	assert_non_null(r->data);
	for (size_t at = 0; at < RING; at += RECORD) {
		le32enc(r->data + at, PERF_RECORD_SAMPLE);
		le16enc(r->data + at + 6, RECORD);
	}
	ring_init(&r->cpu.samples, &r->page, r->data, RING);
	r->set = (struct ring_set){ .cpus = &r->cpu, .nr = 1, .last_pass_ns = NOW };
	assert_int_equal(queue_new(QUEUE_BYTES_MIN, &r->q), 0);
}

static void
rig_end(struct rig *r)
{
	queue_free(r->q);
	free(r->data);
}

static void *
wait_once(void *arg)
{
	queue_wait(arg, -1);
	return NULL;
}

/* Takes all messages; bytes of records. */
static uint64_t
take_all(struct queue *q)
{
	struct queue_message m;
	uint64_t bytes = 0;

	for (; queue_peek(q, &m); queue_next(q))
		bytes += m.bytes >= RECORD ? m.bytes : 0;
	return bytes;
}

/*
 * More than the queue has room for, with the writer asleep: what went into the queue is counted,
 * and it wakes the writer, who alone can make room for the rest.
 */
static void
test_queue_full_in_the_middle(void **state)
{
	struct timespec soon;
	pthread_t writer;
	struct rig r;
	uint64_t got;

	rig_begin(&r);
	assert_int_equal(pthread_create(&writer, NULL, wait_once, r.q), 0);
	/* Asleep, or about to be: a wake-up for what is there does not get lost in either case. */
	nanosleep(&(struct timespec){ .tv_nsec = 100000000 }, NULL);
	__atomic_store_n(&r.page.data_head, RING, __ATOMIC_RELEASE);
	assert_false(ring_set_pass(&r.set, r.q, NOW + 1, false));
	assert_int_equal(r.cpu.queue_full, 1);
	clock_gettime(CLOCK_REALTIME, &soon);
	soon.tv_sec += 5;
	assert_int_equal(pthread_timedjoin_np(writer, NULL, &soon), 0);
	got = take_all(r.q);
	assert_uint_in_range(got, RING / 4, RING - RECORD);
	assert_int_equal(r.set.fullest, got);
	assert_int_equal(r.page.data_tail, got);
	while (!ring_set_pass(&r.set, r.q, NOW + 2, false))
		got += take_all(r.q);
	got += take_all(r.q);
	assert_int_equal(got, RING);
	rig_end(&r);
}

/* Nothing came: the writer is left alone until it is time to tell it so. */
static void
test_nothing_came(void **state)
{
	struct queue_message m;
	struct rig r;

	rig_begin(&r);
	assert_true(ring_set_pass(&r.set, r.q, NOW + 1, false));
	assert_false(queue_peek(r.q, &m));
	assert_int_equal(r.set.fullest, 0);
	assert_true(ring_set_pass(&r.set, r.q, NOW + 1, true));
	assert_true(queue_peek(r.q, &m));
	rig_end(&r);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_queue_full_in_the_middle),
		cmocka_unit_test(test_nothing_came),
	};

	return cmocka_run_group_tests_name("ring_set", tests, NULL, NULL);
}
