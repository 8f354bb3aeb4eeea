/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/ground/queue.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

static void
put(struct queue *q, uint32_t n, size_t bytes)
{
	uint8_t *p = queue_reserve(q, bytes);

	assert_non_null(p);
	memset(p, (int)n, bytes);
	queue_commit(q, n, n, bytes, bytes);
}

static void
check(struct queue *q, uint32_t n)
{
	struct queue_message m;

	assert_true(queue_peek(q, &m));
	assert_int_equal(m.kind, n);
	assert_int_equal(m.a, n);
	assert_int_equal(m.b, m.bytes);
	for (size_t i = 0; i < m.bytes; i++)
		assert_int_equal(m.p[i], (uint8_t)n);
	queue_next(q);
}

static void
test_order(void **state)
{
	struct queue_message m;
	struct queue *q;

	assert_int_equal(queue_new(0, &q), 0);
	assert_false(queue_peek(q, &m));
	for (uint32_t i = 0; i < 100; i++)
		put(q, i, i * 37);
	for (uint32_t i = 0; i < 100; i++)
		check(q, i);
	assert_false(queue_peek(q, &m));
	queue_free(q);
}

static void
test_full_is_refused(void **state)
{
	static const uint8_t large[QUEUE_MESSAGE_MAX / 2];
	struct queue_message m;
	struct queue *q;
	uint32_t n = 0;

	assert_int_equal(queue_new(QUEUE_BYTES_MIN, &q), 0);
	while (queue_reserve(q, QUEUE_MESSAGE_MAX / 2))
		put(q, n++, QUEUE_MESSAGE_MAX / 2);
	assert_uint_in_range(n, 4, 8);
	assert_false(queue_send_bytes(q, n, large, sizeof(large)));
	/* What has been sent is not touched, and as soon as one is read there is room. */
	check(q, 0);
	put(q, n, QUEUE_MESSAGE_MAX / 2);
	for (uint32_t i = 1; i <= n; i++)
		check(q, i);
	assert_false(queue_peek(q, &m));
	queue_free(q);
}

/* Small ones fill it to the last byte: none of them is written over. */
static void
test_full_to_the_byte(void **state)
{
	struct queue_message m;
	struct queue *q;
	uint32_t n = 0;

	(void)state;
	assert_int_equal(queue_new(QUEUE_BYTES_MIN, &q), 0);
	while (queue_reserve(q, 32))
		put(q, n++, 32);
	assert_uint_in_range(n, 1000, UINT32_MAX);
	for (uint32_t i = 0; i < n; i++)
		check(q, i);
	assert_false(queue_peek(q, &m));
	queue_free(q);
}

static void
test_reserve_without_commit(void **state)
{
	struct queue_message m;
	struct queue *q;

	assert_int_equal(queue_new(0, &q), 0);
	assert_non_null(queue_reserve(q, 1000));
	assert_false(queue_peek(q, &m));
	put(q, 3, 10);
	check(q, 3);
	assert_true(queue_send(q, 9, 1, 2));
	assert_true(queue_peek(q, &m));
	assert_int_equal(m.kind, 9);
	assert_int_equal(m.bytes, 0);
	assert_int_equal(m.b, 2);
	queue_next(q);
	assert_true(queue_send_bytes(q, 7, "abc", 3));
	assert_true(queue_peek(q, &m));
	assert_int_equal(m.kind, 7);
	assert_int_equal(m.bytes, 3);
	assert_memory_equal(m.p, "abc", 3);
	queue_free(q);
}

/* Ever the same few, many times round, also after starting again at the front. */
static void
test_round_and_round(void **state)
{
	static const size_t sizes[] = { 0, 1, 31, 32, 33, 4096, 100000, QUEUE_MESSAGE_MAX };
	struct queue *q;

	for (size_t bytes = QUEUE_BYTES_MIN; bytes <= 4 * QUEUE_BYTES_MIN; bytes *= 2) {
		assert_int_equal(queue_new(bytes, &q), 0);
		for (uint32_t i = 0; i < 2000; i++) {
			put(q, i, sizes[i * 7 % 8]);
			if (i > 0)
				check(q, i - 1);
			if (i % 50 == 0) {
				check(q, i);
				put(q, i, 8);
			}
		}
		queue_free(q);
	}
}

static bool
has_memory(const uint8_t *p)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	unsigned char here;

	assert_int_equal(mincore((void *)((uintptr_t)p & ~(page - 1)), page, &here), 0);
	return here & 1;
}

/* One lap, of which everything is read at once. */
static void
lap_calmly(struct queue *q, const uint8_t *front)
{
	do {
		put(q, 1, 1000);
		check(q, 1);
	} while (queue_reserve(q, 0) != front);
}

/*
 * The memory of a burst stays while there may be another one, since clearing pages anew for each
 * costs more than all else; and is given back when there was none for some time.
 */
static void
test_memory_of_bursts(void **state)
{
	const uint8_t *front, *far = NULL;
	struct queue *q;

	assert_int_equal(queue_new(16u << 20, &q), 0);
	front = queue_reserve(q, 0);
	for (int burst = 0; burst < 3; burst++) {
		put(q, 1, 1000);
		check(q, 1);
		for (uint32_t i = 0; i < 10 << 10; i++) {
			far = queue_reserve(q, 1000);
			put(q, i, 1000);
		}
		for (uint32_t i = 0; i < 10 << 10; i++)
			check(q, i);
		assert_true(has_memory(far));
		lap_calmly(q, front);
		lap_calmly(q, front);
		assert_true(has_memory(far));
	}
	for (int lap = 0; lap < 4; lap++)
		lap_calmly(q, front);
	assert_false(has_memory(far));
	assert_true(has_memory(front));
	queue_free(q);
}

/* A lap that has just begun has room for a sixteenth, before the consumer comes to it. */
static void
test_room_of_a_new_lap(void **state)
{
	const size_t size = 64u << 20, message = 200u << 10;
	const uint8_t *front;
	struct queue *q;
	size_t n = 0;

	assert_int_equal(queue_new(size, &q), 0);
	front = queue_reserve(q, 0);
	lap_calmly(q, front);
	while (queue_reserve(q, message)) {
		put(q, 1, message);
		n++;
	}
	assert_true(n * message >= size / 16 - message);
	queue_free(q);
}

#define MESSAGES 100000u

static size_t
size_of(uint32_t i)
{
	return (i * 2654435761u >> 12) % 3000;
}

static void *
producer(void *arg)
{
	struct queue *q = arg;

	for (uint32_t i = 0; i < MESSAGES; i++) {
		size_t n = size_of(i);
		uint8_t *p;

		while (!(p = queue_reserve(q, n)))
			sched_yield();
		memset(p, (int)(i & 0xff), n);
		queue_commit(q, i, ~(uint64_t)i, n, n);
		if (i % 3 == 0 || i == MESSAGES - 1)
			queue_wake(q);
		if (i % 1000 == 0)
			sched_yield();
	}
	return NULL;
}

static void
test_threads(void **state)
{
	struct queue *q;
	pthread_t thread;

	assert_int_equal(queue_new(QUEUE_BYTES_MIN, &q), 0);
	assert_int_equal(pthread_create(&thread, NULL, producer, q), 0);
	for (uint32_t i = 0; i < MESSAGES;) {
		struct queue_message m;

		if (!queue_peek(q, &m)) {
			queue_wait(q, -1);
			continue;
		}
		assert_int_equal(m.kind, i);
		assert_true(m.a == ~(uint64_t)i);
		assert_int_equal(m.bytes, size_of(i));
		if (m.bytes) {
			assert_int_equal(m.p[0], i & 0xff);
			assert_int_equal(m.p[m.bytes - 1], i & 0xff);
		}
		queue_next(q);
		i++;
	}
	pthread_join(thread, NULL);
	queue_free(q);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_full_is_refused),
		cmocka_unit_test(test_full_to_the_byte),
		cmocka_unit_test(test_reserve_without_commit),
		cmocka_unit_test(test_round_and_round),
		cmocka_unit_test(test_room_of_a_new_lap),
		cmocka_unit_test(test_memory_of_bursts),
		cmocka_unit_test(test_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
