/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All sessions of the daemon together: who wakes the loop, reloads, budgets, and the end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "daemon/process/chores.h"
#include "daemon/process/watchdog.h"
#include "daemon/stream/capture.h"
#include "daemon/stream/governor.h"
#include "daemon/stream/streams.h"
#include "format/bytes/time_text.h"
#include "recorder/helper/helper.h"
#include "tests/lab/archive_lab.h"
#include "tests/lab/event_gate.h"
#include "tests/lab/session_rig.h"

#define NO_ROOM (UINT64_C(1) << 60)
#define USER 64001

static pid_t self[1];

struct stage {
	struct lab lab;
	struct config *c, *other; /* the lab's; another one, to be reloaded */
	struct streams *s;
	uint64_t now_ns; /* of the loop: it may be ahead */
};

/* --- the stage --------------------------------------------------------------------------- */

static void
set_events(struct config *c, const char *events)
{
	free(c->events);
	c->events = strdup(events);
	assert_non_null(c->events);
}

/* Nothing that goes by time, and no budget. */
static void
set_config(struct config *c)
{
	set_events(c, "cpu-clock");
	c->frequency = 64;
	c->max_use.bytes = 64 << 20;
	c->sync_interval = c->cpu_budget = c->memory_budget = c->disk_budget = 0;
	c->segment_age = UINT64_MAX;
}

static void
stage_init(struct stage *st)
{
	*st = (struct stage){ .s = NULL };
	assert_true(lab_init(&st->lab, 0));
	st->c = st->lab.config;
	st->other = config_new();
	assert_non_null(st->other);
	set_config(st->c);
	set_config(st->other);
	lab_open(&st->lab);
	st->now_ns = rig_now_ns();
}

static void
stage_done(struct stage *st)
{
	streams_close(st->s);
	lab_done(&st->lab);
	config_free(st->other);
}

static void
stage_begin(struct stage *st)
{
	struct session_error e;

	rig_needs_events(false);
	stage_init(st);
	if (streams_open(st->c, st->lab.archive, &st->s, &e) != 0)
		fail_msg("%s", e.text);
}

/* A round of the main loop, some seconds after the last one. True, so that it fits into a condition. */
static bool
turn(struct stage *st, unsigned int seconds)
{
	st->now_ns += seconds * SECOND_NS;
	streams_dispatch(st->s, st->now_ns);
	return true;
}

static struct streams_status
status_of(struct stage *st)
{
	struct streams_status status;

	streams_status(st->s, &status);
	return status;
}

static void
wait_woken(const struct stage *st)
{
	struct pollfd p = { .fd = streams_fd(st->s), .events = POLLIN };

	assert_int_equal(poll(&p, 1, 30000), 1);
}

struct told {
	unsigned int begun, ended;
	char error[512];
};

static void
on_begin(void *arg)
{
	((struct told *)arg)->begun++;
}

static void
on_end(void *arg, const struct capture_progress *last)
{
	struct told *t = arg;

	t->ended++;
	snprintf(t->error, sizeof(t->error), "%s", last->error);
}

static int
start_capture(struct stage *st, struct told *t, uint64_t *ret_id)
{
	static const char *const events[] = { "cpu-clock" };
	const struct session_options rq = { .events = events,
					    .nr_events = 1,
					    .frequency_hz = 99,
					    .target = SESSION_TID,
					    .pids = self,
					    .nr_pids = 1,
					    .out_fd = -1,
					    .uid = USER };
	const struct capture_waiter waiter = { on_begin, on_end, t };
	struct capture_refusal why = { .limit = NULL };

	*t = (struct told){ .begun = 0 };
	return capture_start(streams_captures(st->s), &rq, &waiter, ret_id, &why);
}

/* A chore that keeps the thread until it is let go, or does what a client asks for. */
struct job {
	struct chore chore;
	struct stage *stage;
	_Atomic bool begun, let_go;
	bool done, dropped;
	int rotated, synced;
	uint64_t state_ns;
};

static void
run_held(struct chore *one)
{
	struct job *j = (struct job *)one;

	j->begun = true;
	while (!j->let_go)
		rig_sleep_ms(1);
}

static void
run_asked(struct chore *one)
{
	struct job *j = (struct job *)one;
	struct session_error e;

	j->rotated = streams_rotate(j->stage->s, &j->state_ns, &e);
	j->synced = streams_sync(j->stage->s, one->asked_ns, &e);
}

static void
job_done(struct chore *one)
{
	((struct job *)one)->done = true;
	((struct job *)one)->dropped = one->dropped;
}

static void
job_start(struct stage *st, struct job *j, void (*run)(struct chore *one))
{
	*j = (struct job){ .chore = { .run = run, .done = job_done }, .stage = st };
	chores_add(streams_chores(st->s), &j->chore);
}

/* --- beginning and end ------------------------------------------------------------------- */

static void
test_life(void **state)
{
	struct streams_status status;
	unsigned int descriptors = 0;
	struct stage st;
	struct job j;

	for (int i = 0; i < 2; i++) {
		stage_begin(&st);
		status = status_of(&st);
		assert_int_equal(status.frequency_hz, 64);
		assert_string_equal(status.governor, "");
		assert_int_equal(status.captures, 0);
		assert_false(status.base.suspended);
		assert_true(status.base.cpus > 0);
		assert_true(turn(&st, 0));
		assert_true(status_of(&st).rss_bytes > 0);
		job_start(&st, &j, run_asked);
		while (!j.done) {
			wait_woken(&st);
			assert_true(turn(&st, 0));
		}
		assert_int_equal(j.rotated, 0);
		assert_int_equal(j.synced, 0);
		assert_true(j.state_ns > 0);
		assert_int_equal(lab_count(&st.lab, "", ".spoor"), 1);
		assert_true(status_of(&st).base.records >= status.base.records);
		stage_done(&st);
		/* The first one may have left what is opened once. */
		assert_true(i == 0 || rig_descriptors().all == descriptors);
		descriptors = rig_descriptors().all;
	}
	streams_close(NULL);
}

static void
test_open_fails(void **state)
{
	struct session_error e = { .text = "" };
	unsigned int descriptors;
	struct stage st;

	stage_init(&st);
	set_events(st.c, "no-such-event");
	descriptors = rig_descriptors().all;
	assert_int_equal(streams_open(st.c, st.lab.archive, &st.s, &e), -EINVAL);
	assert_non_null(strstr(e.text, "no-such-event"));
	assert_null(st.s);
	event_gate_set(false, EMFILE);
	set_events(st.c, "cpu-clock");
	assert_int_equal(streams_open(st.c, st.lab.archive, &st.s, &e), -EMFILE);
	event_gate_set(false, 0);
	assert_null(st.s);
	assert_int_equal(rig_descriptors().all, descriptors);
	assert_int_equal(lab_count(&st.lab, "", ".active"), 0);
	stage_done(&st);
}

static void
test_no_room(void **state)
{
	struct stage st;
	struct session_error e;
	struct job j;

	rig_needs_events(false);
	stage_init(&st);
	st.c->keep_free.bytes = NO_ROOM;
	archive_reload(st.lab.archive, st.c);
	assert_int_equal(streams_open(st.c, st.lab.archive, &st.s, &e), 0);
	assert_true(status_of(&st).base.suspended);
	assert_true(streams_alive(st.s, st.now_ns));
	job_start(&st, &j, run_asked);
	RIG_UNTIL(turn(&st, 0) && j.done);
	assert_int_equal(j.rotated, -EAGAIN);
	assert_int_equal(j.synced, -EAGAIN);
	st.c->keep_free.bytes = 0;
	archive_reload(st.lab.archive, st.c);
	RIG_UNTIL(turn(&st, 1) && !status_of(&st).base.suspended);
	stage_done(&st);
}

/* Whoever waits for a capture hears of its end; what was not begun is dropped. */
static void
test_closed_meanwhile(void **state)
{
	struct session_error e;
	struct told t;
	struct stage st;
	struct job last;
	uint64_t id;

	stage_begin(&st);
	assert_int_equal(start_capture(&st, &t, &id), 0);
	while (!t.begun) {
		wait_woken(&st);
		assert_true(turn(&st, 0));
	}
	assert_int_equal(status_of(&st).captures, 1);
	streams_close(st.s);
	st.s = NULL;
	assert_int_equal(t.ended, 1);
	assert_string_equal(t.error, "");
	assert_int_equal(lab_count(&st.lab, "", ".spoor"), 1);
	assert_int_equal(lab_count(&st.lab, "captures", ".spoor"), 1);
	assert_int_equal(lab_count(&st.lab, "captures", ".active"), 0);
	stage_done(&st);

	/* In the middle of a reload, with a chore that nobody waits for any more. */
	stage_begin(&st);
	st.other->ring_pages = 16;
	assert_int_equal(streams_reload(st.s, st.other, &e), -EINPROGRESS);
	job_start(&st, &last, run_asked);
	stage_done(&st);
	assert_true(last.done);
}

/* --- reloads ----------------------------------------------------------------------------- */

static void
test_reload_in_place(void **state)
{
	struct session_error e;
	struct stage st;
	struct told t;
	uint64_t id;

	stage_begin(&st);
	st.other->frequency = 9;
	st.other->max_captures = 0;
	assert_int_equal(streams_reload(st.s, st.other, &e), 0);
	assert_int_equal(streams_reloaded(st.s, st.other, &e), 0);
	assert_int_equal(status_of(&st).frequency_hz, 9);
	assert_int_equal(start_capture(&st, &t, &id), -EBUSY);
	RIG_UNTIL(turn(&st, 0) && status_of(&st).base.frequency_hz == 9);
	assert_int_equal(lab_count(&st.lab, "", ".spoor"), 0);
	stage_done(&st);
}

/* All of it comes in force at once, with the session. */
static void
test_reload_of_session(void **state)
{
	struct session_error e;
	struct stage st;
	struct told t;
	uint64_t id;

	stage_begin(&st);
	st.c->max_captures = 0;
	st.other->frequency = 9;
	st.other->ring_pages = 16;
	event_gate_set(true, 0);
	assert_int_equal(streams_reload(st.s, st.other, &e), -EINPROGRESS);
	RIG_UNTIL(turn(&st, 0) && event_gate_reached());
	assert_int_equal(streams_reloaded(st.s, st.other, &e), -EINPROGRESS);
	assert_int_equal(status_of(&st).frequency_hz, 64);
	assert_int_equal(start_capture(&st, &t, &id), -EBUSY);
	event_gate_set(false, 0);
	RIG_UNTIL(turn(&st, 0) && streams_reloaded(st.s, st.other, &e) != -EINPROGRESS);
	assert_int_equal(streams_reloaded(st.s, st.other, &e), 0);
	assert_int_equal(status_of(&st).frequency_hz, 9);
	assert_int_equal(status_of(&st).base.frequency_hz, 9);
	assert_int_equal(start_capture(&st, &t, &id), 0);
	RIG_UNTIL(turn(&st, 0) && lab_count(&st.lab, "", ".spoor") == 1);
	stage_done(&st);
	assert_int_equal(t.ended, 1);
}

static void
test_reload_fails(void **state)
{
	struct session_error e = { .text = "" };
	struct stage st;
	struct told t;
	uint64_t id;

	stage_begin(&st);
	st.other->frequency = 9;
	st.other->max_captures = 0;
	set_events(st.other, "no-such-event");
	assert_int_equal(streams_reload(st.s, st.other, &e), -EINPROGRESS);
	RIG_UNTIL(turn(&st, 0) && streams_reloaded(st.s, st.other, &e) != -EINPROGRESS);
	assert_int_equal(streams_reloaded(st.s, st.other, &e), -EINVAL);
	assert_non_null(strstr(e.text, "no-such-event"));
	assert_int_equal(status_of(&st).frequency_hz, 64);
	assert_int_equal(status_of(&st).base.frequency_hz, 64);
	assert_int_equal(start_capture(&st, &t, &id), 0);
	/* The next one is another matter. */
	set_events(st.other, "cpu-clock");
	assert_int_equal(streams_reload(st.s, st.other, &e), 0);
	assert_int_equal(streams_reloaded(st.s, st.other, &e), 0);
	assert_int_equal(status_of(&st).frequency_hz, 9);
	stage_done(&st);
	assert_int_equal(t.ended, 1);
}

/* --- budgets ------------------------------------------------------------------------------ */

#define WINDOW_S ((unsigned int)(GOVERNOR_WINDOW_NS / SECOND_NS))

static void
pass_windows(struct stage *st, unsigned int windows)
{
	for (unsigned int i = 0; i < windows; i++)
		assert_true(turn(st, WINDOW_S));
}

/* Memory that nothing can hold: what is sampled is halved, and doubled when that is over. */
static void
test_governor(void **state)
{
	struct session_error e;
	struct stage st;
	struct told t;
	uint64_t id;

	stage_begin(&st);
	st.c->memory_budget = 1;
	/* A capture was asked for: nobody is judged by what it takes. */
	assert_int_equal(start_capture(&st, &t, &id), 0);
	RIG_UNTIL(turn(&st, 0) && t.begun);
	pass_windows(&st, 5 * GOVERNOR_CALM_WINDOWS);
	assert_string_equal(status_of(&st).governor, "");
	assert_int_equal(capture_stop(streams_captures(st.s), id), 0);
	RIG_UNTIL(turn(&st, 0) && t.ended);
	for (int i = 0; i < 5 * GOVERNOR_CALM_WINDOWS && !*status_of(&st).governor; i++)
		pass_windows(&st, 1);
	assert_string_equal(status_of(&st).governor, "memory_budget");
	assert_int_equal(status_of(&st).frequency_hz, 64);
	RIG_UNTIL(turn(&st, 0) && status_of(&st).base.frequency_hz == 32);

	/* A reload's frequency is lowered as much. */
	st.other->frequency = 100;
	assert_int_equal(streams_reload(st.s, st.other, &e), 0);
	assert_int_equal(status_of(&st).frequency_hz, 100);
	RIG_UNTIL(turn(&st, 0) && status_of(&st).base.frequency_hz == 50);
	assert_string_equal(status_of(&st).governor, "memory_budget");
	/* It has no budget. */
	pass_windows(&st, 2 * GOVERNOR_CALM_WINDOWS);
	assert_string_equal(status_of(&st).governor, "");
	RIG_UNTIL(turn(&st, 0) && status_of(&st).base.frequency_hz == 100);
	assert_int_equal(lab_count(&st.lab, "", ".spoor"), 0);
	stage_done(&st);
}

/* --- the watchdog ------------------------------------------------------------------------- */

static void
test_alive(void **state)
{
	struct stage st;
	struct job held;
	uint64_t now_ns;

	stage_begin(&st);
	now_ns = st.now_ns;
	assert_true(streams_alive(st.s, now_ns));
	job_start(&st, &held, run_held);
	RIG_UNTIL(held.begun);
	/* The sessions' threads come round; for the chore this is the first look. */
	now_ns += WATCHDOG_STUCK_NS;
	RIG_UNTIL(streams_alive(st.s, now_ns));
	assert_true(streams_alive(st.s, now_ns + WATCHDOG_STUCK_NS - 1));
	now_ns += WATCHDOG_STUCK_NS;
	assert_false(streams_alive(st.s, now_ns));
	held.let_go = true;
	RIG_UNTIL(turn(&st, 0) && held.done);
	stage_done(&st);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_life),
		cmocka_unit_test(test_open_fails),
		cmocka_unit_test(test_no_room),
		cmocka_unit_test(test_closed_meanwhile),
		cmocka_unit_test(test_reload_in_place),
		cmocka_unit_test(test_reload_of_session),
		cmocka_unit_test(test_reload_fails),
		cmocka_unit_test(test_governor),
		cmocka_unit_test(test_alive),
	};

	/* The sanitizer of threads wants forks while there is one. */
	(void)helper_start();
	self[0] = getpid();
	return cmocka_run_group_tests_name("streams", tests, NULL, NULL);
}
