/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A session on a thread of its own: its states, its failures, and who waits for it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "daemon/process/watchdog.h"
#include "daemon/stream/session_thread.h"
#include "format/bytes/time_text.h"
#include "recorder/helper/helper.h"
#include "tests/lab/event_gate.h"
#include "tests/lab/session_rig.h"

static const char *const clock_event[] = { "cpu-clock:u" };
static pid_t self[1];

struct made {
	struct rig_file file;
	struct session_thread *thread;
	struct session_stats last;
	struct session_error error;
	int wake_fd;
	int prepare_errno, opened_errno;
};

/* The clock of this very thread: what anybody may sample, and what is opened fastest. */
static struct session_options
own_clock(void)
{
	return (struct session_options){ .events = clock_event,
					 .nr_events = 1,
					 .frequency_hz = 499,
					 .target = SESSION_TID,
					 .pids = self,
					 .nr_pids = 1,
					 .call_graph = SESSION_CALL_GRAPH_NONE,
					 .block_age_ns = 60 * SECOND_NS,
					 .out_fd = -1,
					 .writer = "test" };
}

static int
prepare(void *arg, struct session_options *o, struct session_error *error)
{
	struct made *m = arg;

	if (m->prepare_errno)
		return session_fail(error, -m->prepare_errno, "there is no file today");
	o->sink = rig_sink(&m->file);
	return 0;
}

static int
opened(void *arg, const struct session *session, struct session_error *error)
{
	struct made *m = arg;

	assert_false(session_contents(session));
	return m->opened_errno
		? session_fail(error, -m->opened_errno, "its file is not to be shown")
		: 0;
}

static void
made_start(struct made *m, const struct session_options *options)
{
	static const struct session_thread_hooks hooks = { prepare, opened };
	struct session_options o = options ? *options : own_clock();

	m->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	assert_true(m->wake_fd >= 0);
	assert_int_equal(session_thread_start(&o, &hooks, m, m->wake_fd, &m->thread, &m->error), 0);
	/* It has a copy of its own. */
	memset(&o, 0xff, sizeof(o));
}

static int
made_close(struct made *m)
{
	int r = session_thread_close(m->thread, &m->last, &m->error);

	close(m->wake_fd);
	return r;
}

/* Until it records; skips the test where this user may not sample. */
static void
made_begin(struct made *m, const struct session_options *options)
{
	int r;

	made_start(m, options);
	RIG_UNTIL(session_thread_opened(m->thread) || session_thread_ended(m->thread));
	if (session_thread_opened(m->thread))
		return;
	r = made_close(m);
	if (r != -EACCES && r != -EPERM && r != -ENOSYS)
		fail_msg("it does not record: %s", m->error.text);
	print_message("skipped: %s\n", m->error.text);
	skip();
}

/* Waits for a wake of the owner, and takes all that there are: how many. */
static uint64_t
made_woken(struct made *m)
{
	struct pollfd p = { .fd = m->wake_fd, .events = POLLIN };
	uint64_t n = 0;

	assert_int_equal(poll(&p, 1, 30000), 1);
	assert_int_equal(read(m->wake_fd, &n, sizeof(n)), sizeof(n));
	return n;
}

static bool
made_silent(const struct made *m)
{
	uint64_t n;

	return read(m->wake_fd, &n, sizeof(n)) < 0 && errno == EAGAIN;
}

/* Something for the clock to sample. */
static void
spin_ms(unsigned int ms)
{
	for (uint64_t until_ns = rig_now_ns() + ms * UINT64_C(1000000); rig_now_ns() < until_ns;)
		;
}

static void
spin_until_sampled(struct made *m)
{
	struct session_stats s;
	struct session_error e;

	for (int i = 0; i < 100; i++) {
		spin_ms(20);
		assert_int_equal(session_sync(session_thread_session(m->thread), &e), 0);
		session_thread_stats(m->thread, &s);
		if (s.samples)
			return;
	}
	fail_msg("no sample of a thread that runs");
}

/* --- states ------------------------------------------------------------------------------ */

static void
test_life(void **state)
{
	struct made m = { 0 };
	struct session_stats s;
	struct rig_counts c;

	made_begin(&m, NULL);
	assert_int_equal(made_woken(&m), 1);
	assert_true(session_thread_running(m.thread));
	assert_false(session_thread_ended(m.thread));
	assert_non_null(session_thread_session(m.thread));
	spin_until_sampled(&m);
	session_thread_stats(m.thread, &s);
	assert_false(s.suspended);
	assert_true(s.file_bytes > 0);
	assert_true(made_silent(&m));

	session_thread_stop(m.thread);
	assert_false(session_thread_running(m.thread));
	assert_true(session_thread_opened(m.thread));
	assert_int_equal(made_woken(&m), 1);
	assert_true(session_thread_ended(m.thread));
	assert_true(session_thread_opened(m.thread));
	assert_true(m.file.closed);
	session_thread_stats(m.thread, &s);
	assert_int_equal(made_close(&m), 0);
	assert_memory_equal(&s, &m.last, sizeof(s));
	rig_count(&m.file, true, &c);
	assert_int_equal(c.samples, m.last.samples);
	assert_true(c.samples > 0);
	rig_file_done(&m.file);
}

/* What a thread says that has not got its events yet, and what the watchdog makes of it. */
static void
test_opening(void **state)
{
	static const struct session_stats zeroes = { .suspended = true };
	const uint64_t now_ns = rig_now_ns();
	struct made m = { 0 };
	struct session_stats s;

	event_gate_set(true, 0);
	made_start(&m, NULL);
	RIG_UNTIL(event_gate_reached());
	assert_false(session_thread_opened(m.thread));
	assert_false(session_thread_running(m.thread));
	assert_false(session_thread_ended(m.thread));
	memset(&s, 0xff, sizeof(s));
	session_thread_stats(m.thread, &s);
	assert_memory_equal(&s, &zeroes, sizeof(s));
	assert_true(made_silent(&m));
	assert_true(session_thread_alive(m.thread, true, now_ns));
	assert_true(session_thread_alive(m.thread, true, now_ns + WATCHDOG_STUCK_NS - 1));
	assert_false(session_thread_alive(m.thread, true, now_ns + WATCHDOG_STUCK_NS));
	/* A client's file may keep it. */
	assert_true(session_thread_alive(m.thread, false, now_ns + 2 * WATCHDOG_STUCK_NS));

	event_gate_set(false, EACCES);
	assert_int_equal(made_woken(&m), 1);
	assert_true(session_thread_ended(m.thread));
	assert_false(session_thread_opened(m.thread));
	assert_true(session_thread_alive(m.thread, true, now_ns + 9 * WATCHDOG_STUCK_NS));
	assert_int_equal(made_close(&m), -EACCES);
	event_gate_set(false, 0);
	rig_file_done(&m.file);
}

/* Asked to end before there is a session: it opens, and ends in order. */
static void
test_stopped_while_opening(void **state)
{
	struct made m = { 0 };
	struct rig_counts c;

	made_begin(&m, NULL); /* or the test is skipped */
	assert_int_equal(made_close(&m), 0);
	rig_file_done(&m.file);

	event_gate_set(true, 0);
	made_start(&m, NULL);
	RIG_UNTIL(event_gate_reached());
	session_thread_stop(m.thread);
	assert_false(session_thread_ended(m.thread));
	event_gate_set(false, 0);
	while (!session_thread_ended(m.thread))
		assert_false(session_thread_running(m.thread));
	assert_true(session_thread_opened(m.thread));
	assert_int_equal(made_close(&m), 0);
	rig_count(&m.file, true, &c);
	rig_file_done(&m.file);
}

/* Nobody waited for anything: the close stops it, wherever it is. */
static void
test_closed_at_once(void **state)
{
	struct made m = { 0 };
	int r;

	made_start(&m, NULL);
	r = made_close(&m);
	assert_true(r == 0 || r == -EACCES || r == -EPERM || r == -ENOSYS);
	assert_true(m.file.closed);
	assert_int_equal(session_thread_close(NULL, NULL, NULL), 0);
	rig_file_done(&m.file);
}

/* --- failures ---------------------------------------------------------------------------- */

static void
test_prepare_fails(void **state)
{
	struct made m = { .prepare_errno = EDQUOT };

	made_start(&m, NULL);
	assert_int_equal(made_woken(&m), 1);
	assert_true(session_thread_ended(m.thread));
	assert_false(session_thread_opened(m.thread));
	assert_false(session_thread_running(m.thread));
	assert_int_equal(made_close(&m), -EDQUOT);
	assert_string_equal(m.error.text, "there is no file today");
	assert_int_equal(m.last.samples, 0);
	assert_true(m.last.suspended);
	/* Nor does anybody have to ask why. */
	made_start(&m, NULL);
	assert_int_equal(session_thread_close(m.thread, NULL, NULL), -EDQUOT);
	close(m.wake_fd);
}

/* What prepare() gave belongs to the session, also to one that never was. */
static void
test_open_fails(void **state)
{
	static const char *const nonsense[] = { "no-such-event" };
	struct session_options o = own_clock();
	struct made m = { 0 };

	event_gate_set(false, EMFILE);
	made_start(&m, NULL);
	assert_int_equal(made_woken(&m), 1);
	assert_false(session_thread_opened(m.thread));
	assert_true(m.file.closed);
	assert_int_equal(m.file.n, 0);
	assert_int_equal(made_close(&m), -EMFILE);
	assert_true(strlen(m.error.text) > 0);
	event_gate_set(false, 0);

	m = (struct made){ 0 };
	o.events = nonsense;
	made_start(&m, &o);
	assert_int_equal(made_woken(&m), 1);
	assert_true(m.file.closed);
	assert_int_equal(made_close(&m), -EINVAL);
	assert_non_null(strstr(m.error.text, "no-such-event"));
}

/* One that opened, and whose file cannot be what it should be, ends before it records. */
static void
test_opened_fails(void **state)
{
	struct made m = { 0 };

	made_begin(&m, NULL); /* or the test is skipped */
	assert_int_equal(made_close(&m), 0);
	rig_file_done(&m.file);

	m = (struct made){ .opened_errno = EROFS };
	made_start(&m, NULL);
	assert_int_equal(made_woken(&m), 1);
	assert_true(session_thread_ended(m.thread));
	assert_false(session_thread_opened(m.thread));
	assert_true(m.file.closed);
	assert_int_equal(made_close(&m), -EROFS);
	assert_string_equal(m.error.text, "its file is not to be shown");
	rig_file_done(&m.file);
}

/* Ends by itself, and keeps why. What is asked of it later is answered. */
static void
test_fails_while_recording(void **state)
{
	struct made m = { 0 };
	struct rig_file other = { 0 };
	struct session_error e;

	made_begin(&m, NULL);
	assert_int_equal(made_woken(&m), 1);
	m.file.write_errno = ENOSPC;
	spin_ms(20);
	(void)session_sync(session_thread_session(m.thread), &e);
	assert_int_equal(made_woken(&m), 1);
	assert_true(session_thread_ended(m.thread));
	assert_false(session_thread_running(m.thread));
	assert_true(session_thread_opened(m.thread));
	assert_true(m.file.closed);

	assert_int_equal(session_sync(session_thread_session(m.thread), &e), -ESHUTDOWN);
	assert_int_equal(session_rotate(session_thread_session(m.thread), rig_sink(&other), &e),
			 -ESHUTDOWN);
	assert_true(other.closed);
	assert_int_equal(session_set_frequency(session_thread_session(m.thread), 9, 0, &e),
			 -ESHUTDOWN);
	session_set_sideband(session_thread_session(m.thread), 1000);
	session_thread_stop(m.thread);
	assert_int_equal(made_close(&m), -ENOSPC);
	assert_non_null(strstr(m.error.text, "No space"));
	rig_file_done(&m.file);
	rig_file_done(&other);
}

/* Nothing is wrong until its last bytes. */
static void
test_finish_fails(void **state)
{
	struct made m = { 0 };
	struct session_error e;

	made_begin(&m, NULL);
	assert_int_equal(session_sync(session_thread_session(m.thread), &e), 0);
	m.file.write_errno = EDQUOT;
	session_thread_stop(m.thread);
	assert_true(session_thread_wait(m.thread, NULL, NULL));
	assert_true(session_thread_ended(m.thread));
	assert_int_equal(made_close(&m), -EDQUOT);
	assert_true(strlen(m.error.text) > 0);
	assert_true(m.file.closed);
	rig_file_done(&m.file);
}

static void
test_time_is_over(void **state)
{
	struct session_options o = own_clock();
	struct made m = { 0 };

	o.duration_ns = 1;
	made_begin(&m, &o);
	RIG_UNTIL(session_thread_ended(m.thread));
	assert_false(session_thread_running(m.thread));
	assert_int_equal(made_close(&m), 0);
	assert_true(m.file.closed);
	rig_file_done(&m.file);
}

/* --- who waits --------------------------------------------------------------------------- */

static void *
wait_for(void *arg)
{
	struct made *m = arg;

	return session_thread_wait(m->thread, NULL, NULL) ? m : NULL;
}

/* As a chore does, while the owner goes on looking. */
static void
test_wait_elsewhere(void **state)
{
	struct made m = { 0 };
	pthread_t waiter;
	void *waited;

	made_begin(&m, NULL);
	assert_int_equal(pthread_create(&waiter, NULL, wait_for, &m), 0);
	session_thread_stop(m.thread);
	RIG_UNTIL(session_thread_ended(m.thread));
	assert_int_equal(pthread_join(waiter, &waited), 0);
	assert_ptr_equal(waited, &m);
	assert_int_equal(made_close(&m), 0);
	rig_file_done(&m.file);
}

static bool
give_up(void *arg)
{
	++*(unsigned int *)arg;
	return false;
}

/* A file that takes nothing: at its end, who waits may give up, and the thread goes on. */
static void
test_stalled_at_the_end(void **state)
{
	uint64_t now_ns = rig_now_ns();
	unsigned int seconds = 0;
	struct session_error e;
	struct made m = { 0 };
	struct rig_counts c;

	made_begin(&m, NULL);
	assert_int_equal(session_sync(session_thread_session(m.thread), &e), 0);
	m.file.stalled = true;
	session_thread_stop(m.thread);
	assert_false(session_thread_wait(m.thread, give_up, &seconds));
	assert_int_equal(seconds, 1);
	assert_false(session_thread_ended(m.thread));
	RIG_UNTIL(m.file.waits);
	/* The watchdog gives its end a while, and a client's file as long as it likes. */
	RIG_UNTIL(!session_thread_alive(m.thread, true, now_ns += WATCHDOG_STUCK_NS) &&
		  session_thread_alive(m.thread, false, now_ns));

	m.file.stalled = false;
	assert_true(session_thread_wait(m.thread, NULL, NULL));
	assert_true(session_thread_ended(m.thread));
	assert_true(session_thread_alive(m.thread, true, now_ns + WATCHDOG_STUCK_NS));
	assert_true(session_thread_wait(m.thread, give_up, &seconds));
	assert_int_equal(seconds, 1);
	assert_int_equal(made_close(&m), 0);
	rig_count(&m.file, true, &c);
	rig_file_done(&m.file);
}

static bool
progressed(const struct made *m, const struct session_progress *from, bool writer)
{
	struct session_progress now;
	struct session_error e;

	/* The drain refuses it, and has come round: else it may sleep for a second. */
	assert_int_equal(session_set_frequency(session_thread_session(m->thread), 9, 0, &e),
			 -EOPNOTSUPP);
	session_progress(session_thread_session(m->thread), &now);
	return now.drain != from->drain && (!writer || now.writer != from->writer);
}

static void *
ask_sync(void *arg)
{
	struct made *m = arg;
	struct session_error e;

	return session_sync(session_thread_session(m->thread), &e) == 0 ? m : NULL;
}

/* A writer that hangs, under a drain that does not. */
static void
test_alive(void **state)
{
	const uint64_t now_ns = rig_now_ns();
	struct session_progress p;
	struct made m = { 0 };
	pthread_t asker;
	void *synced;

	made_begin(&m, NULL);
	m.file.stalled = true;
	assert_int_equal(pthread_create(&asker, NULL, ask_sync, &m), 0);
	RIG_UNTIL(m.file.waits);
	assert_true(session_thread_alive(m.thread, true, now_ns));
	session_progress(session_thread_session(m.thread), &p);
	RIG_UNTIL(progressed(&m, &p, false));
	assert_false(session_thread_alive(m.thread, true, now_ns + WATCHDOG_STUCK_NS));
	assert_true(session_thread_alive(m.thread, false, now_ns + WATCHDOG_STUCK_NS));

	session_progress(session_thread_session(m.thread), &p);
	m.file.stalled = false;
	assert_int_equal(pthread_join(asker, &synced), 0);
	assert_ptr_equal(synced, &m);
	RIG_UNTIL(progressed(&m, &p, true));
	assert_true(session_thread_alive(m.thread, true, now_ns + 2 * WATCHDOG_STUCK_NS));
	assert_int_equal(made_close(&m), 0);
	rig_file_done(&m.file);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_life),
		cmocka_unit_test(test_opening),
		cmocka_unit_test(test_stopped_while_opening),
		cmocka_unit_test(test_closed_at_once),
		cmocka_unit_test(test_prepare_fails),
		cmocka_unit_test(test_open_fails),
		cmocka_unit_test(test_opened_fails),
		cmocka_unit_test(test_fails_while_recording),
		cmocka_unit_test(test_finish_fails),
		cmocka_unit_test(test_time_is_over),
		cmocka_unit_test(test_wait_elsewhere),
		cmocka_unit_test(test_stalled_at_the_end),
		cmocka_unit_test(test_alive),
	};

	/* The sanitizer of threads wants forks while there is one. */
	(void)helper_start();
	self[0] = getpid();
	return cmocka_run_group_tests_name("session_thread", tests, NULL, NULL);
}
