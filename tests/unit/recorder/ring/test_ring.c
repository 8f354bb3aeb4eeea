/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The reader of rings against a ring in memory that we play the kernel of. */
#include "recorder/ring/ring.h"

#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "format/record/perf_record.h"

#define SIZE 4096u
#define MAX ((size_t)1 << 20)

struct fake {
	struct perf_event_mmap_page page;
	uint8_t data[SIZE];
	struct ring ring;
	uint64_t corrupt;
};

static void
fake_init(struct fake *f, uint64_t at)
{
	memset(f, 0xee, sizeof(*f));
	f->page.data_head = f->page.data_tail = at;
	f->corrupt = 0;
	ring_init(&f->ring, &f->page, f->data, SIZE);
}

static void
put_bytes(struct fake *f, uint64_t at, const void *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		f->data[(at + i) % SIZE] = ((const uint8_t *)p)[i];
}

/* A record whose bytes tell where they belong; size is what its header claims. */
static void
put_record_claiming(struct fake *f, uint16_t bytes, uint16_t claimed, uint32_t type)
{
	uint8_t record[PERF_RECORD_MAX_BYTES + 1];
	uint64_t head = f->page.data_head;

	for (size_t i = 0; i < bytes; i++)
		record[i] = (uint8_t)(type * 7 + i);
	le32enc(record, type);
	le16enc(record + 4, 0);
	le16enc(record + 6, claimed);
	put_bytes(f, head, record, bytes);
	__atomic_store_n(&f->page.data_head, head + bytes, __ATOMIC_RELEASE);
}

static void
put_record(struct fake *f, uint16_t bytes, uint32_t type)
{
	put_record_claiming(f, bytes, bytes, type);
}

static void
check_record(const uint8_t *p, uint16_t bytes, uint32_t type)
{
	assert_int_equal(le32dec(p), type);
	assert_int_equal(le16dec(p + 6), bytes);
	for (size_t i = 8; i < bytes; i++)
		assert_int_equal(p[i], (uint8_t)(type * 7 + i));
}

static size_t
put_whole(void *arg, uint8_t *to, const uint8_t *record, size_t len)
{
	memmove(to, record, len);
	return len;
}

static size_t
read_one_way(struct fake *f, size_t max, uint8_t *to)
{
	size_t n = ring_read(&f->ring, to, max, &f->corrupt);

	assert_true(n <= max);
	ring_consume(&f->ring, n);
	assert_int_equal(f->page.data_tail, f->ring.tail);
	return n;
}

/* Both ways of reading have the same to say. */
static size_t
read_all(struct fake *f, size_t max, uint8_t *to)
{
	struct perf_event_mmap_page page = f->page;
	struct ring ring = f->ring;
	uint64_t corrupt = f->corrupt;
	uint8_t each[SIZE];
	size_t n, taken;

	ring.page = &page;
	n = ring_read_each(&ring, each, max, put_whole, NULL, &taken, &corrupt);
	assert_int_equal(taken, n);
	ring_consume(&ring, n);
	assert_int_equal(read_one_way(f, max, to), n);
	assert_int_equal(corrupt, f->corrupt);
	assert_int_equal(ring.tail, f->ring.tail);
	assert_int_equal(ring.records, f->ring.records);
	assert_memory_equal(each, to, n);
	return n;
}

static void
test_empty(void **state)
{
	struct fake f;
	uint8_t to[SIZE];

	fake_init(&f, 0);
	assert_int_equal(read_all(&f, MAX, to), 0);
	assert_int_equal(f.corrupt, 0);
}

static void
test_wrap_at_every_offset(void **state)
{
	static const uint16_t sizes[] = { 8, 16, 48, 256, 1000 };
	struct fake f;
	uint8_t to[SIZE];

	for (uint64_t base = 0; base < 3; base++) {
		for (uint64_t at = 0; at < SIZE; at += 8) {
			/* Also where the positions go past 2^64. */
			fake_init(&f, base * SIZE + at - (base == 2 ? 4 * SIZE : 0));
			for (size_t i = 0; i < 5; i++)
				put_record(&f, sizes[i], (uint32_t)i);
			assert_int_equal(read_all(&f, MAX, to), 1328);
			for (size_t i = 0, o = 0; i < 5; o += sizes[i++])
				check_record(to + o, sizes[i], (uint32_t)i);
			assert_int_equal(f.page.data_tail, f.page.data_head);
			assert_int_equal(f.corrupt, 0);
		}
	}
}

static size_t
put_half(void *arg, uint8_t *to, const uint8_t *record, size_t len)
{
	memmove(to, record, len / 2);
	le16enc(to + 6, (uint16_t)(len / 2));
	++*(int *)arg;
	return len / 2;
}

/* What is left out makes room for more records, and not for more than is taken. */
static void
test_leaving_out(void **state)
{
	static const uint16_t sizes[] = { 32, 64, 512, 2048, 16 };
	struct fake f;
	uint8_t to[SIZE];
	size_t taken;

	for (uint64_t at = 0; at < SIZE; at += 8) {
		int nr = 0;

		fake_init(&f, at);
		for (uint32_t i = 0; i < 5; i++)
			put_record(&f, sizes[i], i);
		assert_int_equal(ring_read_each(&f.ring, to, 2660, put_half, &nr, &taken,
						&f.corrupt),
				 2656 / 2);
		assert_int_equal(taken, 2656);
		assert_int_equal(nr, 4);
		for (uint32_t i = 0, o = 0; i < 4; o += sizes[i++] / 2)
			check_record(to + o, sizes[i] / 2, i);
		ring_consume(&f.ring, taken);
		assert_int_equal(ring_read_each(&f.ring, to, 16, put_half, &nr, &taken, &f.corrupt),
				 8);
		assert_int_equal(taken, 16);
		assert_int_equal(f.corrupt, 0);
	}
}

static void
test_full(void **state)
{
	struct fake f;
	uint8_t to[SIZE];

	for (uint64_t at = 0; at < SIZE; at += 512) {
		fake_init(&f, at);
		for (uint32_t i = 0; i < SIZE / 64; i++)
			put_record(&f, 64, i);
		assert_int_equal(read_all(&f, MAX, to), SIZE);
		for (uint32_t i = 0; i < SIZE / 64; i++)
			check_record(to + (size_t)i * 64, 64, i);
		assert_int_equal(read_all(&f, MAX, to), 0);
	}
}

static void
test_limit(void **state)
{
	struct fake f;
	uint8_t to[SIZE];

	fake_init(&f, SIZE - 200);
	for (uint32_t i = 0; i < 10; i++)
		put_record(&f, 104, i);
	assert_int_equal(read_all(&f, 350, to), 312);
	check_record(to + 208, 104, 2);
	assert_int_equal(read_all(&f, 728, to), 728);
	check_record(to, 104, 3);
	assert_int_equal(read_all(&f, MAX, to), 0);
}

/* What comes after garbage is read again. */
static void
check_recovers(struct fake *f)
{
	uint8_t to[SIZE];

	put_record(f, 40, 99);
	assert_int_equal(read_all(f, MAX, to), 40);
	check_record(to, 40, 99);
}

static void
test_garbage_size(void **state)
{
	static const uint16_t claims[] = { 0, 1, 4, 7, 9, 12, 47, 65535, 65528, 56 };
	struct fake f;
	uint8_t to[SIZE];

	for (size_t i = 0; i < sizeof(claims) / sizeof(claims[0]); i++) {
		fake_init(&f, SIZE - 24);
		put_record_claiming(&f, 48, claims[i], 1);
		assert_int_equal(read_all(&f, MAX, to), 0);
		assert_int_equal(f.corrupt, 48);
		assert_int_equal(f.page.data_tail, f.page.data_head);
		check_recovers(&f);
	}
}

static void
test_good_before_garbage(void **state)
{
	struct fake f;
	uint8_t to[SIZE];

	fake_init(&f, SIZE - 48);
	put_record(&f, 32, 5);
	put_record(&f, 64, 6);
	put_record_claiming(&f, 16, 0, 7);
	assert_int_equal(read_all(&f, MAX, to), 96);
	check_record(to + 32, 64, 6);
	assert_int_equal(f.corrupt, 0);
	assert_int_equal(read_all(&f, MAX, to), 0);
	assert_int_equal(f.corrupt, 16);
	check_recovers(&f);
}

/* The head stands inside a record: nobody knows where the next one begins. */
static void
test_torn_head(void **state)
{
	struct fake f;
	uint8_t to[SIZE];

	for (uint64_t cut = 8; cut < 64; cut += 8) {
		fake_init(&f, SIZE - 80);
		put_record(&f, 64, 1);
		put_record(&f, 64, 2);
		f.page.data_head -= cut;
		assert_int_equal(read_all(&f, MAX, to), 64);
		assert_int_equal(read_all(&f, MAX, to), 0);
		assert_int_equal(f.corrupt, 64 - cut);
		check_recovers(&f);
	}
}

static void
test_head_not_aligned(void **state)
{
	struct fake f;
	uint8_t to[SIZE];

	for (uint64_t odd = 1; odd < 8; odd++) {
		fake_init(&f, 64);
		put_record(&f, 16, 1);
		f.page.data_head += odd;
		assert_int_equal(read_all(&f, MAX, to), 16);
		assert_int_equal(read_all(&f, MAX, to), 0);
		assert_int_equal(f.page.data_tail, 80);
	}
}

static void
test_head_too_far(void **state)
{
	static const uint64_t heads[] = { SIZE + 8, 10 * SIZE, UINT64_C(1) << 40, UINT64_MAX - 7 };
	struct fake f;
	uint8_t to[SIZE];

	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		fake_init(&f, 0);
		f.page.data_head = heads[i];
		assert_int_equal(read_all(&f, MAX, to), 0);
		assert_int_equal(f.corrupt, SIZE);
		assert_int_equal(f.page.data_tail, heads[i]);
		check_recovers(&f);
	}
}

static void
test_head_goes_back(void **state)
{
	struct fake f;
	uint8_t to[SIZE];

	fake_init(&f, 2 * SIZE);
	f.page.data_head = SIZE;
	assert_int_equal(read_all(&f, MAX, to), 0);
	assert_int_equal(f.corrupt, SIZE);
	check_recovers(&f);
}

/* --- head moves while we read ------------------------------------------------------------ */

#define MOVING 200000u

static void *
producer(void *arg)
{
	struct fake *f = arg;

	for (uint32_t i = 0; i < MOVING; i++) {
		uint16_t bytes = (uint16_t)(8 + (i * 2654435761u >> 16) % 64 * 8);

		/* Pairs with ring_consume(). */
		while (f->page.data_head + bytes -
			       __atomic_load_n(&f->page.data_tail, __ATOMIC_ACQUIRE) >
		       SIZE)
			sched_yield();
		put_record(f, bytes, i);
	}
	return NULL;
}

static void
test_moving_head(void **state)
{
	static struct fake f;
	static uint8_t to[SIZE];
	pthread_t thread;
	uint32_t next = 0;

	fake_init(&f, 0);
	assert_int_equal(pthread_create(&thread, NULL, producer, &f), 0);
	while (next < MOVING) {
		size_t n = read_one_way(&f, 2048, to);

		if (n == 0)
			sched_yield();
		for (size_t o = 0; o < n; o += le16dec(to + o + 6))
			check_record(to + o, le16dec(to + o + 6), next++);
	}
	pthread_join(thread, NULL);
	assert_int_equal(f.corrupt, 0);
}

static uint64_t
resident_bytes(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	unsigned long pages = 0;

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%*u %lu", &pages), 1);
	fclose(f);
	return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* As the kernel maps a ring: shared, its memory somebody else's. What is in it stays. */
static void
test_leave_pages(void **state)
{
	const size_t size = 16u << 20, page = (size_t)sysconf(_SC_PAGESIZE);
	int fd = memfd_create("ring", MFD_CLOEXEC);
	uint64_t before;
	struct ring r;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)(size + page)), 0);
	assert_int_equal(ring_map(&r, fd, (uint32_t)(size / page), false), 0);
	memset((uint8_t *)(void *)r.page + page, 7, size);
	before = resident_bytes();
	ring_leave_pages(&r);
	assert_true(resident_bytes() + size / 2 < before);
	for (size_t i = 0; i < size; i += page)
		assert_int_equal(r.data[i], 7);
	ring_unmap(&r);
	close(fd);
	/* One that is not ours is let alone. */
	ring_leave_pages(&r);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_wrap_at_every_offset),
		cmocka_unit_test(test_leaving_out),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_garbage_size),
		cmocka_unit_test(test_good_before_garbage),
		cmocka_unit_test(test_torn_head),
		cmocka_unit_test(test_head_not_aligned),
		cmocka_unit_test(test_head_too_far),
		cmocka_unit_test(test_head_goes_back),
		cmocka_unit_test(test_moving_head),
		cmocka_unit_test(test_leave_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
