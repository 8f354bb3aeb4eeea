/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The reader of rings that are written backward, against a ring in memory that we play the kernel of. */
#include "recorder/ring/back_ring.h"

#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format/record/perf_record.h"

#define SIZE 4096u
#define LARGE (512u << 10)
#define SECOND UINT64_C(1000000000)

struct fake {
	struct perf_event_mmap_page page;
	uint8_t *data;
	uint64_t size;
	struct back_ring ring;
	uint64_t corrupt;
	uint8_t to[BACK_RING_PIECE_MAX];
};

static struct fake *
fake_new(uint64_t size)
{
	struct fake *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->size = size;
	f->data = malloc(size);
	assert_non_null(f->data);
	memset(f->data, 0xee, size);
	assert_int_equal(back_ring_init(&f->ring, &f->page, f->data, size), 0);
	return f;
}

static void
fake_free(struct fake *f)
{
	back_ring_done(&f->ring);
	free(f->data);
	free(f);
}

/* As perf_output_begin_backward(): the head goes down, and the record stands at it. */
static void
put(struct fake *f, uint16_t bytes, uint32_t number)
{
	uint64_t head = f->page.data_head - bytes;
	uint8_t record[PERF_RECORD_MAX_BYTES + 1];

	for (size_t i = 0; i < bytes; i++)
		record[i] = (uint8_t)(number * 7 + i);
	le32enc(record, number);
	le16enc(record + 4, 0);
	le16enc(record + 6, bytes);
	for (size_t i = 0; i < bytes; i++)
		f->data[(head + i) & (f->size - 1)] = record[i];
	__atomic_store_n(&f->page.data_head, head, __ATOMIC_RELEASE);
}

/* All that is read is these records, in this order. */
static void
check(struct fake *f, uint32_t first, uint32_t end, uint16_t (*bytes_of)(uint32_t number))
{
	uint32_t number = first;
	size_t n;

	while ((n = back_ring_read(&f->ring, f->to, &f->corrupt))) {
		assert_in_range(n, 8, BACK_RING_PIECE_MAX);
		for (size_t at = 0; at < n; number++) {
			uint16_t bytes = bytes_of(number);

			assert_int_equal(le32dec(f->to + at), number);
			assert_int_equal(le16dec(f->to + at + 6), bytes);
			for (size_t i = 8; i < bytes; i++)
				assert_int_equal(f->to[at + i], (uint8_t)(number * 7 + i));
			at += bytes;
			assert_true(at <= n);
		}
	}
	assert_int_equal(number, end);
}

static uint16_t
of_64(uint32_t number)
{
	(void)number;
	return 64;
}

static uint16_t
of_any(uint32_t number)
{
	static const uint16_t sizes[] = { 8, 16, 48, 256, 1000, 24, 1096 };

	return sizes[number % 7];
}

/* One in a while is as long as a record can be. */
static uint16_t
of_long(uint32_t number)
{
	return number % 5 == 4 ? 65528 : 40;
}

static void
test_empty(void **state)
{
	struct fake *f = fake_new(SIZE);

	back_ring_begin(&f->ring, false, &f->corrupt);
	assert_int_equal(back_ring_read(&f->ring, f->to, &f->corrupt), 0);
	back_ring_end(&f->ring, SECOND);
	back_ring_begin(&f->ring, true, &f->corrupt);
	assert_int_equal(back_ring_read(&f->ring, f->to, &f->corrupt), 0);
	assert_int_equal(f->corrupt, 0);
	fake_free(f);
}

/* The first that is whole within the ring, of those up to end. */
static uint32_t
first_whole(uint64_t size, uint32_t end, uint16_t (*bytes_of)(uint32_t number))
{
	uint64_t bytes = 0;

	while (end > 0 && bytes + bytes_of(end - 1) <= size)
		bytes += bytes_of(--end);
	return end;
}

static void
read_each(uint64_t size, uint32_t max, uint16_t (*bytes_of)(uint32_t number))
{
	struct fake *f = fake_new(size);

	for (uint32_t end = 1; end < max; end++) {
		put(f, bytes_of(end - 1), end - 1);
		back_ring_begin(&f->ring, true, &f->corrupt);
		check(f, first_whole(size, end, bytes_of), end, bytes_of);
		assert_int_equal(f->corrupt, 0);
	}
	fake_free(f);
}

/* After each record, from a ring that never wrapped to one that has wrapped several times. */
static void
test_last_records(void **state)
{
	read_each(SIZE, 300, of_64);
	read_each(SIZE, 300, of_any);
	read_each(LARGE, 90, of_long);
}

/* Each record is in one reading, or was overwritten. */
static void
test_readings(void **state)
{
	static const uint32_t counts[] = { 1, 0, 5, 63, 64, 0, 65, 200, 3 };
	struct fake *f = fake_new(SIZE);
	uint32_t number = 0, first;

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		first = counts[i] > SIZE / 64 ? number + counts[i] - SIZE / 64 : number;
		for (uint32_t k = 0; k < counts[i]; k++)
			put(f, 64, number++);
		back_ring_begin(&f->ring, false, &f->corrupt);
		check(f, first, number, of_64);
		back_ring_end(&f->ring, 0);
	}
	/* Again: whatever was read. */
	back_ring_begin(&f->ring, true, &f->corrupt);
	check(f, number - SIZE / 64, number, of_64);
	assert_int_equal(f->corrupt, 0);
	fake_free(f);
}

/* A length that no record has: newer ones are there, older ones out of reach, and told. */
static void
test_hostile_lengths(void **state)
{
	static const uint16_t lengths[] = { 0, 4, 7, 12, 63, 65535 };

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		struct fake *f = fake_new(SIZE);

		for (uint32_t k = 0; k < 20; k++)
			put(f, 64, k);
		le16enc(f->data + SIZE - 11 * 64 + 6, lengths[i]); /* number 10 */
		back_ring_begin(&f->ring, false, &f->corrupt);
		check(f, 11, 20, of_64);
		assert_int_equal(f->corrupt, 11 * 64);
		fake_free(f);
	}
}

/* One that is longer than what was ever written is no record that was overwritten in part. */
static void
test_too_long(void **state)
{
	struct fake *f = fake_new(SIZE);

	put(f, 64, 0);
	put(f, 64, 1);
	le16enc(f->data + SIZE - 64 + 6, 72);
	back_ring_begin(&f->ring, false, &f->corrupt);
	check(f, 1, 2, of_64);
	assert_int_equal(f->corrupt, 64);
	fake_free(f);
}

static void
test_odd_head(void **state)
{
	struct fake *f = fake_new(SIZE);

	put(f, 64, 0);
	f->page.data_head -= 4;
	back_ring_begin(&f->ring, false, &f->corrupt);
	assert_int_equal(back_ring_read(&f->ring, f->to, &f->corrupt), 0);
	assert_int_equal(f->corrupt, 68);
	/* Above where it began: more than there can be. */
	f->page.data_head = 8;
	back_ring_begin(&f->ring, false, &f->corrupt);
	while (back_ring_read(&f->ring, f->to, &f->corrupt))
		;
	fake_free(f);
}

/* What the kernel had begun before the pause is written while the ring is read: over the oldest ones. */
static void
test_overwritten_meanwhile(void **state)
{
	for (uint32_t more = 0; more < 70; more++) {
		struct fake *f = fake_new(SIZE);

		for (uint32_t k = 0; k < 100; k++)
			put(f, 64, k);
		back_ring_begin(&f->ring, false, &f->corrupt);
		for (uint32_t k = 0; k < more; k++)
			put(f, 64, 100 + k);
		check(f, more < 64 ? 36 + more : 100, 100, of_64);
		assert_int_equal(f->corrupt, 0);
		fake_free(f);
	}
}

/* The same, and lengths are others by then. */
static void
test_changed_meanwhile(void **state)
{
	struct fake *f = fake_new(SIZE);

	for (uint32_t k = 0; k < 64; k++)
		put(f, 64, k);
	back_ring_begin(&f->ring, false, &f->corrupt);
	le16enc(f->data + SIZE - 11 * 64 + 6, 0);
	check(f, 11, 64, of_64);
	assert_int_equal(f->corrupt, 11 * 64);
	fake_free(f);
}

/* Never later than the oldest record that is there; and not by much more than a part of the ring. */
static void
test_since(void **state)
{
	struct fake *f = fake_new(SIZE);

	for (uint32_t k = 0; k < 1000; k++) {
		uint64_t oldest = k < 64 ? 0 : k - 63;

		back_ring_pass(&f->ring, (k + 1) * SECOND);
		put(f, 64, k);
		back_ring_pass(&f->ring, (k + 1) * SECOND + SECOND / 2);
		/* Record k came between k + 1 and k + 1.5. */
		assert_true(back_ring_since_ns(&f->ring) <= (oldest + 1) * SECOND + SECOND / 2);
		if (k < 63)
			assert_int_equal(back_ring_since_ns(&f->ring), 0);
		if (k > 80)
			assert_true(back_ring_since_ns(&f->ring) >= (oldest - 8) * SECOND);
	}
	back_ring_begin(&f->ring, false, &f->corrupt);
	back_ring_end(&f->ring, 2000 * SECOND);
	assert_int_equal(back_ring_since_ns(&f->ring), 2000 * SECOND);
	fake_free(f);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_last_records),
		cmocka_unit_test(test_readings),
		cmocka_unit_test(test_hostile_lengths),
		cmocka_unit_test(test_too_long),
		cmocka_unit_test(test_odd_head),
		cmocka_unit_test(test_overwritten_meanwhile),
		cmocka_unit_test(test_changed_meanwhile),
		cmocka_unit_test(test_since),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
