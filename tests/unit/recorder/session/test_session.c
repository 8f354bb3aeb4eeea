/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * @alone it takes a CPU offline
 *
 * Sessions that go on: other files, other frequencies, disks that refuse, CPUs that go.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "recorder/session/session_internal.h"
#include "tests/lab/session_rig.h"

#define FILES 20

/*
 * Unlike others, each of these that is counted is also a sample, or lost. And nobody else here
 * samples them: of two that sample the same software event on one CPU the kernel (6.18) gives
 * the second one the id and the size of the first one's samples (do_perf_sw_event()).
 */
static const char *const faults[] = { "minor-faults" };

static struct session_options
faults_of_all(struct rig_file *f)
{
	return (struct session_options){ .events = faults,
					 .nr_events = 1,
					 .period = RIG_PERIOD,
					 .target = SESSION_ALL,
					 .call_graph = SESSION_CALL_GRAPH_NONE,
					 .out_fd = -1,
					 .sink = rig_sink(f),
					 .writer = "test" };
}

/* But for what a CPU had counted and not yet written when it was stopped, or went. */
static void
assert_exact(uint64_t accounted, uint64_t counted)
{
	assert_uint_in_range(counted - accounted, 0, 8);
}

static void
rotate(struct rig *r, struct rig_file *f)
{
	struct session_error e;

	if (session_rotate(r->session, rig_sink(f), &e) != 0)
		fail_msg("session_rotate: %s", e.text);
}

/* Every page fault is in one of the files, once, or in the ledger. */
static void
test_rotate(void **state)
{
	struct rig_file files[FILES] = { 0 };
	struct session_options o = faults_of_all(&files[0]);
	uint64_t samples = 0, lost = 0, due = 0;
	struct session_stats stats;
	struct rig_counts c;
	struct rig_load load;
	struct rig r;

	rig_start(&r, &o);
	rig_load_start(&load);
	for (int i = 1; i < FILES; i++) {
		rig_sleep_ms(50);
		rotate(&r, &files[i]);
		assert_true(files[i - 1].closed);
		assert_int_equal(files[i - 1].syncs, 1);
		rig_count(&files[i - 1], true, &c);
		assert_true(c.state > 50);
	}
	rig_load_stop(&load);
	rig_stop(&r);
	for (int i = 0; i < FILES; i++) {
		rig_count(&files[i], true, &c);
		samples += c.samples;
		lost += c.loss[LOSS_KERNEL_SAMPLES];
		assert_int_equal(c.due_before, due);
		due += c.due;
		rig_file_done(&files[i]);
	}
	session_stats(r.session, &stats);
	assert_true(samples > 500);
	assert_exact(samples + lost, due);
	assert_int_equal(stats.samples, samples);
	assert_int_equal(stats.lost, lost);
	session_close(r.session, &r.error);
}

/* A sink that cannot even begin: the old file goes on. */
static void
test_rotate_refused(void **state)
{
	struct rig_file files[3] = { [1] = { .write_errno = ENOSPC } };
	struct session_options o = faults_of_all(&files[0]);
	struct rig_counts a, b;
	struct session_error e;
	struct rig r;

	rig_start(&r, &o);
	assert_int_equal(session_rotate(r.session, rig_sink(&files[1]), &e), -ENOSPC);
	assert_non_null(strstr(e.text, "No space"));
	assert_true(files[1].closed);
	rotate(&r, &files[2]);
	rig_end(&r);
	rig_count(&files[0], true, &a);
	rig_count(&files[2], true, &b);
	/* It was not to end where the other one was asked for: what it counted before is its own. */
	assert_int_equal(a.due_before, 0);
	assert_int_equal(b.due_before, a.due);
	assert_exact(a.samples + b.samples + b.loss[LOSS_KERNEL_SAMPLES], a.due + b.due);
	for (int i = 0; i < 3; i++)
		rig_file_done(&files[i]);
}

/* An event that is off is told in each file, once, also in one that goes on although another was asked for. */
static void
test_rotate_while_off(void **state)
{
	static const char *const both[] = { "minor-faults", "context-switches" };
	struct rig_file files[3] = { [1] = { .write_errno = ENOSPC } };
	struct session_options o = faults_of_all(&files[0]);
	struct session_error e;
	struct rig_counts c;
	struct rig r;

	o.events = both;
	o.nr_events = 2;
	rig_start(&r, &o);
	assert_int_equal(session_enable(r.session, both[1], false, &e), 0);
	assert_int_equal(session_rotate(r.session, rig_sink(&files[1]), &e), -ENOSPC);
	rotate(&r, &files[2]);
	rig_end(&r);
	for (int i = 0; i < 3; i += 2) {
		rig_count(&files[i], true, &c);
		assert_int_equal(c.notes_off, 1);
	}
	for (int i = 0; i < 3; i++)
		rig_file_done(&files[i]);
}

/* Of this thread, on whichever CPUs it is meanwhile: samples of them, at once. */
static void
make_faults(void)
{
	const size_t n = 64 * RIG_PERIOD * 4096;
	uint8_t *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(p != MAP_FAILED);
	madvise(p, n, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < n; i += 4096)
		((volatile uint8_t *)p)[i] = 1;
	munmap(p, n);
}

/* What was sampled before the call is on the disk after it. */
static void
test_sync(void **state)
{
	struct rig_file f = { 0 };
	struct session_options o = faults_of_all(&f);
	struct session_error e;
	struct rig_counts c;
	struct rig_load load;
	struct rig r;

	rig_start(&r, &o);
	rig_load_start(&load);
	for (int i = 0; i < 5; i++) {
		uint64_t now_ns;

		rig_sleep_ms(60);
		now_ns = rig_now_ns();
		make_faults();
		assert_int_equal(session_sync(r.session, &e), 0);
		assert_int_equal(f.syncs, i + 1);
		/* The writer has nothing to write for a second at least: the file stands still. */
		rig_count(&f, false, &c);
		assert_true(c.last_ns >= now_ns);
		assert_true(c.samples > 0);
	}
	rig_load_stop(&load);
	rig_end(&r);
	rig_file_done(&f);
}

static void
test_after_the_end(void **state)
{
	struct rig_file f = { 0 }, g = { 0 };
	struct session_options o = faults_of_all(&f);
	struct session_error e;
	struct rig r;

	rig_start(&r, &o);
	rig_stop(&r);
	assert_int_equal(session_sync(r.session, &e), -ESHUTDOWN);
	assert_int_equal(session_rotate(r.session, rig_sink(&g), &e), -ESHUTDOWN);
	assert_true(g.closed);
	assert_int_equal(session_set_frequency(r.session, 10, 0, &e), -ESHUTDOWN);
	session_close(r.session, &r.error);
	rig_file_done(&f);
}

static void
test_progress(void **state)
{
	struct rig_file f = { 0 };
	struct session_options o = faults_of_all(&f);
	struct session_progress a, b;
	struct rig r;

	rig_start(&r, &o);
	rig_sleep_ms(100);
	session_progress(r.session, &a);
	rig_sleep_ms(2100);
	session_progress(r.session, &b);
	assert_true(b.drain >= a.drain + 2);
	assert_true(b.writer >= a.writer + 2);
	rig_end(&r);
	rig_file_done(&f);
}

/* A thread that takes all the time that it is given, so that there is something to sample. */
struct spinner {
	pthread_t thread;
	clockid_t clock; /* of the CPU time that it was given */
	_Atomic uint32_t tid;
	atomic_bool stop;
};

static void *
spin(void *arg)
{
	struct spinner *s = arg;

	atomic_store(&s->tid, (uint32_t)syscall(SYS_gettid));
	while (!atomic_load(&s->stop))
		;
	return NULL;
}

static void
spinner_start(struct spinner *s)
{
	assert_int_equal(pthread_create(&s->thread, NULL, spin, s), 0);
	assert_int_equal(pthread_getcpuclockid(s->thread, &s->clock), 0);
	RIG_UNTIL(atomic_load(&s->tid));
}

static uint64_t
spinner_ns(const struct spinner *s)
{
	struct timespec t;

	assert_int_equal(clock_gettime(s->clock, &t), 0);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void
spinner_end(struct spinner *s)
{
	atomic_store(&s->stop, true);
	pthread_join(s->thread, NULL);
}

/*
 * Descriptors but sockets are as many as they were, or more by others at most. A helper is started when it is
 * first asked, on a busy machine late: a socket more may be its own.
 */
static bool
few_more_than(const struct rig_descriptors *then, unsigned others)
{
	const struct rig_descriptors now = rig_descriptors();
	const unsigned had = then->all - then->sockets, has = now.all - now.sockets;

	return has >= had && has <= had + others && now.sockets <= then->sockets + 1;
}

/* The clock of all CPUs at 999 Hz, then at 100: the samples' periods tell the same time. */
static void
test_frequency(void **state)
{
	static const char *const clock[] = { "cpu-clock" };
	struct rig_file f = { 0 }, g = { 0 };
	struct session_options o = { .events = clock,
				     .nr_events = 1,
				     .frequency_hz = 999,
				     .target = SESSION_ALL,
				     .call_graph = SESSION_CALL_GRAPH_NONE,
				     .out_fd = -1,
				     .sink = rig_sink(&f) };
	struct session_stats stats;
	struct session_error e;
	struct rig_counts a, b;
	struct rig_descriptors descriptors;
	struct spinner busy = { 0 };
	uint64_t begin, middle, end;
	struct rig r;

	spinner_start(&busy);
	f.tid = g.tid = busy.tid;
	rig_start(&r, &o);
	begin = spinner_ns(&busy);
	session_stats(r.session, &stats);
	assert_int_equal(stats.frequency_hz, 999);
	RIG_UNTIL(spinner_ns(&busy) > begin + 500000000);
	assert_int_equal(session_set_frequency(r.session, 0, 0, &e), -EINVAL);
	descriptors = rig_descriptors();
	for (uint64_t hz = 200; hz >= 50; hz -= 50)
		assert_int_equal(session_set_frequency(r.session, hz, 0, &e), 0);
	/* One a CPU, on which the ring is mapped, stays open for ever. */
	assert_true(few_more_than(&descriptors, stats.cpus));
	session_stats(r.session, &stats);
	assert_int_equal(stats.frequency_hz, 50);
	rotate(&r, &g);
	middle = spinner_ns(&busy);
	RIG_UNTIL(spinner_ns(&busy) > middle + 1000000000);
	rig_end(&r);
	end = spinner_ns(&busy);
	spinner_end(&busy);
	rig_count(&f, true, &a);
	rig_count(&g, true, &b);
	assert_int_equal(a.frequency_hz, 999);
	assert_int_equal(a.nr_rates, 4);
	assert_int_equal(a.rates[0].asked_hz, 200);
	assert_int_equal(a.rates[3].asked_hz, 50);
	assert_int_equal(a.rates[3].effective_hz, 50);
	assert_int_equal(a.rates[3].reason, RATE_ASKED);
	assert_int_equal(b.frequency_hz, 50);
	assert_int_equal(b.nr_rates, 0);
	/* Twice the time at a twentieth of the frequency. */
	assert_true(b.own > 0 && b.own * 5 < a.own);
	/* By its samples' periods the thread had the time that it was given, at each frequency. */
	assert_in_range(a.own_periods, (middle - begin) / 2, (middle - begin) * 2);
	assert_in_range(b.own_periods, (end - middle) / 2, (end - middle) * 2);
	rig_file_done(&f);
	rig_file_done(&g);
}

/* What is asked of the session's frequency, and what an event with 200 Hz of its own then has. */
static const struct {
	uint64_t hz, limit_hz, its_hz;
} own_rates[] = {
	{ 20, 0, 200 },	   { 999, 0, 200 }, { 20, 20, 20 },
	{ 500, 500, 200 }, { 10, 10, 10 },  { 10, 0, 200 },
};

#define OWN_RATES (sizeof(own_rates) / sizeof(own_rates[0]))

static void
test_own_frequency(void **state)
{
	static const char *const own[] = { "cpu-clock/freq=200/" };
	/* Of each rate one while nothing else is in force, and then one in which the next rate begins. */
	struct rig_file files[2 * OWN_RATES + 1] = { 0 };
	struct session_options o = { .events = own,
				     .nr_events = 1,
				     .frequency_hz = 50,
				     .target = SESSION_ALL,
				     .call_graph = SESSION_CALL_GRAPH_NONE,
				     .out_fd = -1,
				     .sink = rig_sink(&files[0]) };
	struct session_error e;
	struct rig_counts c;
	struct spinner busy = { 0 };
	struct rig r;

	spinner_start(&busy);
	rig_start(&r, &o);
	for (size_t i = 0; i < OWN_RATES; i++) {
		assert_int_equal(session_set_frequency(r.session, own_rates[i].hz,
						       own_rates[i].limit_hz, &e),
				 0);
		rotate(&r, &files[2 * i + 1]);
		rig_sleep_ms(500);
		rotate(&r, &files[2 * i + 2]);
	}
	rig_end(&r);
	spinner_end(&busy);
	for (size_t i = 0; i < OWN_RATES; i++) {
		const double period = 1e9 / (double)own_rates[i].its_hz;

		rig_count(&files[2 * i + 1], true, &c);
		assert_true(c.samples > 0);
		if ((double)c.periods < (double)c.samples * period * 0.7 ||
		    (double)c.periods > (double)c.samples * period * 1.5)
			fail_msg("%zu: %llu samples of %llu ns, at %llu Hz", i,
				 (unsigned long long)c.samples, (unsigned long long)c.periods,
				 (unsigned long long)own_rates[i].its_hz);
	}
	for (size_t i = 0; i < 2 * OWN_RATES + 1; i++)
		rig_file_done(&files[i]);
}

/* Waits until the session says so, for a minute at most: a host may be busy with others. */
static void
wait_suspended(struct rig *r, bool suspended)
{
	struct session_stats stats;

	for (int i = 0; i < 6000; i++) {
		session_stats(r->session, &stats);
		if (stats.suspended == suspended)
			return;
		rig_sleep_ms(10);
	}
	fail_msg("not %s", suspended ? "suspended" : "resumed");
}

/* Is it another file that it wants? */
static bool
is_refused(struct rig *r)
{
	struct session_stats stats;

	session_stats(r->session, &stats);
	return stats.refused;
}

/* The disk is full, and then it is not: one file, a gap in it, each fault accounted for. */
static void
test_disk_full(void **state)
{
	struct rig_file f = { 0 };
	struct session_options o = faults_of_all(&f);
	struct session_stats stats;
	struct session_error e;
	struct rig_counts c;
	struct rig_load load;
	struct rig r;

	o.suspend_on_full = true;
	o.block_age_ns = 50000000;
	rig_start(&r, &o);
	rig_load_start(&load);
	for (int i = 0; i < 2; i++) {
		rig_sleep_ms(200);
		f.write_errno = ENOSPC;
		wait_suspended(&r, true);
		assert_int_equal(session_sync(r.session, &e), -ENOSPC);
		rig_sleep_ms(300);
		assert_false(is_refused(&r));
		f.write_errno = 0;
		wait_suspended(&r, false);
	}
	rig_load_stop(&load);
	rig_stop(&r);
	session_stats(r.session, &stats);
	rig_count(&f, true, &c);
	assert_int_equal(c.nr_gaps, 2);
	assert_int_equal(c.gaps[0].cause, LOSS_DISK_FULL);
	assert_int_equal(c.gaps[0].cpu, GAP_CPU_ALL);
	assert_true(c.gaps[0].until_ns >= c.gaps[0].from_ns + 200000000);
	assert_true(c.gaps[0].samples > 0);
	assert_int_equal(c.gaps[0].samples + c.gaps[1].samples, c.loss[LOSS_DROPPED]);
	assert_int_equal(c.loss[LOSS_DROPPED], stats.loss[LOSS_DROPPED]);
	assert_int_equal(c.loss[LOSS_DISK_FULL],
			 c.gaps[0].until_ns - c.gaps[0].from_ns + c.gaps[1].until_ns -
				 c.gaps[1].from_ns);
	assert_int_equal(stats.loss[LOSS_DISK_FULL], c.loss[LOSS_DISK_FULL]);
	assert_exact(c.samples + c.loss[LOSS_DROPPED] + c.loss[LOSS_KERNEL_SAMPLES], c.due);
	session_close(r.session, &r.error);
	rig_file_done(&f);
}

/* A file is full as soon as it has begun: what was counted before it is in it all the same. */
static void
test_full_at_begin(void **state)
{
	/* Its header and META. */
	struct rig_file f = { 0 }, g = { .room = 2 };
	struct session_options o = faults_of_all(&f);
	struct rig_counts a, b;
	struct session_error e;
	struct rig_load load;
	struct rig r;

	o.suspend_on_full = true;
	rig_start(&r, &o);
	rig_load_start(&load);
	rig_sleep_ms(200);
	assert_true(session_rotate(r.session, rig_sink(&g), &e) >= 0);
	wait_suspended(&r, true);
	rig_sleep_ms(100);
	g.write_errno = 0;
	wait_suspended(&r, false);
	rig_load_stop(&load);
	rig_end(&r);
	rig_count(&f, true, &a);
	rig_count(&g, true, &b);
	assert_int_equal(b.nr_gaps, 1);
	assert_true(b.gaps[0].samples > 0);
	assert_int_equal(b.due_before, a.due);
	assert_exact(a.samples + b.samples + b.loss[LOSS_DROPPED] + a.loss[LOSS_KERNEL_SAMPLES] +
			     b.loss[LOSS_KERNEL_SAMPLES],
		     a.due + b.due);
	rig_file_done(&f);
	rig_file_done(&g);
}

/* The disk is found full by the end of a file, and the next file has room: no time at all. */
static void
test_full_at_rotation(void **state)
{
	struct rig_file f = { 0 }, g = { 0 };
	struct session_options o = faults_of_all(&f);
	struct session_stats stats;
	struct session_error e;
	struct rig_counts c;
	struct rig_load load;
	struct rig r;
	uint64_t from_ns;

	o.suspend_on_full = true;
	rig_start(&r, &o);
	rig_load_start(&load);
	rig_sleep_ms(200);
	from_ns = rig_now_ns();
	f.write_errno = ENOSPC;
	assert_true(session_rotate(r.session, rig_sink(&g), &e) >= 0);
	assert_true(f.closed);
	rig_sleep_ms(100);
	rig_load_stop(&load);
	rig_stop(&r);
	session_stats(r.session, &stats);
	rig_count(&g, true, &c);
	assert_int_equal(c.nr_gaps, 1);
	assert_true(c.gaps[0].from_ns >= from_ns);
	assert_true(c.gaps[0].until_ns >= c.gaps[0].from_ns);
	assert_true(c.gaps[0].samples > 0);
	assert_int_equal(c.loss[LOSS_DISK_FULL], c.gaps[0].until_ns - c.gaps[0].from_ns);
	assert_int_equal(stats.loss[LOSS_DISK_FULL], c.loss[LOSS_DISK_FULL]);
	session_close(r.session, &r.error);
	rig_file_done(&f);
	rig_file_done(&g);
}

/* After a sync that failed the file gets no byte any more; another one goes on. */
static void
test_sync_fails(void **state)
{
	struct rig_file f = { 0 }, g = { 0 };
	struct session_options o = faults_of_all(&f);
	struct session_error e;
	struct rig_counts a, b;
	struct rig_load load;
	struct rig r;
	size_t bytes;

	o.suspend_on_full = true;
	rig_start(&r, &o);
	rig_load_start(&load);
	rig_sleep_ms(100);
	f.sync_errno = EIO;
	assert_int_equal(session_sync(r.session, &e), -EIO);
	f.sync_errno = 0;
	wait_suspended(&r, true);
	assert_true(is_refused(&r));
	bytes = rig_file_bytes(&f);
	rig_sleep_ms(1300);
	assert_int_equal(session_sync(r.session, &e), -EIO);
	assert_int_equal(rig_file_bytes(&f), bytes);
	assert_true(session_rotate(r.session, rig_sink(&g), &e) >= 0);
	assert_true(f.closed);
	wait_suspended(&r, false);
	assert_false(is_refused(&r));
	rig_sleep_ms(100);
	rig_load_stop(&load);
	rig_end(&r);
	rig_count(&f, false, &a);
	rig_count(&g, true, &b);
	assert_int_equal(b.nr_gaps, 1);
	assert_int_equal(b.gaps[0].samples, b.loss[LOSS_DROPPED]);
	assert_exact(a.samples + b.samples + b.loss[LOSS_DROPPED] + a.loss[LOSS_KERNEL_SAMPLES] +
			     b.loss[LOSS_KERNEL_SAMPLES],
		     b.due_before + b.due);
	rig_file_done(&f);
	rig_file_done(&g);
}

/*
 * Somebody removes the file, and the next one before it could tell of it; at the end the third one
 * has all that was lost since the beginning of the first.
 */
static void
test_file_removed(void **state)
{
	struct rig_file f = { 0 }, g = { 0 }, h = { 0 };
	struct session_options o = faults_of_all(&f);
	struct session_stats stats;
	struct session_error e;
	struct rig_counts a, b, c;
	struct rig_load load;
	uint64_t from_ns;
	struct rig r;

	o.suspend_on_full = true;
	o.block_age_ns = 50000000;
	from_ns = rig_now_ns();
	rig_start(&r, &o);
	rig_load_start(&load);
	rig_sleep_ms(200);
	assert_int_equal(session_sync(r.session, &e), 0);
	rig_sleep_ms(100);
	f.sync_errno = f.write_errno = ESTALE;
	assert_int_equal(session_sync(r.session, &e), -ESTALE);
	assert_non_null(strstr(e.text, "removed"));
	assert_true(is_refused(&r));
	assert_int_equal(session_rotate(r.session, rig_sink(&g), &e), 0);
	assert_true(f.closed);
	wait_suspended(&r, false);
	rig_sleep_ms(300);
	assert_int_equal(session_sync(r.session, &e), 0);
	/* Found out by what ends it. */
	g.sync_errno = ESTALE;
	assert_int_equal(session_rotate(r.session, rig_sink(&h), &e), 1);
	rig_sleep_ms(100);
	rig_load_stop(&load);
	rig_stop(&r);
	session_stats(r.session, &stats);
	rig_count(&f, false, &a);
	rig_count(&g, false, &b);
	rig_count(&h, true, &c);
	assert_true(a.samples > 0 && b.samples > 0);
	assert_int_equal(b.nr_gaps, 1);
	assert_int_equal(b.gaps[0].cause, LOSS_REMOVED);
	assert_int_equal(b.loss[LOSS_REMOVED], a.samples);
	assert_int_equal(c.loss[LOSS_REMOVED], a.samples + b.samples);
	assert_int_equal(c.nr_gaps, 1);
	assert_int_equal(c.gaps[0].cause, LOSS_REMOVED);
	assert_int_equal(c.gaps[0].cpu, GAP_CPU_ALL);
	assert_true(c.gaps[0].from_ns >= from_ns && c.gaps[0].from_ns == b.gaps[0].from_ns);
	assert_true(c.gaps[0].until_ns >= b.gaps[0].until_ns + 300000000);
	assert_int_equal(c.gaps[0].samples, c.loss[LOSS_REMOVED] + c.loss[LOSS_DROPPED]);
	assert_int_equal(c.loss[LOSS_DISK_FULL], 0);
	assert_int_equal(stats.loss[LOSS_REMOVED], c.loss[LOSS_REMOVED]);
	assert_int_equal(stats.loss[LOSS_DROPPED], c.loss[LOSS_DROPPED]);
	assert_int_equal(stats.loss[LOSS_DISK_FULL], 0);
	assert_exact(c.samples + c.loss[LOSS_REMOVED] + c.loss[LOSS_DROPPED] +
			     c.loss[LOSS_KERNEL_SAMPLES],
		     c.due_before + c.due);
	session_close(r.session, &r.error);
	rig_file_done(&f);
	rig_file_done(&g);
	rig_file_done(&h);
}

/* Without suspend_on_full the session ends, and whoever waits is told. */
static void
test_disk_full_ends(void **state)
{
	struct rig_file f = { 0 };
	struct session_options o = faults_of_all(&f);
	struct session_error e = { 0 };
	struct rig_counts c;
	struct rig r;

	rig_start(&r, &o);
	rig_sleep_ms(100);
	f.write_errno = ENOSPC;
	assert_int_equal(session_sync(r.session, &e), -ENOSPC);
	assert_int_equal(pthread_join(r.thread, NULL), 0);
	assert_int_equal(r.result, -ENOSPC);
	assert_int_equal(session_sync(r.session, &e), -ESHUTDOWN);
	session_close(r.session, &e);
	rig_count(&f, false, &c);
	rig_file_done(&f);
}

/* Two at once, with an event each: neither sees the other. */
static void
test_two(void **state)
{
	static const char *const clock[] = { "cpu-clock" };
	struct rig_file files[3] = { 0 };
	struct session_options o = faults_of_all(&files[0]),
			       p = { .events = clock,
				     .nr_events = 1,
				     .frequency_hz = 500,
				     .target = SESSION_ALL,
				     .out_fd = -1 };
	struct rig_counts a, b, c;
	struct rig_load load;
	struct rig r, s;

	p.sink = rig_sink(&files[2]);
	rig_start(&r, &o);
	rig_start(&s, &p);
	rig_load_start(&load);
	rig_sleep_ms(200);
	rotate(&r, &files[1]);
	rig_sleep_ms(200);
	rig_load_stop(&load);
	rig_end(&s);
	rig_end(&r);
	rig_count(&files[0], true, &a);
	rig_count(&files[1], true, &b);
	rig_count(&files[2], true, &c);
	assert_int_equal(b.due_before, a.due);
	assert_exact(a.samples + b.samples + a.loss[0] + b.loss[0], a.due + b.due);
	assert_true(c.samples > 100 && c.nr_gaps == 0);
	for (int i = 0; i < 3; i++)
		rig_file_done(&files[i]);
}

/* --- counters ----------------------------------------------------------------------------- */

#define COUNTERS 3500u /* three readings of them are more than the queue has room for */
#define COUNTERS_BYTES (3 * COUNTERS)

struct turner {
	pthread_t thread;
	struct rig *rig;
	struct rig_file *file;
};

static void *
turn_to(void *arg)
{
	struct turner *t = arg;

	rotate(t->rig, t->file);
	return NULL;
}

static struct session_options
counters_of(struct rig_file *f, const char *counters)
{
	static const char *const clock[] = { "cpu-clock" };
	struct session_options o = faults_of_all(f);

	o.events = clock;
	o.period = 0;
	o.frequency_hz = 10;
	o.counters = counters;
	o.counter_interval_ns = UINT64_C(3600000000000);
	o.cpus = "0";
	return o;
}

/* Their list is the caller's. */
static struct session_options
many_counters_of(struct rig_file *f, char list[COUNTERS_BYTES])
{
	struct session_options o;

	memcpy(list, "cs", sizeof("cs"));
	for (size_t i = 1; i < COUNTERS; i++)
		memcpy(list + 3 * i - 1, ",cs", sizeof(",cs"));
	o = counters_of(f, list);
	o.queue_bytes = 1 << 20;
	return o;
}

/* While there is no room each file has its readings nevertheless, at its beginning and its end, each of them once. */
static void
test_counters_without_room(void **state)
{
	char counters[COUNTERS_BYTES];
	struct rig_file files[5] = { 0 };
	struct turner turners[4];
	struct session_options o;
	struct rig_counts c;
	uint64_t clocks = 0;
	struct rig r;

	o = many_counters_of(&files[0], counters);
	rig_start(&r, &o);
	files[0].stalled = true;
	for (size_t i = 0; i < 4; i++) {
		turners[i] = (struct turner){ .rig = &r, .file = &files[i + 1] };
		assert_int_equal(pthread_create(&turners[i].thread, NULL, turn_to, &turners[i]), 0);
	}
	RIG_UNTIL(files[0].waits > 0);
	rig_sleep_ms(500);
	files[0].stalled = false;
	for (size_t i = 0; i < 4; i++)
		pthread_join(turners[i].thread, NULL);
	rig_end(&r);
	for (size_t i = 0; i < 5; i++) {
		rig_count(&files[i], true, &c);
		/* The first look at the CPUs is one, too. That of the clock is at each file's end, and where it follows one. */
		clocks += c.reads % COUNTERS;
		if (c.reads / COUNTERS < 2 || c.reads / COUNTERS > 3)
			fail_msg("file %zu has %llu readings", i, (unsigned long long)c.reads);
		rig_file_done(&files[i]);
	}
	assert_int_equal(clocks, 5 + 4);
}

/* A reading that the queue had no room for is sent to its end: each counter has as many readings as the others. */
static void
test_counters_in_parts(void **state)
{
	char counters[COUNTERS_BYTES];
	struct rig_file f = { 0 };
	struct session_options o;
	struct rig_counts c;
	struct rig r;

	o = many_counters_of(&f, counters);
	o.counter_interval_ns = UINT64_C(100000000);
	rig_start(&r, &o);
	f.stalled = true;
	RIG_UNTIL(f.waits > 0);
	rig_sleep_ms(500);
	f.stalled = false;
	rig_sleep_ms(500);
	rig_end(&r);
	rig_count(&f, true, &c);
	assert_true(c.reads >= 4 * COUNTERS);
	/* The last one is that of the clock. */
	assert_int_equal(c.reads % COUNTERS, 1);
	rig_file_done(&f);
}

/* A session takes over from another one: of that nothing comes after its last reading, of this nothing before. */
static void
test_counters_handed_over(void **state)
{
	struct rig_file files[4] = { 0 };
	struct session_options o = counters_of(&files[0], "cs"), p = counters_of(&files[1], "cs");
	struct rig_counts c;
	struct session_error e;
	struct rig a, b;

	rig_start(&a, &o);
	p.counters_wait = true;
	rig_start(&b, &p);
	rig_sleep_ms(1100); /* the first look at the CPUs */
	rotate(&b, &files[2]);
	rig_count(&files[1], true, &c);
	/* At its end, that of the clock. */
	assert_int_equal(c.reads, 1);
	assert_int_equal(session_count(a.session, false, &e), 0);
	assert_int_equal(session_count(b.session, true, &e), 0);
	/* Asked for once more, or of one that is over, they change nothing. */
	assert_int_equal(session_count(b.session, true, &e), 0);
	assert_int_equal(session_count(a.session, false, &e), 0);
	assert_int_equal(session_count(a.session, true, &e), 0);
	rotate(&a, &files[3]);
	rig_end(&a);
	rig_end(&b);
	rig_count(&files[0], true, &c);
	assert_true(c.reads >= 2);
	/* At the begin and the end, that of the clock. */
	rig_count(&files[3], true, &c);
	assert_int_equal(c.reads, 2);
	rig_count(&files[2], true, &c);
	assert_int_equal(c.reads, 2 + 2);
	for (size_t i = 0; i < 4; i++)
		rig_file_done(&files[i]);
}

/* --- CPUs --------------------------------------------------------------------------------- */

#define CPU1 "/sys/devices/system/cpu/cpu1/online"

static bool
set_cpu1(const char *online)
{
	int fd = open(CPU1, O_WRONLY | O_CLOEXEC);
	bool done = fd >= 0 && write(fd, online, 1) == 1;

	if (fd >= 0)
		close(fd);
	return done;
}

/* Also behind an assertion that failed: the host goes on with all of its CPUs. */
static int
cpu1_back(void **state)
{
	(void)state;
	(void)set_cpu1("1");
	return 0;
}

static void
wait_cpus(struct rig *r, uint32_t cpus)
{
	struct session_stats stats;

	for (int i = 0; i < 3000; i++) {
		session_stats(r->session, &stats);
		if (stats.cpus == cpus)
			return;
		rig_sleep_ms(10);
	}
	fail_msg("%u CPUs are sampled and not %u", stats.cpus, cpus);
}

/* After a CPU has come the writer reads /proc again, with some of it open meanwhile. */
static void
wait_descriptors(const struct rig_descriptors *wanted)
{
	for (int i = 0; i < 1000 && !few_more_than(wanted, 0); i++)
		rig_sleep_ms(10);
	if (few_more_than(wanted, 0))
		return;
	rig_print_descriptors();
	fail_msg("%u descriptors are open and not %u", rig_descriptors().all, wanted->all);
}

/* Five times away and back, with a new file in the middle of the third time. */
static void
test_hotplug(void **state)
{
	struct rig_file files[2] = { 0 };
	struct session_options o = faults_of_all(&files[0]);
	struct session_stats stats;
	struct rig_counts a, b;
	struct rig_descriptors descriptors;
	struct rig_load load;
	uint32_t cpus;
	struct rig r;

	rig_start(&r, &o);
	session_stats(r.session, &stats);
	cpus = stats.cpus;
	rig_load_start(&load);
	rig_sleep_ms(100);
	descriptors = rig_descriptors();
	for (int i = 0; i < 5; i++) {
		if (!set_cpu1("0")) {
			rig_load_stop(&load);
			rig_end(&r);
			print_message("skipped: CPU 1 cannot be taken offline: %s\n",
				      strerror(errno));
			skip();
		}
		wait_cpus(&r, cpus - 1);
		if (i == 2)
			rotate(&r, &files[1]);
		assert_true(set_cpu1("1"));
		wait_cpus(&r, cpus);
		/* On a busy machine nothing might come to a CPU that is new for long. */
		rig_load_pin(&load, 1);
		rig_sleep_ms(50);
	}
	wait_descriptors(&descriptors);
	rig_load_stop(&load);
	rig_stop(&r);
	session_stats(r.session, &stats);
	session_close(r.session, &r.error);
	rig_count(&files[0], true, &a);
	rig_count(&files[1], true, &b);
	/* Two that ended and one that did not; that one again, its end, and two more. */
	assert_int_equal(a.nr_gaps, 5);
	assert_int_equal(b.nr_gaps, 6);
	assert_int_equal(a.gaps[4].until_ns, 0);
	assert_int_equal(b.gaps[0].until_ns, 0);
	assert_true(gap_same(&a.gaps[4], &b.gaps[0]) && gap_same(&b.gaps[0], &b.gaps[1]));
	assert_int_equal(b.gaps[1].cause, LOSS_CPU_OFFLINE);
	assert_int_equal(b.gaps[1].cpu, 1);
	assert_true(b.gaps[1].until_ns > b.gaps[1].from_ns);
	assert_true(a.cpu[1] > 0 && b.cpu[1] > 0);
	assert_true(stats.loss[LOSS_CPU_OFFLINE] > 0);
	assert_int_equal(a.loss[LOSS_CPU_OFFLINE] + b.loss[LOSS_CPU_OFFLINE],
			 stats.loss[LOSS_CPU_OFFLINE]);
	assert_exact(a.samples + b.samples + a.loss[LOSS_KERNEL_SAMPLES] +
			     b.loss[LOSS_KERNEL_SAMPLES],
		     a.due + b.due);
	rig_file_done(&files[0]);
	rig_file_done(&files[1]);
}

/* How many descriptors in a row cannot be watched, and what was watched since. */
static atomic_int unwatchable, watched;

int
epoll_ctl(int epfd, int op, int fd, struct epoll_event *event)
{
	if (op == EPOLL_CTL_ADD && atomic_load(&unwatchable) > 0) {
		atomic_fetch_sub(&unwatchable, 1);
		errno = ENOSPC; /* fs.epoll.max_user_watches */
		return -1;
	}
	if (op == EPOLL_CTL_ADD)
		atomic_fetch_add(&watched, 1);
	return (int)syscall(SYS_epoll_ctl, epfd, op, fd, event);
}

/* What a session takes for the CPUs that are online. */
static void
say_online(int fd, const char *list)
{
	assert_int_equal(pwrite(fd, list, strlen(list), 0), strlen(list));
	assert_int_equal(ftruncate(fd, (off_t)strlen(list)), 0);
}

/* A CPU that came and could not be watched is sampled, and watched by the next look. */
static void
test_unwatchable_cpu(void **state)
{
	struct rig_file f = { 0 };
	struct session_options o = faults_of_all(&f);
	struct session_stats stats;
	int online = memfd_create("online", MFD_CLOEXEC);
	struct rig r = { 0 };

	rig_needs_events(false);
	assert_true(online >= 0);
	assert_int_equal(session_open(&o, &r.session, &r.error), 0);
	session_stats(r.session, &stats);
	if (stats.cpus < 2) {
		session_close(r.session, &r.error);
		print_message("skipped: there is one CPU\n");
		skip();
	}
	close(r.session->hotplug.online_fd);
	r.session->hotplug.online_fd = online;
	say_online(online, "0\n");
	rig_go(&r);
	wait_cpus(&r, 1);
	atomic_store(&unwatchable, 1);
	atomic_store(&watched, 0);
	say_online(online, "0-1\n");
	wait_cpus(&r, 2);
	/* Its event, and that of side-band. */
	RIG_UNTIL(atomic_load(&unwatchable) == 0 && atomic_load(&watched) == 2);
	rig_end(&r);
	rig_file_done(&f);
}

static void
dump(struct rig *r, struct rig_file *f)
{
	struct session_error e;

	if (session_dump(r->session, rig_sink(f), &e) < 0)
		fail_msg("session_dump: %s", e.text);
}

static struct session_options
flight_of_all(struct rig_file *f, uint32_t pages)
{
	static const char *const clock[] = { "cpu-clock" };
	struct session_options o = faults_of_all(f);

	o.events = clock;
	o.period = 0;
	o.frequency_hz = 1000;
	o.ring_pages = pages;
	o.overwrite = o.dump_again = true;
	return o;
}

/* Takes CPU 1 away, with a load on it before; skips the test where it stays. */
static void
lose_cpu1(struct rig *r, struct rig_load *load)
{
	struct session_stats stats;
	uint32_t cpus;

	session_stats(r->session, &stats);
	cpus = stats.cpus;
	rig_load_start(load);
	rig_load_keep_busy(load);
	rig_load_pin(load, 1);
	rig_sleep_ms(300);
	if (!set_cpu1("0")) {
		rig_load_stop(load);
		rig_end(r);
		print_message("skipped: CPU 1 cannot be taken offline: %s\n", strerror(errno));
		skip();
	}
	wait_cpus(r, cpus - 1);
}

/* What the flight recorder has of a CPU that went is in its dumps, also when that has come again. */
static void
test_flight_of_a_cpu_that_went(void **state)
{
	struct rig_file files[5] = { 0 };
	struct session_options o = flight_of_all(&files[0], 256);
	struct rig_counts first, again, back, twice;
	struct session_stats stats;
	struct rig_load load;
	uint64_t from_ns, more_at_most;
	struct rig_descriptors descriptors;
	struct rig r;

	rig_start(&r, &o);
	rig_sleep_ms(50);
	descriptors = rig_descriptors();
	lose_cpu1(&r, &load);
	dump(&r, &files[1]);
	dump(&r, &files[2]);
	session_stats(r.session, &stats);
	assert_true(set_cpu1("1"));
	wait_cpus(&r, stats.cpus + 1);
	rig_load_pin(&load, 1);
	rig_sleep_ms(300);
	from_ns = rig_now_ns();
	dump(&r, &files[3]);
	/* It goes once more: what is left of it is the later one. */
	assert_true(set_cpu1("0"));
	/* A sample a millisecond, and some. */
	more_at_most = (rig_now_ns() - from_ns) / 1000000 + 100;
	wait_cpus(&r, stats.cpus);
	dump(&r, &files[4]);
	assert_true(set_cpu1("1"));
	wait_cpus(&r, stats.cpus + 1);
	rig_load_stop(&load);
	wait_descriptors(&descriptors);
	rig_end(&r);
	rig_count(&files[0], true, &first);
	rig_count(&files[1], true, &again);
	rig_count(&files[2], true, &back);
	rig_count(&files[3], true, &twice);
	assert_true(first.cpu[1] > 50);
	assert_int_equal(again.cpu[1], first.cpu[1]);
	assert_true(back.cpu[1] > first.cpu[1] + 50);
	assert_true(twice.cpu[1] > 50);
	assert_uint_in_range(twice.cpu[1], back.cpu[1] - first.cpu[1],
			     back.cpu[1] - first.cpu[1] + more_at_most);
	for (size_t i = 0; i < 5; i++)
		rig_file_done(&files[i]);
}

/* As long as it is not older than what the others have. */
static void
test_flight_forgets_a_cpu(void **state)
{
	struct rig_file files[2] = { 0 };
	struct session_options o = flight_of_all(&files[0], 4);
	struct rig_counts c;
	struct rig_load load;
	struct rig r;

	rig_start(&r, &o);
	rig_sleep_ms(50);
	lose_cpu1(&r, &load);
	/* A hundred samples are a ring. */
	rig_sleep_ms(1500);
	dump(&r, &files[1]);
	assert_true(set_cpu1("1"));
	rig_load_stop(&load);
	rig_end(&r);
	rig_count(&files[0], true, &c);
	assert_int_equal(c.cpu[1], 0);
	assert_true(c.cpu[0] > 10);
	for (size_t i = 0; i < 2; i++)
		rig_file_done(&files[i]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rotate),
		cmocka_unit_test(test_rotate_refused),
		cmocka_unit_test(test_rotate_while_off),
		cmocka_unit_test(test_sync),
		cmocka_unit_test(test_after_the_end),
		cmocka_unit_test(test_progress),
		cmocka_unit_test(test_frequency),
		cmocka_unit_test(test_own_frequency),
		cmocka_unit_test(test_disk_full),
		cmocka_unit_test(test_full_at_begin),
		cmocka_unit_test(test_full_at_rotation),
		cmocka_unit_test(test_sync_fails),
		cmocka_unit_test(test_file_removed),
		cmocka_unit_test(test_disk_full_ends),
		cmocka_unit_test(test_two),
		cmocka_unit_test(test_counters_without_room),
		cmocka_unit_test(test_counters_in_parts),
		cmocka_unit_test(test_counters_handed_over),
		cmocka_unit_test_teardown(test_unwatchable_cpu, cpu1_back),
		cmocka_unit_test_teardown(test_hotplug, cpu1_back),
		cmocka_unit_test_teardown(test_flight_of_a_cpu_that_went, cpu1_back),
		cmocka_unit_test_teardown(test_flight_forgets_a_cpu, cpu1_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
