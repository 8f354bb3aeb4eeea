/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Switches of threads into waits: which there are, how long, why, where; and what is counted instead when a
 * part of one is not there.
 */
#include "symbolizer/profile/replay.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <bsd/string.h>
#include <cmocka.h>
#include <linux/perf_event.h>

#include "format/record/off_cpu.h"
#include "tests/lab/synthetic.h"

#define OUT PERF_RECORD_MISC_SWITCH_OUT
#define PREEMPTED (PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT)
#define HAVE (PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN)

/* Functions of the made-up kernel, 0x100 bytes each. */
#define SCHEDULE UINT64_C(0xffffffff81000000)
#define IO_SCHEDULE (SCHEDULE + 0x100)
#define PIPE_READ (SCHEDULE + 0x200)
#define USER UINT64_C(0x401000)
#define SEEN_MAX 16

struct seen {
	struct replay *replay;
	size_t nr;
	struct {
		char event[32];
		uint32_t tid, cpu;
		uint64_t period, time_ns, leaf, caller;
		struct waker waker;
	} v[SEEN_MAX];
	struct waits_counts counts;
};

static int
on_sample(void *arg, const struct replay_sample *s)
{
	struct seen *seen = arg;
	struct callchain_address leaf, caller = { CALLCHAIN_UNKNOWN };
	struct callchain chain;

	assert_true(seen->nr < SEEN_MAX);
	callchain_begin(&chain, &s->chain, &leaf);
	(void)callchain_next(&chain, &caller);
	(void)strlcpy(seen->v[seen->nr].event, replay_event_name(seen->replay, (size_t)s->event),
		      sizeof(seen->v[0].event));
	seen->v[seen->nr].tid = s->tid;
	seen->v[seen->nr].cpu = s->cpu;
	seen->v[seen->nr].period = s->period;
	seen->v[seen->nr].time_ns = s->time_ns;
	seen->v[seen->nr].waker = s->waker;
	seen->v[seen->nr].leaf = leaf.ip;
	seen->v[seen->nr++].caller = caller.ip;
	return 0;
}

static int
count_sample(void *arg, const struct replay_sample *s)
{
	(void)s;
	++*(uint64_t *)arg;
	return 0;
}

static int
no_block(void *arg, const struct stream_columns *block)
{
	(void)arg;
	(void)block;
	fail_msg("waits come in their order");
	return 0;
}

static void
begin(struct synthetic *s, const char *name)
{
	synthetic_begin_off_cpu(s, HAVE, name);
	synthetic_ksym(s, SCHEDULE, SCHEDULE + 0x100, "", "schedule");
	synthetic_ksym(s, IO_SCHEDULE, IO_SCHEDULE + 0x100, "", "io_schedule");
	synthetic_ksym(s, PIPE_READ, PIPE_READ + 0x100, "", "pipe_read");
	s->event = SYNTHETIC_OFF_CPU;
}

static void
at(struct synthetic *s, uint64_t us)
{
	s->now = 1000000000 + us * 1000 - 1000;
}

static void
leave(struct synthetic *s, uint32_t tid, uint64_t us)
{
	const uint64_t chain[] = { PERF_CONTEXT_KERNEL, SCHEDULE + 1, PIPE_READ + 1,
				   PERF_CONTEXT_USER, USER };

	at(s, us);
	synthetic_sample(s, 50, tid, SCHEDULE + 1, chain, 5);
}

static void
switched(struct synthetic *s, uint32_t tid, uint64_t us, uint16_t misc)
{
	at(s, us);
	synthetic_switch(s, 50, tid, misc);
}

/* A whole wait, but for its end. */
static void
go(struct synthetic *s, uint32_t tid, uint64_t us)
{
	leave(s, tid, us);
	switched(s, tid, us + 1, OUT);
}

static void
see(struct synthetic *s, struct seen *seen)
{
	struct intern *strings = intern_new(INTERN_BYTES_MAX);
	struct replay_options o = { .on_sample = on_sample, .on_block = no_block, .arg = seen };
	struct fmt_where where = { 0 };

	*seen = (struct seen){ NULL };
	synthetic_read(s);
	seen->replay = replay_new(s->stream, strings, &o);
	assert_non_null(seen->replay);
	assert_int_equal(replay_run(seen->replay, &where), 0);
	seen->counts = replay_waits(seen->replay);
	replay_free(seen->replay);
	intern_free(strings);
	synthetic_end(s);
}

static void
expect(const struct seen *seen, size_t i, const char *event, uint32_t tid, uint64_t us,
       uint64_t end_us)
{
	assert_true(i < seen->nr);
	assert_string_equal(seen->v[i].event, event);
	assert_int_equal(seen->v[i].tid, tid);
	assert_int_equal(seen->v[i].period, us * 1000);
	assert_int_equal(seen->v[i].time_ns, 1000000000 + end_us * 1000);
}

static void
expect_counts(const struct seen *seen, uint64_t open, uint64_t cut)
{
	assert_int_equal(seen->counts.open, open);
	assert_int_equal(seen->counts.cut, cut);
	assert_int_equal(seen->counts.left_out, 0);
}

/* On another CPU than it left, whose records stand before those of the first in the file. */
static void
test_migrated(void **state)
{
	struct synthetic s;
	struct seen seen;

	(void)state;
	begin(&s, "off-cpu");
	s.cpu = 1;
	switched(&s, 51, 400, 0);
	s.cpu = 0;
	go(&s, 51, 100);
	at(&s, 500);
	synthetic_comm(&s, 50, 51, "end");
	see(&s, &seen);
	assert_int_equal(seen.nr, 1);
	expect(&seen, 0, "off-cpu:blocked", 51, 299, 400);
	assert_int_equal(seen.v[0].cpu, 0);
	assert_int_equal(seen.v[0].leaf, PIPE_READ + 1);
	assert_int_equal(seen.v[0].caller, USER);
	expect_counts(&seen, 0, 0);
}

/* Two threads, and the clock beside them, whose samples are what they were. */
static void
test_why(void **state)
{
	const uint64_t io[] = { PERF_CONTEXT_KERNEL, SCHEDULE + 1, IO_SCHEDULE + 2, PIPE_READ + 1 };
	const uint64_t nowhere[] = { PERF_CONTEXT_KERNEL, SCHEDULE + 1 };
	const uint64_t user[] = { PERF_CONTEXT_KERNEL, SCHEDULE + 1, PERF_CONTEXT_USER, USER,
				  USER + 9 };
	struct synthetic s;
	struct seen seen;

	(void)state;
	begin(&s, "off-cpu");
	at(&s, 10);
	synthetic_sample(&s, 50, 51, SCHEDULE + 1, io, 4);
	switched(&s, 51, 11, OUT);
	at(&s, 12);
	synthetic_sample(&s, 50, 52, SCHEDULE + 1, user, 5);
	switched(&s, 52, 13, PREEMPTED);
	s.event = 0;
	at(&s, 20);
	synthetic_sample(&s, 50, 53, PIPE_READ, NULL, 0);
	s.event = SYNTHETIC_OFF_CPU;
	switched(&s, 52, 33, 0);
	switched(&s, 51, 41, 0);
	at(&s, 50);
	synthetic_sample(&s, 50, 51, SCHEDULE + 1, nowhere, 2);
	switched(&s, 51, 51, OUT);
	switched(&s, 51, 52, 0);
	see(&s, &seen);
	assert_int_equal(seen.nr, 4);
	assert_string_equal(seen.v[0].event, "cpu-clock");
	assert_int_equal(seen.v[0].period, 4000);
	expect(&seen, 1, "off-cpu:preempted", 52, 20, 33);
	assert_int_equal(seen.v[1].leaf, USER);
	assert_int_equal(seen.v[1].caller, USER + 9);
	expect(&seen, 2, "off-cpu:io", 51, 30, 41);
	assert_int_equal(seen.v[2].leaf, PIPE_READ + 1);
	expect(&seen, 3, "off-cpu:blocked", 51, 1, 52);
	assert_int_equal(seen.v[3].leaf, SCHEDULE + 1);
	expect_counts(&seen, 0, 0);
}

static void
wake(struct synthetic *s, unsigned wakeups, uint32_t tid, uint64_t us)
{
	at(s, us);
	/* In the hard interrupt of a timer at even times. */
	synthetic_wakeup(s, wakeups, tid, us % 2 ? 0x41 : 0x49);
}

static unsigned
begin_wakeups(struct synthetic *s, const char *name)
{
	unsigned wakeups;

	synthetic_begin_off_cpu(s, HAVE | PERF_SAMPLE_RAW, name);
	synthetic_ksym(s, SCHEDULE, SCHEDULE + 0x100, "", "schedule");
	synthetic_ksym(s, IO_SCHEDULE, IO_SCHEDULE + 0x100, "", "io_schedule");
	synthetic_ksym(s, PIPE_READ, PIPE_READ + 0x100, "", "pipe_read");
	wakeups = synthetic_wakeups(s);
	s->event = SYNTHETIC_OFF_CPU;
	return wakeups;
}

/* From its wake-up on a thread waits for a CPU alone; one that was preempted does all the time. */
static void
test_woken(void **state)
{
	const uint64_t io[] = { PERF_CONTEXT_KERNEL, SCHEDULE + 1, IO_SCHEDULE + 2, PIPE_READ + 1 };
	unsigned wakeups;
	struct synthetic s;
	struct seen seen;

	(void)state;
	wakeups = begin_wakeups(&s, "off-cpu");
	wake(&s, wakeups, 51, 5); /* not of this wait */
	go(&s, 51, 10);
	wake(&s, wakeups, 52, 12);
	wake(&s, wakeups, 51, 30);
	wake(&s, wakeups, 51, 33);
	switched(&s, 51, 40, 0);
	at(&s, 50);
	synthetic_sample(&s, 50, 51, SCHEDULE + 1, io, 4);
	switched(&s, 51, 51, OUT);
	wake(&s, wakeups, 51, 60);
	switched(&s, 51, 64, 0);
	leave(&s, 51, 70);
	switched(&s, 51, 71, PREEMPTED);
	wake(&s, wakeups, 51, 75);
	switched(&s, 51, 80, 0);
	/* On its way out already; and never. */
	leave(&s, 51, 90);
	wake(&s, wakeups, 51, 92);
	switched(&s, 51, 95, OUT);
	switched(&s, 51, 99, 0);
	go(&s, 51, 110);
	switched(&s, 51, 120, 0);
	see(&s, &seen);
	assert_int_equal(seen.nr, 7);
	expect(&seen, 0, "off-cpu:blocked", 51, 19, 40);
	expect(&seen, 1, "off-cpu:runnable", 51, 10, 40);
	assert_int_equal(seen.v[1].leaf, PIPE_READ + 1);
	assert_int_equal(seen.v[1].caller, USER);
	for (size_t i = 0; i < 2; i++)
		assert_true(seen.v[i].waker.known && seen.v[i].waker.interrupt);
	expect(&seen, 2, "off-cpu:io", 51, 9, 64);
	expect(&seen, 3, "off-cpu:runnable", 51, 4, 64);
	expect(&seen, 4, "off-cpu:preempted", 51, 9, 80);
	expect(&seen, 5, "off-cpu:runnable", 51, 4, 99);
	expect(&seen, 6, "off-cpu:blocked", 51, 9, 120);
	assert_false(seen.v[4].waker.known); /* others had its CPU */
	assert_false(seen.v[6].waker.known);
	expect_counts(&seen, 0, 0);
}

/* A least time is one of each part. */
static void
test_woken_min(void **state)
{
	unsigned wakeups;
	struct synthetic s;
	struct seen seen;

	(void)state;
	wakeups = begin_wakeups(&s, "off-cpu/min=10us/");
	go(&s, 51, 10);
	wake(&s, wakeups, 51, 15);
	switched(&s, 51, 40, 0);
	go(&s, 51, 50);
	wake(&s, wakeups, 51, 70);
	switched(&s, 51, 75, 0);
	go(&s, 51, 80);
	wake(&s, wakeups, 51, 87);
	switched(&s, 51, 94, 0);
	see(&s, &seen);
	assert_int_equal(seen.nr, 2);
	expect(&seen, 0, "off-cpu:runnable", 51, 25, 40);
	assert_true(seen.v[0].waker.known && !seen.v[0].waker.interrupt);
	assert_int_equal(seen.v[0].waker.pid, 90);
	assert_int_equal(seen.v[0].waker.tid, 91);
	expect(&seen, 1, "off-cpu:blocked", 51, 19, 75);
}

static void
test_lost(void **state)
{
	struct synthetic s;
	struct seen seen;

	(void)state;
	begin(&s, "off-cpu");
	go(&s, 51, 10);
	go(&s, 52, 12);
	at(&s, 20);
	synthetic_lost(&s, 3);
	switched(&s, 51, 30, 0); /* was it back before? */
	/* Neither a return that was lost, nor one without a sample, makes a wait longer. */
	go(&s, 53, 40);
	go(&s, 53, 50);
	switched(&s, 53, 60, 0);
	go(&s, 54, 61);
	switched(&s, 54, 70, OUT);
	switched(&s, 54, 80, 0);
	switched(&s, 55, 90, OUT); /* no sample: of every Nth switch there is one */
	switched(&s, 55, 91, 0);
	leave(&s, 56, 92);
	switched(&s, 56, 95, 0);
	see(&s, &seen);
	assert_int_equal(seen.nr, 1);
	expect(&seen, 0, "off-cpu:blocked", 53, 9, 60);
	expect_counts(&seen, 0, 5);
}

/* Its last switch is no wait; nor is what was before the one whose number it has. */
static void
test_ends(void **state)
{
	struct synthetic s;
	struct seen seen;

	(void)state;
	begin(&s, "off-cpu");
	at(&s, 1);
	synthetic_comm(&s, 50, 51, "first");
	at(&s, 10);
	synthetic_exit(&s, 50, 51);
	go(&s, 51, 11); /* for ever */
	go(&s, 52, 20); /* its EXIT was lost */
	at(&s, 30);
	synthetic_fork(&s, 50, 52, 0);
	switched(&s, 52, 40, 0);
	go(&s, 52, 50);
	at(&s, 55);
	synthetic_fork(&s, 50, 52, TASK_MISC_FORK_FRESH); /* a snapshot's: it was there */
	switched(&s, 52, 60, 0);
	go(&s, 0, 70); /* the idle task */
	go(&s, UINT32_MAX, 72);
	go(&s, 53, 80); /* and is not back */
	see(&s, &seen);
	assert_int_equal(seen.nr, 1);
	expect(&seen, 0, "off-cpu:blocked", 52, 9, 60);
	expect_counts(&seen, 1, 0);
}

static void
test_terms(void **state)
{
	struct synthetic s;
	struct seen seen;

	(void)state;
	begin(&s, "off-cpu/min=20us/");
	go(&s, 51, 10);
	switched(&s, 51, 30, 0); /* 19 */
	go(&s, 51, 40);
	switched(&s, 51, 61, 0); /* 20 */
	see(&s, &seen);
	assert_int_equal(seen.nr, 1);
	expect(&seen, 0, "off-cpu:blocked", 51, 20, 61);

	/* Another event of that name is none. */
	synthetic_begin(&s, HAVE);
	s.event = synthetic_event(&s, "off-cpu");
	go(&s, 51, 10);
	switched(&s, 51, 30, 0);
	{
		struct replay_options o = { .in_order = true,
					    .on_sample = on_sample,
					    .arg = &seen };
		struct intern *strings = intern_new(INTERN_BYTES_MAX);
		struct fmt_where where;

		seen = (struct seen){ NULL };
		synthetic_read(&s);
		seen.replay = replay_new(s.stream, strings, &o);
		assert_int_equal(replay_run(seen.replay, &where), 0);
		replay_free(seen.replay);
		intern_free(strings);
		synthetic_end(&s);
	}
	assert_int_equal(seen.nr, 1);
	assert_string_equal(seen.v[0].event, "off-cpu");
	assert_int_equal(seen.v[0].leaf, SCHEDULE + 1);
}

/* Times that are not sorted, that contain each other, that are told late, and that have not ended. */
static void
test_gaps(void **state)
{
	struct synthetic s;
	struct seen seen;

	(void)state;
	begin(&s, "off-cpu");
	synthetic_gap(&s, 1000400000, 1000410000);
	synthetic_gap(&s, 1000100000, 1000300000);
	synthetic_gap(&s, 1000120000, 1000130000);
	synthetic_gap(&s, 1000900000, 0);
	for (uint32_t i = 0; i < 10; i++) { /* 10 to 109 us, 110 to 209, ... */
		go(&s, 51 + i, 10 + i * 100 - 1);
		switched(&s, 51 + i, 109 + i * 100, 0);
	}
	go(&s, 70, 311);
	switched(&s, 70, 399, 0);
	see(&s, &seen);
	/* Those that end at 109, 209, 309, 409, 909, 1009 go over one. */
	assert_int_equal(seen.nr, 5);
	expect(&seen, 0, "off-cpu:blocked", 70, 87, 399);
	expect(&seen, 1, "off-cpu:blocked", 55, 99, 509);
	expect(&seen, 4, "off-cpu:blocked", 58, 99, 809);
	expect_counts(&seen, 0, 6);

	/* One that is told of when waits have been read, and is over later. */
	begin(&s, "off-cpu");
	go(&s, 51, 10);
	switched(&s, 51, 20, 0);
	synthetic_gap(&s, 1000030000, 0);
	go(&s, 51, 25);
	switched(&s, 51, 40, 0);
	synthetic_gap(&s, 1000030000, 1000045000);
	go(&s, 51, 50);
	switched(&s, 51, 60, 0);
	see(&s, &seen);
	assert_int_equal(seen.nr, 2);
	expect_counts(&seen, 0, 1);
}

/* Gaps come between waits, in any order, those of before having ends by then. */
static void
test_many_gaps(void **state)
{
	const uint32_t nr = GAP_LIST_MAX / 2;
	struct waits_counts counts;
	struct synthetic s;
	uint64_t given;

	(void)state;
	for (unsigned backwards = 0; backwards < 2; backwards++) {
		struct replay_options o = { .on_sample = count_sample,
					    .on_block = no_block,
					    .arg = &given };
		struct intern *strings = intern_new(INTERN_BYTES_MAX);
		struct fmt_where where = { 0 };
		struct replay *r;

		given = 0;
		begin(&s, "off-cpu");
		for (uint32_t i = 0; i < nr; i++) {
			/* Of the wait before, or, later, of one that is as far from the end. */
			const uint32_t of = backwards ? nr - 1 - i : i;

			synthetic_gap(&s, 1000000000 + of * 100000 + 50000, 0);
			synthetic_gap(&s, 1000000000 + of * 100000 + 50000,
				      1000000000 + of * 100000 + 51000);
			go(&s, 51, i * 100 + 10);
			switched(&s, 51, i * 100 + (i % 2 ? 40 : 60), 0);
		}
		synthetic_read(&s);
		r = replay_new(s.stream, strings, &o);
		assert_int_equal(replay_run(r, &where), 0);
		counts = replay_waits(r);
		/* Each second wait goes over its gap, if that is told by then. */
		assert_int_equal(counts.cut, backwards ? nr / 4 : nr / 2);
		assert_int_equal(given, nr - counts.cut);
		replay_free(r);
		intern_free(strings);
		synthetic_end(&s);
	}
}

/* Of an event that a later META block brings: it stands behind those of waits. */
static void
test_later_event(void **state)
{
	const size_t first = SYNTHETIC_EVENTS + 1;

	(void)state;
	assert_int_equal(wait_samples_stream_event(first, (int)first - 1), first - 1);
	assert_int_equal(wait_samples_stream_event(first, (int)first), -1);
	assert_int_equal(wait_samples_stream_event(first, (int)first + OFF_CPU_WHYS_MAX - 1), -1);
	assert_int_equal(wait_samples_stream_event(first, (int)first + OFF_CPU_WHYS_MAX), first);
	assert_int_equal(wait_samples_stream_event(SIZE_MAX, 7), 7);
	assert_int_equal(wait_samples_stream_event(first, -1), -1);
}

/* Callers in user space that come later are a cookie, which is no address. */
static void
test_cookie(void **state)
{
	const uint64_t only[] = { PERF_CONTEXT_KERNEL, SCHEDULE + 1, (uint64_t)-640, 4711 };
	const uint64_t more[] = { PERF_CONTEXT_KERNEL, SCHEDULE + 1, PIPE_READ + 1, (uint64_t)-640,
				  4711 };
	struct synthetic s;
	struct seen seen;

	(void)state;
	begin(&s, "off-cpu");
	at(&s, 10);
	synthetic_sample(&s, 50, 51, SCHEDULE + 1, only, 4);
	switched(&s, 51, 11, OUT);
	switched(&s, 51, 20, 0);
	at(&s, 30);
	synthetic_sample(&s, 50, 51, SCHEDULE + 1, more, 5);
	switched(&s, 51, 31, OUT);
	switched(&s, 51, 40, 0);
	see(&s, &seen);
	assert_int_equal(seen.nr, 2);
	assert_int_equal(seen.v[0].leaf, SCHEDULE + 1);
	assert_int_equal(seen.v[0].caller, 0);
	assert_int_equal(seen.v[1].leaf, PIPE_READ + 1);
	assert_int_equal(seen.v[1].caller, 0);
}

/* Stacks of more threads than there is room for. */
static void
test_bound(void **state)
{
	static uint8_t sample[65528];
	const size_t fits = WAITS_BYTES_MAX / sizeof(sample);
	struct waits *w = waits_new();
	struct waits_counts counts;
	struct wait wait;

	(void)state;
	assert_non_null(w);
	for (uint32_t tid = 1; tid <= 2 * fits; tid++) {
		assert_int_equal(waits_sample(w, tid, span_of(sample, sizeof(sample)), 1), 0);
		waits_out(w, tid, tid, false);
	}
	counts = waits_count(w);
	assert_true(counts.left_out >= fits && counts.open + counts.left_out == 2 * fits);
	/* Who is back leaves room for who comes. */
	assert_true(waits_in(w, 1, 5 * fits, &wait));
	assert_int_equal(wait.until_ns - wait.from_ns, 5 * fits - 1);
	assert_int_equal(waits_sample(w, UINT32_MAX - 1, span_of(sample, sizeof(sample)), 1), 0);
	assert_int_equal(waits_count(w).open, counts.open);
	assert_int_equal(waits_count(w).left_out, counts.left_out);
	waits_free(w);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_migrated),    cmocka_unit_test(test_why),
		cmocka_unit_test(test_woken),	    cmocka_unit_test(test_woken_min),
		cmocka_unit_test(test_lost),	    cmocka_unit_test(test_ends),
		cmocka_unit_test(test_terms),	    cmocka_unit_test(test_bound),
		cmocka_unit_test(test_gaps),	    cmocka_unit_test(test_many_gaps),
		cmocka_unit_test(test_later_event), cmocka_unit_test(test_cookie),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
