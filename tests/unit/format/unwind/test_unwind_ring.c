/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Both sides of the ring in one process: order, wrap-around, what is full, and what either side may find there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format/unwind/unwind_ring.h"

#define STACKS 65536
#define TAKEN_AT 64 /* bytes into the memory */

static uint8_t *memory;
static struct unwind_ring recorder, unwinder;

static int
make(void **state)
{
	memory = aligned_alloc(4096, UNWIND_RING_BYTES + STACKS);
	if (memory)
		memset(memory, 0, UNWIND_RING_BYTES + STACKS);
	return memory && unwind_ring_init(&recorder, memory, UNWIND_RING_BYTES + STACKS) &&
			unwind_ring_init(&unwinder, memory, UNWIND_RING_BYTES + STACKS)
		? 0
		: -1;
}

static int
unmake(void **state)
{
	free(memory);
	return 0;
}

/* A file of that number; false: there is no room. */
static bool
put_file(uint32_t number, size_t bytes)
{
	struct unwind_file *f = unwind_ring_reserve(&recorder, UNWIND_FILE, bytes);

	if (!f)
		return false;
	f->number = number;
	unwind_ring_publish(&recorder);
	return true;
}

static uint32_t
next_number(void)
{
	struct unwind_entry *e = unwind_ring_next(&unwinder);

	if (!e)
		return 0;
	assert_int_equal(e->kind, UNWIND_FILE);
	return ((struct unwind_file *)e)->number;
}

static void
test_too_small(void **state)
{
	struct unwind_ring r;

	assert_false(unwind_ring_init(&r, memory, UNWIND_RING_BYTES));
	assert_true(unwind_ring_init(&r, memory, UNWIND_RING_BYTES + 8));
}

/* What is put in comes out, in order, over many rounds; lengths differ, so that pads do, too. */
static void
test_order(void **state)
{
	uint32_t put = 0, got = 0;
	uint64_t last = 0;

	while (recorder.head < 5 * UNWIND_RING_BYTES) {
		while (put_file(put + 1, sizeof(struct unwind_file) + put % 5000))
			put++;
		assert_true(put > got);
		while (next_number() == got + 1)
			got++;
		assert_int_equal(got, put);
		assert_true(unwind_ring_taken(&recorder) > last);
		last = unwind_ring_taken(&recorder);
		assert_int_equal(last, recorder.head);
	}
	assert_null(unwind_ring_next(&unwinder));
}

/* The entry that was taken last is not done: its place is not given away. */
static void
test_full(void **state)
{
	const size_t bytes = (recorder.bytes / 4) & ~(size_t)7;

	for (uint32_t i = 1; i <= 4; i++)
		assert_true(put_file(i, bytes));
	assert_false(put_file(5, bytes));
	assert_int_equal(next_number(), 1);
	assert_false(put_file(5, bytes));
	assert_int_equal(next_number(), 2);
	assert_true(put_file(5, bytes));
	assert_false(put_file(6, bytes));
	assert_null(unwind_ring_reserve(&recorder, UNWIND_FILE, recorder.bytes + 1));
	for (uint32_t i = 3; i <= 5; i++)
		assert_int_equal(next_number(), i);
	assert_null(unwind_ring_next(&unwinder));
	/* All of it, once nothing is in it and it stands at its beginning. */
	while (recorder.head % recorder.bytes) {
		const uint64_t rest = recorder.bytes - recorder.head % recorder.bytes;

		assert_true(put_file(7, rest < bytes ? rest : bytes));
		assert_int_equal(next_number(), 7);
		assert_null(unwind_ring_next(&unwinder));
	}
	assert_true(put_file(8, recorder.bytes));
	assert_int_equal(next_number(), 8);
}

/* Reserved and not published: nobody sees it. */
static void
test_unpublished(void **state)
{
	assert_non_null(unwind_ring_reserve(&recorder, UNWIND_FILE, sizeof(struct unwind_file)));
	assert_null(unwind_ring_next(&unwinder));
	assert_true(put_file(3, sizeof(struct unwind_file)));
	assert_int_equal(next_number(), 3);
	assert_null(unwind_ring_next(&unwinder));
}

/* The unwinder says that it has done more than there is, or something else that cannot be. */
static void
test_hostile_taken(void **state)
{
	static const uint64_t wrong[] = { 1u << 20, UINT64_MAX, UINT64_C(1) << 63 };
	uint32_t put = 0;

	while (put_file(put + 1, 1000))
		put++;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		memcpy(memory + TAKEN_AT, &wrong[i], sizeof(wrong[i]));
		assert_int_equal(unwind_ring_taken(&recorder), 0);
		assert_false(put_file(put + 1, 1000));
	}
}

/* --- stacks --- */

static struct unwind_walk *
put_walk(uint64_t at, uint32_t bytes, uint64_t mask, uint32_t stack_bytes)
{
	struct unwind_walk *w = unwind_ring_reserve(&recorder, UNWIND_WALK, sizeof(*w));
	struct unwind_stack *s = (void *)(recorder.stacks + at % STACKS);

	assert_non_null(w);
	w->space = 1;
	w->at = at;
	w->bytes = bytes;
	if (at % 8 == 0 && at <= STACKS - sizeof(*s))
		*s = (struct unwind_stack){ .mask = mask, .stack_bytes = stack_bytes };
	unwind_ring_publish(&recorder);
	assert_ptr_equal(unwind_ring_next(&unwinder), w);
	return w;
}

static void
test_answer(void **state)
{
	const uint64_t addresses[] = { 11, 22, 33, 44 };
	const uint32_t bytes = sizeof(struct unwind_stack) + 3 * 8 + 100;
	struct unwind_walk *w = put_walk(4096, bytes, 0x111, 100);
	struct unwind_stack *s = unwind_ring_stack(&unwinder, w);
	uint64_t got[4] = { 0 };
	struct unwind_answer a;

	assert_non_null(s);
	unwind_ring_reply(s, bytes, (struct unwind_answer){ .stop = 2, .nr = 4, .used = 96 },
			  addresses);
	a = unwind_ring_answer(&recorder, 4096, bytes, got, 4);
	assert_int_equal(a.stop, 2);
	assert_int_equal(a.nr, 4);
	assert_int_equal(a.used, 96);
	assert_memory_equal(got, addresses, sizeof(got));
	/* As many as the recorder wants. */
	a = unwind_ring_answer(&recorder, 4096, bytes, got, 2);
	assert_int_equal(a.stop, 2);
	assert_int_equal(a.nr, 2);
	unwind_ring_reply(s, bytes, (struct unwind_answer){ .stop = UNWIND_BUSY }, NULL);
	a = unwind_ring_answer(&recorder, 4096, bytes, got, 4);
	assert_int_equal(a.stop, UNWIND_BUSY);
	assert_int_equal(a.nr, 0);
}

/* No more addresses are written than where the stack was. */
static void
test_answer_room(void **state)
{
	const uint64_t addresses[] = { 11, 22, 33, 44 };
	const uint32_t bytes = sizeof(struct unwind_stack);
	struct unwind_walk *w = put_walk(0, bytes, 0, 0);
	struct unwind_stack *s = unwind_ring_stack(&unwinder, w);
	uint64_t got[4] = { 0 };
	struct unwind_answer a;

	memset(recorder.stacks + bytes, 0xee, 8);
	unwind_ring_reply(s, bytes, (struct unwind_answer){ .nr = 4 }, addresses);
	a = unwind_ring_answer(&recorder, 0, bytes, got, 4);
	assert_int_equal(a.stop, 0);
	assert_int_equal(a.nr, 1);
	assert_int_equal(recorder.stacks[bytes], 0xee);
}

/* An answer that says that it has more than its place has. */
static void
test_hostile_answer(void **state)
{
	const struct unwind_answer much[] = { { .nr = 3 },
					      { .nr = UINT32_MAX },
					      { .nr = 0x20000000 } };
	uint64_t got[64];
	struct unwind_answer a;

	for (size_t i = 0; i < sizeof(much) / sizeof(much[0]); i++) {
		memcpy(recorder.stacks, &much[i], sizeof(much[i]));
		a = unwind_ring_answer(&recorder, 0, sizeof(a) + 16, got, 64);
		assert_int_equal(a.stop, UNWIND_BUSY);
		assert_int_equal(a.nr, 0);
	}
	a = unwind_ring_answer(&recorder, 0, sizeof(a) - 1, got, 64);
	assert_int_equal(a.stop, UNWIND_BUSY);
}

static void
test_stack_overruns(void **state)
{
	const uint32_t head = sizeof(struct unwind_stack);

	assert_null(unwind_ring_stack(&unwinder, put_walk(4, 100, 0, 0)));
	assert_null(unwind_ring_stack(&unwinder, put_walk(0, head - 1, 0, 0)));
	assert_null(unwind_ring_stack(&unwinder, put_walk(STACKS, head, 0, 0)));
	assert_null(unwind_ring_stack(&unwinder, put_walk(STACKS - 8, head, 0, 0)));
	assert_null(unwind_ring_stack(&unwinder, put_walk(UINT64_MAX & ~UINT64_C(7), head, 0, 0)));
	assert_null(unwind_ring_stack(&unwinder, put_walk(0, UINT32_MAX, 0, 0)));
	assert_null(unwind_ring_stack(&unwinder, put_walk(0, head + 15, 0x3, 0)));
	assert_null(unwind_ring_stack(&unwinder, put_walk(0, head + 16, 0x3, 1)));
	assert_null(unwind_ring_stack(&unwinder, put_walk(0, head + 16, 0x3, UINT32_MAX)));
	assert_non_null(unwind_ring_stack(&unwinder, put_walk(0, head + 16, 0x3, 0)));
	assert_non_null(unwind_ring_stack(&unwinder, put_walk(STACKS - head, head, 0, 0)));
}

/* --- entries that say what they have not --- */

static void
test_entries_overrun(void **state)
{
	const struct unwind_entry *ahead;
	struct unwind_space *space;
	struct unwind_entry *e;
	uint64_t cursor = 0;

	/* More maps than it has: passed over. */
	space = unwind_ring_reserve(&recorder, UNWIND_SPACE,
				    sizeof(*space) + 2 * sizeof(struct unwind_map));
	space->nr = 3;
	unwind_ring_publish(&recorder);
	/* Too short for its kind, and of no kind at all. */
	unwind_ring_reserve(&recorder, UNWIND_WALK, sizeof(struct unwind_walk) - 8);
	unwind_ring_publish(&recorder);
	e = unwind_ring_reserve(&recorder, UNWIND_FILE, 64);
	e->kind = 77;
	unwind_ring_publish(&recorder);
	assert_true(put_file(9, sizeof(struct unwind_file)));
	/* What comes is seen before it is taken, without what cannot be. */
	ahead = unwind_ring_ahead(&unwinder, &cursor);
	assert_non_null(ahead);
	assert_int_equal(ahead->kind, UNWIND_FILE);
	assert_null(unwind_ring_ahead(&unwinder, &cursor));
	assert_true(put_file(10, sizeof(struct unwind_file)));
	assert_non_null(unwind_ring_ahead(&unwinder, &cursor));
	assert_int_equal(next_number(), 9);
	assert_int_equal(next_number(), 10);
	assert_null(unwind_ring_next(&unwinder));

	/* Where the next one is cannot be known any more. */
	for (uint32_t i = 0; i < 4; i++) {
		static const uint32_t wrong[] = { 0, 12, UINT32_MAX, UNWIND_RING_BYTES };

		assert_true(put_file(10, sizeof(struct unwind_file)));
		e = (struct unwind_entry *)(recorder.entries + unwinder.next % recorder.bytes);
		e->bytes = wrong[i];
		assert_null(unwind_ring_next(&unwinder));
		e->bytes = sizeof(struct unwind_file);
		assert_int_equal(next_number(), 10);
	}
}

static void
test_numbers(void **state)
{
	assert_int_equal(unwind_ring_reading(&recorder), 0);
	unwind_ring_tell(&unwinder, UINT64_C(12345678901));
	unwind_ring_reads(&unwinder, 77);
	assert_int_equal(unwind_ring_cpu_ns(&recorder), UINT64_C(12345678901));
	assert_int_equal(unwind_ring_reading(&recorder), 77);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make, unmake)
	const struct CMUnitTest tests[] = {
		TEST(test_too_small),	    TEST(test_order),	       TEST(test_full),
		TEST(test_unpublished),	    TEST(test_hostile_taken),  TEST(test_answer),
		TEST(test_answer_room),	    TEST(test_hostile_answer), TEST(test_stack_overruns),
		TEST(test_entries_overrun), TEST(test_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
