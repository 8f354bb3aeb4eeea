/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who may have code made at run time, as records of two CPUs tell it in any order; and what was hit. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "format/jit/jitdump.h"
#include "recorder/live/jit_addresses.h"
#include "recorder/live/jit_processes.h"
#include "recorder/live/jit_samples.h"

static void
test_order(void **state)
{
	struct jit_processes *s = calloc(1, sizeof(*s));
	struct jit_process *p, *q;

	assert_non_null(s);
	p = jit_processes_add(s, 7, 100, false);
	assert_non_null(p);
	assert_int_equal(p->began_ns, 100);
	assert_ptr_equal(jit_processes_find(s, 7), p);
	assert_null(jit_processes_find(s, 7 + JIT_PROCESSES_CHAINS));
	/* An exec from before it mapped anything, which comes late. */
	jit_processes_end(s, 7, 90);
	assert_int_equal(p->ended_ns, 0);
	jit_processes_end(s, 7, 200);
	assert_int_equal(p->ended_ns, 200);
	/* Its own map comes after its end. */
	assert_null(jit_processes_add(s, 7, 150, false));
	/* The next one of that number is another one, and found first. */
	q = jit_processes_add(s, 7, 300, false);
	assert_ptr_equal(jit_processes_find(s, 7), q);
	assert_ptr_equal(jit_processes_find_at(s, 7, 299), p);
	assert_ptr_equal(jit_processes_find_at(s, 7, 300), q);
	assert_null(jit_processes_find_at(s, 7, 99));
	assert_ptr_equal(jit_processes_at(s, p->slot, p->serial), p);
	assert_null(jit_processes_at(s, p->slot, q->serial));
	jit_processes_remove(s, p);
	assert_ptr_equal(jit_processes_find(s, 7), q);
	assert_ptr_equal(jit_processes_next(s, NULL), q);
	assert_null(jit_processes_next(s, q));
	jit_processes_done(s);
	assert_int_equal(s->nr, 0);
	free(s);
}

static void
test_fork(void **state)
{
	struct jit_processes *s = calloc(1, sizeof(*s));
	struct jit_process *p;

	assert_non_null(s);
	p = jit_processes_add(s, 1, 10, true);
	assert_int_equal(p->began_ns, 0);
	jit_process_map(p, 0x1000, 0x2000);
	jit_processes_fork(s, 1, 2, 20);
	jit_processes_settle(s, 20);
	assert_null(jit_processes_find(s, 2));
	jit_processes_settle(s, 21);
	p = jit_processes_find(s, 2);
	assert_non_null(p);
	assert_true(p->lazy);
	assert_int_equal(p->began_ns, 20);
	assert_true(jit_process_holds(p, 0x1fff));
	/* Whose copy it is, as long as both are there. */
	assert_ptr_equal(jit_processes_from(s, p), jit_processes_find(s, 1));
	assert_null(jit_processes_from(s, jit_processes_find(s, 1)));
	assert_int_equal(jit_processes_find(s, 1)->copies, 1);
	jit_processes_fork(s, 2, 5, 21);
	jit_processes_settle(s, UINT64_MAX);
	assert_ptr_equal(jit_processes_from(s, jit_processes_find(s, 5)), p);
	jit_processes_remove(s, jit_processes_find(s, 5));
	assert_int_equal(p->copies, 0);
	jit_processes_remove(s, p);
	assert_int_equal(jit_processes_find(s, 1)->copies, 0);
	/* A child whose end came first, and one of an unknown process. */
	jit_processes_end(s, 3, 40);
	jit_processes_fork(s, 1, 3, 30);
	jit_processes_fork(s, 9, 4, 30);
	jit_processes_settle(s, UINT64_MAX);
	assert_int_equal(jit_processes_find(s, 3)->ended_ns, 40);
	assert_null(jit_processes_find(s, 4));
	/* Children take half of the room; the rest is for others. */
	for (uint32_t pid = 1000; pid < 2000; pid++)
		jit_processes_fork(s, 1, pid, 50);
	assert_int_equal(jit_processes_settle(s, UINT64_MAX), 50);
	assert_int_equal(s->nr, JIT_PROCESSES_MAX / 2 + 1);
	/* What is gone, and no sample hit, gives its place. */
	jit_processes_make_room(s, 50, UINT64_MAX);
	assert_int_equal(jit_processes_settle(s, UINT64_MAX), 50);
	jit_processes_make_room(s, 50, UINT64_MAX);
	assert_int_equal(jit_processes_settle(s, UINT64_MAX), UINT64_MAX);
	assert_null(jit_processes_find(s, 3));
	assert_int_equal(s->nr, JIT_PROCESSES_MAX / 2 + 1);
	for (uint32_t pid = 2000; pid < 3000; pid++)
		jit_processes_add(s, pid, 60, false);
	assert_int_equal(s->nr, JIT_PROCESSES_MAX);
	jit_processes_done(s);
	free(s);
}

/* Rings are read one after another: what began later may come first. */
static void
test_forks_in_any_order(void **state)
{
	struct jit_processes *s = calloc(1, sizeof(*s));
	struct jit_process *p;

	assert_non_null(s);
	jit_processes_fork(s, 2, 3, 30);
	jit_processes_end(s, 2, 31);
	jit_processes_fork(s, 4, 5, 30);
	jit_processes_settle(s, 15);
	jit_processes_fork(s, 1, 2, 20);
	p = jit_processes_add(s, 1, 10, false);
	jit_process_map(p, 0x1000, 0x2000);
	/* Another program has the memory of this one by then. */
	jit_processes_add(s, 4, 10, false);
	jit_processes_end(s, 4, 29);
	jit_processes_settle(s, 31);
	assert_int_equal(s->nr_forks, 0);
	p = jit_processes_find(s, 3);
	assert_non_null(p);
	assert_true(jit_process_holds(p, 0x1800));
	p = jit_processes_from(s, p);
	assert_ptr_equal(p, jit_processes_find(s, 2));
	assert_int_equal(p->ended_ns, 31);
	assert_ptr_equal(jit_processes_from(s, p), jit_processes_find(s, 1));
	assert_null(jit_processes_find(s, 5));
	/* A child that made memory of its own before its fork came; and one that executed a program before that. */
	jit_process_map(jit_processes_add(s, 6, 35, false), 0x5000, 0x6000);
	jit_processes_fork(s, 1, 6, 33);
	jit_processes_add(s, 7, 35, false);
	jit_processes_fork(s, 1, 7, 33);
	jit_processes_end(s, 7, 34);
	jit_processes_settle(s, 36);
	p = jit_processes_find(s, 6);
	assert_ptr_equal(jit_processes_from(s, p), jit_processes_find(s, 1));
	assert_int_equal(p->began_ns, 33);
	assert_true(jit_process_holds(p, 0x1800));
	assert_true(jit_process_holds(p, 0x5800));
	assert_null(jit_processes_from(s, jit_processes_find(s, 7)));
	/* The end of a child that waits is known, whatever else ends meanwhile. */
	jit_processes_fork(s, 1, 8, 37);
	jit_processes_end(s, 8, 38);
	for (uint32_t i = 1; i < 4; i++)
		jit_processes_end(s, 8 + i * JIT_PROCESSES_CHAINS, 38);
	jit_processes_settle(s, 39);
	assert_int_equal(jit_processes_find(s, 8)->ended_ns, 38);
	/* Of more than wait, none is lost whose parent is known. */
	for (uint32_t i = 0; i <= JIT_FORKS_MAX; i++)
		jit_processes_fork(s, 9, 100000 + i, 40 + i);
	assert_int_equal(s->nr_forks, 1);
	jit_processes_done(s);
	free(s);
}

struct seen {
	size_t nr;
	uint32_t pid[8];
	uint64_t time_ns[8], last[8];
	size_t count[8];
};

static void
see(void *arg, uint32_t pid, uint64_t time_ns, const uint64_t *addresses, size_t nr)
{
	struct seen *seen = arg;

	seen->pid[seen->nr] = pid;
	seen->time_ns[seen->nr] = time_ns;
	seen->last[seen->nr] = addresses[nr - 1];
	seen->count[seen->nr++] = nr;
}

static void
count(void *arg, uint32_t pid, uint64_t time_ns, const uint64_t *addresses, size_t nr)
{
	(void)pid;
	(void)time_ns;
	(void)addresses;
	*(size_t *)arg += nr;
}

static void
test_samples(void **state)
{
	const uint64_t words[] = {
		(uint64_t)PERF_CONTEXT_KERNEL, 0xffff, (uint64_t)PERF_CONTEXT_USER, 0x10, 0x20, 0x30
	};
	struct sample_glance g = { .pid = 7, .time = 100, .ip = 5, .misc = PERF_RECORD_MISC_KERNEL };
	uint64_t *many = calloc(JIT_SAMPLES_WORDS, sizeof(*many));
	struct jit_samples s = { 0 };
	struct seen seen = { 0 };
	size_t added = 0, n = 0;

	/* The kernel's address is of no interest. */
	assert_true(jit_samples_add(&s, &g));
	assert_int_equal(s.nr, 0);
	g.callchain = span_of(words, sizeof(words));
	assert_true(jit_samples_add(&s, &g));
	g = (struct sample_glance){ .pid = 8, .time = 50, .ip = 5, .misc = PERF_RECORD_MISC_USER };
	assert_true(jit_samples_add(&s, &g));
	jit_samples_run(&s, 50, see, &seen);
	assert_int_equal(seen.nr, 0);
	jit_samples_run(&s, 51, see, &seen);
	assert_int_equal(seen.nr, 1);
	assert_int_equal(seen.pid[0], 8);
	assert_int_equal(seen.last[0], 5);
	jit_samples_run(&s, UINT64_MAX, see, &seen);
	assert_int_equal(seen.nr, 2);
	assert_int_equal(seen.pid[1], 7);
	assert_int_equal(seen.time_ns[1], 100);
	assert_int_equal(seen.count[1], 3);
	assert_int_equal(seen.last[1], 0x2f);
	assert_int_equal(s.nr, 0);
	/* It is full once, and loses none of those that it took. */
	g.callchain = span_of(words, sizeof(words));
	while (jit_samples_add(&s, &g))
		added++;
	assert_in_range(added, JIT_SAMPLES_WORDS / 12, JIT_SAMPLES_WORDS / 4);
	jit_samples_run(&s, UINT64_MAX, count, &n);
	assert_int_equal(n, added * 4);
	/* A chain of any length is cut to the room that there is. */
	assert_non_null(many);
	many[0] = (uint64_t)PERF_CONTEXT_USER;
	g.callchain = span_of(many, JIT_SAMPLES_WORDS * sizeof(*many));
	assert_true(jit_samples_add(&s, &g));
	n = 0;
	jit_samples_run(&s, UINT64_MAX, count, &n);
	assert_int_equal(n, JIT_SAMPLES_WORDS - 2);
	free(many);
	jit_samples_done(&s);
}

static void
test_memory(void **state)
{
	struct jit_process p = { 0 };

	for (uint64_t i = 0; i < 3 * JIT_PROCESS_RANGES_MAX; i++) {
		const uint64_t at = (i * 7919 % 97) << 20;

		jit_process_map(&p, at, at + 0x1000);
		jit_process_map(&p, at + 0x1000, at + 0x2000);
	}
	assert_in_range(p.nr_ranges, 2, JIT_PROCESS_RANGES_MAX);
	for (size_t i = 1; i < p.nr_ranges; i++)
		assert_true(p.ranges[i - 1].end < p.ranges[i].start);
	for (uint64_t i = 0; i < 3 * JIT_PROCESS_RANGES_MAX; i++)
		assert_true(jit_process_holds(&p, ((i * 7919 % 97) << 20) + 0x1fff));
	assert_false(jit_process_holds(&p, UINT64_MAX));
	jit_process_map(&p, 0, UINT64_MAX);
	assert_int_equal(p.nr_ranges, 1);
	assert_true(jitdump_is_path("/x/jit-12.dump"));
	assert_false(jitdump_is_path("/x/jit-.dump"));
	assert_false(jitdump_is_path("jit-12.dump"));
}

static void
test_addresses(void **state)
{
	static uint64_t found[JIT_ADDRESSES_SLOTS];
	struct jit_addresses a = { 0 };
	size_t nr = 0;

	assert_true(jit_addresses_add(&a, 1, 0x10));
	assert_false(jit_addresses_add(&a, 1, 0x10));
	assert_true(jit_addresses_add(&a, 2, 0x10));
	assert_int_equal(jit_addresses_fresh(&a, 1, found, 10), 1);
	jit_addresses_asked(&a, 1, found, 1);
	assert_false(jit_addresses_add(&a, 1, 0x10));
	assert_int_equal(jit_addresses_fresh(&a, 1, found, 10), 0);
	assert_int_equal(jit_addresses_renew(&a, 1), 1);
	assert_int_equal(jit_addresses_fresh(&a, 1, found, 10), 1);
	jit_addresses_drop(&a, 1);
	assert_int_equal(jit_addresses_fresh(&a, 1, found, 10), 0);
	assert_int_equal(jit_addresses_fresh(&a, 2, found, 10), 1);
	/* Full of what was not asked for yet there is no room; of what was, there is. */
	for (uint64_t i = 0; i < JIT_ADDRESSES_SLOTS; i++)
		nr += jit_addresses_add(&a, 3, i << 4);
	assert_int_equal(nr, JIT_ADDRESSES_SLOTS / 2 - 1);
	assert_int_equal(jit_addresses_fresh(&a, 3, found, JIT_ADDRESSES_SLOTS), nr);
	assert_false(jit_addresses_add(&a, 4, 1));
	jit_addresses_asked(&a, 3, found, nr);
	assert_true(jit_addresses_add(&a, 4, 1));
	assert_int_equal(jit_addresses_fresh(&a, 2, found, 10), 1);
	assert_true(jit_addresses_add(&a, 3, found[0]));
	jit_addresses_clear(&a);
	assert_true(jit_addresses_add(&a, 4, 1));
	jit_addresses_done(&a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_fork),
		cmocka_unit_test(test_forks_in_any_order),
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_addresses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
