/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The reader of an AUX area against memory that we play the kernel and the tracer of. */
#include "recorder/ring/aux_ring.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#define SIZE 1024u

struct fake {
	struct perf_event_mmap_page page;
	uint8_t data[SIZE];
	struct aux_ring ring;
	uint64_t lost;
};

/* What stands at a place of the stream, also where its 64 bits come round; never 0. */
static uint8_t
byte_at(uint64_t place)
{
	return (uint8_t)(place * UINT64_C(0x9e3779b97f4a7c15) >> 56 | 1);
}

static void
fake_init(struct fake *f, uint64_t at, bool snapshot)
{
	memset(f, 0, sizeof(*f));
	f->page.aux_head = f->page.aux_tail = at;
	aux_ring_init(&f->ring, &f->page, f->data, SIZE, snapshot);
}

/* counts_on: the head is that of the stream, else a place in the area. */
static void
trace(struct fake *f, uint64_t from, uint64_t n, bool counts_on)
{
	for (uint64_t i = 0; i < n; i++)
		f->data[(from + i) % SIZE] = byte_at(from + i);
	__atomic_store_n(&f->page.aux_head, counts_on ? from + n : (from + n) % SIZE,
			 __ATOMIC_RELEASE);
}

/* Takes n bytes, which are to be those of the stream from there on. */
static void
take(struct fake *f, size_t n, uint64_t from, uint64_t told)
{
	uint8_t got[SIZE + 1];
	uint64_t offset;

	got[n] = 0xa5;
	aux_ring_copy(&f->ring, got, n, &offset);
	assert_int_equal(got[n], 0xa5);
	assert_int_equal(offset, told);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(got[i], byte_at(from + i));
	aux_ring_consume(&f->ring, n);
}

/* From every place, also those where the 64 bits come round: whole words, and at the end all. */
static void
test_wrap(void **state)
{
	static const uint64_t begins[] = { 0, 8, SIZE - 8, SIZE, UINT64_MAX - 15 };

	for (size_t k = 0; k < sizeof(begins) / sizeof(begins[0]); k++) {
		uint64_t at = begins[k];
		struct fake f;

		fake_init(&f, at, false);
		assert_int_equal(aux_ring_pending(&f.ring, true, &f.lost), 0);
		for (unsigned i = 0; i < 20; i++, at += 104) {
			trace(&f, at, 109, true);
			assert_int_equal(aux_ring_pending(&f.ring, false, &f.lost), 104);
			take(&f, 40, at, at);
			assert_int_equal(f.page.aux_tail, at + 40);
			assert_int_equal(aux_ring_pending(&f.ring, false, &f.lost), 64);
			take(&f, 64, at + 40, at + 40);
		}
		assert_int_equal(aux_ring_pending(&f.ring, false, &f.lost), 0);
		assert_int_equal(aux_ring_pending(&f.ring, true, &f.lost), 5);
		take(&f, 5, at, at);
		trace(&f, at + 5, SIZE, true);
		assert_int_equal(aux_ring_pending(&f.ring, true, &f.lost), SIZE);
		take(&f, SIZE, at + 5, at + 5);
		assert_int_equal(f.page.aux_tail, f.page.aux_head);
		assert_int_equal(f.lost, 0);
	}
}

/* What no kernel says costs what was there, and nothing after it. */
static void
test_hostile(void **state)
{
	static const uint64_t heads[] = { 64 + SIZE + 1, 63, 0, UINT64_MAX, UINT64_C(1) << 63 };

	for (size_t k = 0; k < sizeof(heads) / sizeof(heads[0]); k++) {
		uint64_t head = heads[k], at = head & ~UINT64_C(7);
		struct fake f;

		fake_init(&f, 64, false);
		/* The tail in the page is anybody's; ours is what counts. */
		f.page.aux_tail = 1;
		f.page.aux_head = head;
		assert_int_equal(aux_ring_pending(&f.ring, k % 2, &f.lost), 0);
		assert_int_equal(f.lost, SIZE);
		assert_int_equal(f.page.aux_tail, at);
		trace(&f, at, 16, true);
		assert_int_equal(aux_ring_pending(&f.ring, false, &f.lost), 16);
		take(&f, 16, at, at);
		assert_int_equal(f.lost, SIZE);
	}
}

static void
test_mark(void **state)
{
	struct aux_ring none = { 0 };
	struct fake f;

	fake_init(&f, 0, false);
	trace(&f, 0, 30, true);
	aux_ring_mark(&f.ring);
	trace(&f, 30, 30, true);
	assert_false(aux_ring_passed(&f.ring));
	aux_ring_consume(&f.ring, 16);
	assert_false(aux_ring_passed(&f.ring));
	/* What is no whole word is not waited for: it may never be one. */
	aux_ring_consume(&f.ring, 8);
	assert_true(aux_ring_passed(&f.ring));
	aux_ring_mark(&none);
	assert_true(aux_ring_passed(&none));
}

/* Of heads of both kinds, before and after they came round; taken in two pieces. */
static void
test_snapshot(void **state)
{
	static const uint64_t written[] = {
		1, 500, SIZE - 8, SIZE, SIZE + 1, 3 * SIZE, 5 * SIZE - 3
	};

	for (size_t k = 0; k < 2 * sizeof(written) / sizeof(written[0]); k++) {
		uint64_t n = written[k / 2], there = n < SIZE ? n : SIZE;
		bool counts_on = k % 2;
		uint64_t told = n - there;
		struct fake f;

		if (!counts_on)
			told %= SIZE;
		fake_init(&f, 0, true);
		for (uint64_t i = 0; i < n; i++)
			trace(&f, i, 1, counts_on);
		aux_ring_mark(&f.ring);
		assert_true(aux_ring_passed(&f.ring));
		/* While the tracer is on there is nothing to read. */
		assert_int_equal(aux_ring_pending(&f.ring, true, &f.lost), 0);
		aux_ring_stop(&f.ring, 0);
		assert_false(aux_ring_passed(&f.ring));
		assert_int_equal(aux_ring_pending(&f.ring, true, &f.lost), there);
		take(&f, there / 3, n - there, told);
		assert_int_equal(aux_ring_pending(&f.ring, true, &f.lost), there - there / 3);
		take(&f, there - there / 3, n - there + there / 3, told + there / 3);
		assert_int_equal(aux_ring_pending(&f.ring, true, &f.lost), 0);
		/* Nobody but the kernel writes into the page of such an area. */
		assert_int_equal(f.page.aux_tail, 0);
		assert_int_equal(f.lost, 0);
	}
}

/* Stops it, and takes what there is: that of the stream from there up to there. */
static void
take_snapshot(struct fake *f, uint64_t from, uint64_t until, uint64_t told)
{
	aux_ring_stop(&f->ring, 0);
	assert_int_equal(aux_ring_pending(&f->ring, true, &f->lost), until - from);
	if (until > from)
		take(f, (size_t)(until - from), from, told);
	assert_true(aux_ring_passed(&f->ring));
}

/* One after another: each has what is new, as far as the head tells it, and all of an area that came round. */
static void
test_snapshots(void **state)
{
	for (int counts_on = 0; counts_on < 2; counts_on++) {
		struct fake f;

		fake_init(&f, 0, true);
		take_snapshot(&f, 0, 0, 0);
		trace(&f, 0, 300, counts_on);
		take_snapshot(&f, 0, 300, 0);
		take_snapshot(&f, 300, 300, 300);
		trace(&f, 300, 500, counts_on);
		take_snapshot(&f, 300, 800, 300);
		/* Round, and less than once round: of a place in the area nobody knows which. */
		trace(&f, 800, 400, counts_on);
		if (counts_on)
			take_snapshot(&f, 800, 1200, 800);
		else
			take_snapshot(&f, 1200 - SIZE, 1200, 1200 - SIZE);
		trace(&f, 1200, 3 * SIZE, counts_on);
		take_snapshot(&f, 1200 + 2 * SIZE, 1200 + 3 * SIZE,
			      counts_on ? 1200 + 2 * SIZE : 1200 - SIZE);
		assert_int_equal(f.lost, 0);
	}
}

/* No more than was asked for, the last of it, from a place that cuts no frame or packet in two. */
static void
test_limit(void **state)
{
	struct fake f;

	fake_init(&f, 0, true);
	trace(&f, 0, 300, false);
	aux_ring_stop(&f.ring, 100);
	assert_int_equal(aux_ring_pending(&f.ring, true, &f.lost), 300 - 256);
	take(&f, 300 - 256, 256, 256);
	trace(&f, 300, 60, false);
	/* All that is new: it begins where the one before ended. */
	aux_ring_stop(&f.ring, 100);
	assert_int_equal(aux_ring_pending(&f.ring, true, &f.lost), 60);
	take(&f, 60, 300, 300);
	trace(&f, 360, SIZE, false);
	aux_ring_stop(&f.ring, 500);
	assert_int_equal(aux_ring_pending(&f.ring, true, &f.lost), 360 + SIZE - 896);
	take(&f, 360 + SIZE - 896, 896, 896);
	aux_ring_stop(&f.ring, 500);
	assert_int_equal(aux_ring_pending(&f.ring, true, &f.lost), 360 + SIZE - 896);
	/* A place where one may begin is not passed over. */
	aux_ring_stop(&f.ring, 360 + SIZE - 896);
	assert_int_equal(aux_ring_pending(&f.ring, true, &f.lost), 360 + SIZE - 896);
	/* Between that and the end there is none. */
	aux_ring_stop(&f.ring, 39);
	assert_int_equal(aux_ring_pending(&f.ring, true, &f.lost), 0);
	aux_ring_stop(&f.ring, 40);
	assert_int_equal(aux_ring_pending(&f.ring, true, &f.lost), 40);
	assert_int_equal(f.lost, 0);
}

/* The page says where it is to be, and an error leaves nothing. */
static void
test_map(void **state)
{
	uint64_t page_size = (uint64_t)sysconf(_SC_PAGESIZE);
	struct perf_event_mmap_page page = { 0 };
	int fd = memfd_create("aux", MFD_CLOEXEC);
	struct aux_ring a = { 0 };

	assert_int_equal(ftruncate(fd, (off_t)(9 * page_size)), 0);
	assert_int_equal(pwrite(fd, "trace", 5, (off_t)(5 * page_size)), 5);
	assert_int_equal(aux_ring_map(&a, fd, &page, 4, 4, false), 0);
	assert_int_equal(page.aux_offset, 5 * page_size);
	assert_int_equal(page.aux_size, 4 * page_size);
	assert_memory_equal(a.data, "trace", 5);
	aux_ring_unmap(&a);
	assert_null(a.page);
	close(fd);
	fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	assert_int_equal(aux_ring_map(&a, fd, &page, 4, 4, true), -ENODEV);
	assert_null(a.page);
	aux_ring_unmap(&a);
	close(fd);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wrap),	  cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_mark),	  cmocka_unit_test(test_snapshot),
		cmocka_unit_test(test_snapshots), cmocka_unit_test(test_limit),
		cmocka_unit_test(test_map),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
