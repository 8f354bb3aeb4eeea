/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Captures: who gets one, how each ends, what its waiter is told, and what is left of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/stream/capture_internal.h"
#include "format/bytes/time_text.h"
#include "recorder/event/sample_bound.h"
#include "recorder/helper/helper.h"
#include "tests/lab/archive_lab.h"
#include "tests/lab/event_gate.h"
#include "tests/lab/session_rig.h"
#include "tests/lab/shifted_clock.h"

#define USER 64001
#define ANOTHER 64002
#define THIRD 64003
#define OPENING_S 15 /* as capture.c gives a capture to begin */
#define GRACE_S 10   /* and a client's file to take the rest */
#define FILES_EACH 4 /* and files that may be left of a user's: capture_start.c */

static const char *const clock_event[] = { "cpu-clock:u" };
static pid_t self[1];

struct stage {
	struct lab lab;
	struct capture_set *set;
	int wake_fd;
};

/* What a waiter has been told. */
struct told {
	unsigned int begun, ended;
	bool begun_first;
	struct capture_progress last;
};

static void
stage_init(struct stage *s)
{
	assert_true(lab_init(&s->lab, 0));
	lab_open(&s->lab);
	s->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	assert_true(s->wake_fd >= 0);
	assert_int_equal(capture_set_new(s->lab.config, s->lab.archive, s->wake_fd, &s->set), 0);
	clock_shift_s = 0;
}

static bool
never(void *arg)
{
	return false;
}

/* However long it takes: what a free that is in a hurry does has tests of its own. */
static void
stage_done(struct stage *s)
{
	const struct capture *c;

	TAILQ_FOREACH(c, &s->set->list, entry)
		assert_int_equal(capture_stop(s->set, c->progress.id), 0);
	RIG_UNTIL((capture_set_dispatch(s->set),
		   !capture_set_busy(s->set) && TAILQ_EMPTY(&s->set->left)));
	assert_true(capture_set_free(s->set, never, NULL));
	close(s->wake_fd);
	lab_done(&s->lab);
	clock_shift_s = 0;
}

static struct session_options
request_of(uid_t uid)
{
	return (struct session_options){ .events = clock_event,
					 .nr_events = 1,
					 .frequency_hz = 499,
					 .target = SESSION_TID,
					 .pids = self,
					 .nr_pids = 1,
					 .call_graph = SESSION_CALL_GRAPH_NONE,
					 .out_fd = -1,
					 .uid = uid };
}

static void
on_begin(void *arg)
{
	struct told *t = arg;

	t->begun++;
	t->begun_first = t->ended == 0;
}

static void
on_end(void *arg, const struct capture_progress *last)
{
	struct told *t = arg;

	t->ended++;
	t->last = *last;
}

static int
ask(struct stage *s, const struct session_options *rq, struct told *t, uint64_t *ret_id,
    struct capture_refusal *why)
{
	const struct capture_waiter waiter = { on_begin, on_end, t };

	*why = (struct capture_refusal){ .limit = NULL };
	return capture_start(s->set, rq, &waiter, ret_id, why);
}

static uint64_t
start_one(struct stage *s, const struct session_options *rq, struct told *t)
{
	struct capture_refusal why;
	uint64_t id = 0;

	*t = (struct told){ .begun = 0 };
	/* Under a sanitizer one takes so long to begin that its user owes for it. */
	RIG_UNTIL(capture_debts(s->set, rq->uid, NULL) == 0);
	if (ask(s, rq, t, &id, &why) != 0)
		fail_msg("refused: %s", why.error.text);
	assert_true(id > 0);
	return id;
}

static uint64_t
start_of(struct stage *s, uid_t uid, struct told *t)
{
	const struct session_options rq = request_of(uid);

	return start_one(s, &rq, t);
}

/* Refused, with this in its words. */
static void
refuse(struct stage *s, uid_t uid, const char *words)
{
	const struct session_options rq = request_of(uid);
	uint32_t running = capture_set_running(s->set);
	struct told t = { .begun = 0 };
	struct capture_refusal why;
	uint64_t id;

	assert_int_equal(ask(s, &rq, &t, &id, &why), -EBUSY);
	if (!strstr(why.error.text, words))
		fail_msg("\"%s\" does not say \"%s\"", why.error.text, words);
	assert_int_equal(capture_set_running(s->set), running);
	assert_int_equal(t.begun + t.ended, 0);
}

static void
wait_begin(struct stage *s, const struct told *t)
{
	RIG_UNTIL((capture_set_dispatch(s->set), t->begun || t->ended));
	if (t->ended)
		fail_msg("it ended: %s", t->last.error);
}

static void
wait_end(struct stage *s, const struct told *t)
{
	RIG_UNTIL((capture_set_dispatch(s->set), t->ended));
	assert_int_equal(t->ended, 1);
	assert_true(t->last.ended);
	assert_true(t->begun == 0 || t->begun_first);
	assert_int_equal(t->last.begun, t->begun == 1);
}

static void
wait_files(uid_t uid, uint32_t nr)
{
	RIG_UNTIL(client_file_left(uid) == nr);
}

/* --- into the archive -------------------------------------------------------------------- */

static void
test_life(void **state)
{
	struct capture_progress p;
	struct stage s;
	struct told t;
	uint64_t id;
	char active[ARCHIVE_NAME_MAX + 8];

	rig_needs_events(true);
	stage_init(&s);
	assert_false(capture_set_busy(s.set));
	id = start_of(&s, USER, &t);
	assert_int_equal(t.begun + t.ended, 0); /* from a dispatch only */
	assert_int_equal(capture_set_running(s.set), 1);
	assert_int_equal(capture_progress(s.set, id, &p), 0);
	assert_false(p.begun);
	assert_string_equal(p.notes, "");
	assert_int_equal(p.elapsed_ns, 0);
	assert_int_equal(p.duration_ns, s.lab.config->max_capture_time);
	wait_begin(&s, &t);
	assert_int_equal(capture_progress(s.set, id, &p), 0);
	assert_true(p.begun && !p.ended && p.notes);
	assert_memory_equal(p.file, "captures/", 9);
	snprintf(active, sizeof(active), "%s.active", p.file);
	assert_true(lab_exists(&s.lab, active));

	assert_int_equal(capture_stop(s.set, id), 0);
	assert_int_equal(capture_set_running(s.set), 0);
	assert_true(capture_set_busy(s.set));
	assert_int_equal(capture_stop(s.set, id), 0); /* once more changes nothing */
	assert_int_equal(capture_set_running(s.set), 0);
	wait_end(&s, &t);
	assert_int_equal(t.begun, 1);
	assert_string_equal(t.last.error, "");
	assert_int_equal(t.last.saved_errno, 0);
	assert_int_equal(t.last.id, id);
	assert_string_equal(t.last.file, p.file);
	assert_true(lab_exists(&s.lab, p.file));
	assert_false(lab_exists(&s.lab, active));

	assert_false(capture_set_busy(s.set));
	assert_int_equal(capture_stop(s.set, id), -ENOENT);
	assert_int_equal(capture_progress(s.set, id, &p), -ENOENT);
	capture_forget(s.set, id);
	assert_true(start_of(&s, USER, &t) > id);
	stage_done(&s);
	assert_int_equal(t.ended, 1);
}

static void
test_time_is_over(void **state)
{
	struct session_options rq = request_of(USER);
	struct capture_progress p;
	struct stage s;
	struct told t;
	uint64_t id;

	rig_needs_events(true);
	stage_init(&s);
	rq.duration_ns = 1;
	(void)start_one(&s, &rq, &t);
	wait_end(&s, &t);
	assert_int_equal(t.begun, 1);
	assert_string_equal(t.last.error, "");
	assert_int_equal(capture_set_running(s.set), 0);

	/* Its slot is another's when the time is over, whatever its threads do. */
	rq.duration_ns = 100 * SECOND_NS;
	id = start_one(&s, &rq, &t);
	wait_begin(&s, &t);
	clock_shift_s = 50;
	capture_set_dispatch(s.set);
	assert_int_equal(capture_set_running(s.set), 1);
	clock_shift_s = 200;
	capture_set_dispatch(s.set);
	assert_int_equal(capture_set_running(s.set), 0);
	assert_true(capture_set_busy(s.set));
	assert_int_equal(capture_progress(s.set, id, &p), 0);
	assert_int_equal(p.elapsed_ns, rq.duration_ns);
	assert_int_equal(capture_stop(s.set, id), 0);
	wait_end(&s, &t);
	assert_int_equal(capture_set_running(s.set), 0);
	stage_done(&s);
}

/* What was asked is read after capture_start() has returned, and whoever asked may be gone. */
static void
test_request_is_copied(void **state)
{
	struct session_options rq = request_of(USER);
	char *event = strdup("cpu-clock:u");
	const char **events = malloc(sizeof(*events));
	pid_t *pids = malloc(sizeof(*pids));
	struct stage s;
	struct told t;

	rig_needs_events(true);
	stage_init(&s);
	events[0] = event;
	pids[0] = self[0];
	rq.events = events;
	rq.pids = pids;
	event_gate_set(true, 0);
	(void)start_one(&s, &rq, &t);
	memset(event, 'x', strlen(event));
	memset(pids, 0xff, sizeof(*pids));
	free(event);
	free(events);
	free(pids);
	memset(&rq, 0xff, sizeof(rq));
	event_gate_set(false, 0);
	wait_begin(&s, &t);
	stage_done(&s);
	assert_int_equal(t.ended, 1);
	assert_string_equal(t.last.error, "");
}

static void
test_forgotten(void **state)
{
	struct stage s;
	struct told t;
	uint64_t id;

	rig_needs_events(true);
	stage_init(&s);
	id = start_of(&s, USER, &t);
	wait_begin(&s, &t);
	capture_forget(s.set, id);
	assert_int_equal(capture_set_running(s.set), 1);
	assert_int_equal(capture_stop(s.set, id), 0);
	RIG_UNTIL((capture_set_dispatch(s.set), !capture_set_busy(s.set)));
	assert_int_equal(t.ended, 0);
	assert_int_equal(lab_count(&s.lab, "captures", ".spoor"), 1);
	stage_done(&s);
}

struct chain {
	struct stage *stage;
	struct told told[2];
	uint64_t id;
};

static void
stop_it(void *arg)
{
	struct chain *c = arg;

	c->told[0].begun++;
	assert_int_equal(capture_stop(c->stage->set, c->id), 0);
}

static void
start_next(void *arg, const struct capture_progress *last)
{
	struct chain *c = arg;

	on_end(&c->told[0], last);
	(void)start_of(c->stage, USER, &c->told[1]);
}

/* A waiter may stop it as it begins, and start another one as it ends. */
static void
test_waiter_asks_for_more(void **state)
{
	const struct session_options rq = request_of(USER);
	struct capture_refusal why;
	struct stage s;
	struct chain c = { .stage = &s };
	const struct capture_waiter waiter = { stop_it, start_next, &c };

	rig_needs_events(true);
	stage_init(&s);
	assert_int_equal(capture_start(s.set, &rq, &waiter, &c.id, &why), 0);
	RIG_UNTIL((capture_set_dispatch(s.set), c.told[1].begun));
	assert_int_equal(c.told[0].ended, 1);
	assert_int_equal(capture_set_running(s.set), 1);
	stage_done(&s);
	assert_int_equal(c.told[1].ended, 1);
}

static void
test_archive_is_full(void **state)
{
	struct stage s;
	struct told t;

	rig_needs_events(true);
	stage_init(&s);
	s.lab.config->captures_share = CONFIG_PERCENT_ALL / 100;
	s.lab.config->max_use.bytes = 65536;
	archive_reload(s.lab.archive, s.lab.config);
	(void)start_of(&s, USER, &t);
	wait_end(&s, &t);
	assert_int_equal(t.last.saved_errno, ENOSPC);
	assert_true(strlen(t.last.error) > 0);
	assert_int_equal(capture_set_running(s.set), 0);
	assert_int_equal(lab_count(&s.lab, "captures", ".active"), 0);
	stage_done(&s);
}

/* --- who gets one ------------------------------------------------------------------------ */

/* Nothing has begun: the waiter hears nothing, and the descriptor is closed for the client. */
static void
check_refusal(struct stage *s, const struct session_options *request, int error, const char *limit,
	      uint64_t value)
{
	struct session_options rq = *request;
	struct told t = { .begun = 0 };
	struct capture_refusal why;
	struct pollfd p = { .events = 0 };
	uint64_t id = 4711;
	int ends[2];

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	if (rq.out_fd != -1)
		rq.out_fd = ends[1];
	assert_int_equal(ask(s, &rq, &t, &id, &why), error);
	assert_true(strlen(why.error.text) > 0);
	if (limit)
		assert_string_equal(why.limit, limit);
	else
		assert_null(why.limit);
	assert_int_equal(why.value, value);
	assert_int_equal(id, 4711);
	capture_set_dispatch(s->set);
	assert_int_equal(t.begun + t.ended, 0);
	assert_int_equal(capture_set_running(s->set), 0);
	assert_false(capture_set_busy(s->set));
	if (rq.out_fd == -1)
		close(ends[1]);
	p.fd = ends[0];
	assert_int_equal(poll(&p, 1, 30000), 1);
	assert_true(p.revents & POLLHUP);
	close(ends[0]);
}

static void
test_refused(void **state)
{
	static char *const command[] = { NULL };
	struct session_options rq;
	struct stage s;

	stage_init(&s);
	s.lab.config->max_capture_time = 60 * SECOND_NS;
	rq = request_of(USER);
	rq.out_fd = 0; /* check_refusal() has one */
	rq.duration_ns = 60 * SECOND_NS + 1;
	check_refusal(&s, &rq, -EBUSY, "max_capture_time", 60);
	rq.duration_ns = 0;
	rq.target = SESSION_COMMAND;
	check_refusal(&s, &rq, -EINVAL, NULL, 0);
	rq.target = SESSION_ALL;
	rq.command = command;
	check_refusal(&s, &rq, -EINVAL, NULL, 0);
	/* Into the archive, where the others of the group would read it. */
	rq = request_of(USER);
	rq.for_user = true;
	rq.call_graph = SESSION_CALL_GRAPH_DWARF;
	check_refusal(&s, &rq, -EINVAL, NULL, 0);
	rq = request_of(0);
	rq.out_fd = 0;
	s.lab.config->max_captures = 0;
	check_refusal(&s, &rq, -EBUSY, "max_captures", 0);
	stage_done(&s);
}

/* A user has half of them, root its own. All are held in their opening. */
static void
test_slots(void **state)
{
	struct told told[9] = { 0 };
	struct stage s;
	uint64_t id;

	stage_init(&s);
	s.lab.config->max_captures = 4;
	event_gate_set(true, 0);
	id = start_of(&s, USER, &told[0]);
	(void)start_of(&s, USER, &told[1]);
	refuse(&s, USER, "half of max_captures");
	(void)start_of(&s, ANOTHER, &told[2]);
	/* A slot is free from the moment of the stop. */
	assert_int_equal(capture_stop(s.set, id), 0);
	(void)start_of(&s, USER, &told[3]);
	(void)start_of(&s, ANOTHER, &told[4]);
	assert_int_equal(capture_set_running(s.set), 4);
	refuse(&s, THIRD, "max_captures is 4");
	for (size_t i = 5; i < 9; i++)
		(void)start_of(&s, 0, &told[i]);
	refuse(&s, 0, "max_captures is 4");
	assert_int_equal(capture_set_running(s.set), 8);

	event_gate_set(false, EMFILE);
	RIG_UNTIL((capture_set_dispatch(s.set), !capture_set_busy(s.set)));
	event_gate_set(false, 0);
	assert_int_equal(capture_set_running(s.set), 0);
	for (size_t i = 0; i < 9; i++) {
		assert_int_equal(told[i].begun, 0);
		assert_int_equal(told[i].ended, 1);
		assert_int_equal(told[i].last.saved_errno, EMFILE);
		assert_true(strlen(told[i].last.error) > 0);
		assert_false(told[i].last.begun);
	}
	assert_int_equal(lab_count(&s.lab, "captures", ".spoor"), 0);
	assert_int_equal(lab_count(&s.lab, "captures", ".active"), 0);
	stage_done(&s);
}

/* Those that are over and have threads still are bounded, too. */
static void
test_over_and_left(void **state)
{
	struct told told[4] = { 0 };
	struct stage s;

	stage_init(&s);
	s.lab.config->max_captures = 4;
	event_gate_set(true, 0);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(capture_stop(s.set, start_of(&s, USER, &told[i])), 0);
	assert_int_equal(capture_set_running(s.set), 0);
	refuse(&s, USER, "finished captures that wait");
	(void)start_of(&s, ANOTHER, &told[3]);

	/* What has not begun in time is told so, and its thread is left. */
	clock_shift_s = OPENING_S;
	capture_set_dispatch(s.set);
	assert_false(capture_set_busy(s.set));
	assert_int_equal(capture_set_running(s.set), 0);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(told[i].ended, 1);
		assert_int_equal(told[i].last.saved_errno, ETIMEDOUT);
		assert_non_null(strstr(told[i].last.error, "could not be begun"));
	}
	refuse(&s, USER, "finished captures that wait");
	/* None of them is for the watchdog to see. */
	assert_true(capture_set_alive(s.set, 0));
	assert_true(capture_set_alive(s.set, 99 * SECOND_NS));

	event_gate_set(false, EMFILE);
	RIG_UNTIL((capture_set_dispatch(s.set), TAILQ_EMPTY(&s.set->left)));
	(void)start_of(&s, USER, &told[0]);
	wait_end(&s, &told[0]);
	assert_int_equal(told[0].last.saved_errno, EMFILE);
	for (size_t i = 1; i < 4; i++)
		assert_int_equal(told[i].ended, 1);
	event_gate_set(false, 0);
	stage_done(&s);
}

static void
test_cpu_share(void **state)
{
	struct told told[3] = { 0 };
	struct config *lower = config_new();
	const uint32_t tenth = SAMPLE_SHARE_ALL / 10;
	uint64_t for_ns;
	struct stage s;

	stage_init(&s);
	s.lab.config->max_captures = 4;
	s.lab.config->capture_cpu = CONFIG_PERCENT_ALL / 10;
	event_gate_set(true, 0);
	(void)start_of(&s, USER, &told[0]);
	assert_int_equal(s.set->cpu_share, tenth);
	(void)start_of(&s, ANOTHER, &told[1]);
	assert_int_equal(s.set->cpu_share, tenth / 2);
	/* What a user's capture had too much is a sharer more, and a slot of that user's. */
	s.set->debts[3] = (struct capture_debt){ USER, rig_now_ns() + 50 * SECOND_NS };
	capture_set_dispatch(s.set);
	assert_int_equal(s.set->cpu_share, tenth / 3);
	assert_int_equal(capture_debts(s.set, USER, &for_ns), 1);
	assert_uint_in_range(for_ns, 1, 50 * SECOND_NS);
	assert_int_equal(capture_debts(s.set, ANOTHER, &for_ns), 0);
	assert_int_equal(for_ns, 0);
	refuse(&s, USER, "capture_cpu");
	assert_int_equal(s.set->cpu_share, tenth / 3);
	clock_shift_s = 50;
	assert_int_equal(capture_debts(s.set, (uid_t)-1, NULL), 0);
	clock_shift_s = 0;
	s.set->debts[3].until_ns = 0;
	(void)start_of(&s, USER, &told[2]);
	assert_int_equal(s.set->cpu_share, tenth / 3);

	/* Another configuration concerns those that run as well. */
	lower->capture_cpu = 0;
	lower->max_captures = 1;
	capture_set_reload(s.set, lower);
	assert_int_equal(s.set->cpu_share, SAMPLE_SHARE_ALL);
	assert_int_equal(capture_set_running(s.set), 3);
	refuse(&s, THIRD, "max_captures is 1");
	capture_set_reload(s.set, s.lab.config);
	event_gate_set(false, EMFILE);
	RIG_UNTIL((capture_set_dispatch(s.set), !capture_set_busy(s.set)));
	event_gate_set(false, 0);
	assert_int_equal(s.set->cpu_share, tenth);
	stage_done(&s);
	config_free(lower);
}

static void
test_fails_at_start(void **state)
{
	static const char *const nonsense[] = { "no-such-event" };
	struct session_options rq = request_of(USER);
	struct stage s;
	struct told t;

	stage_init(&s);
	rq.events = nonsense;
	(void)start_one(&s, &rq, &t);
	assert_int_equal(capture_set_running(s.set), 1);
	wait_end(&s, &t);
	assert_int_equal(t.begun, 0);
	assert_non_null(strstr(t.last.error, "no-such-event"));
	assert_int_equal(t.last.saved_errno, EINVAL);
	assert_int_equal(capture_set_running(s.set), 0);
	assert_int_equal(lab_count(&s.lab, "captures", ".spoor"), 0);
	assert_int_equal(lab_count(&s.lab, "captures", ".active"), 0);
	stage_done(&s);
}

/* --- into what a client has passed -------------------------------------------------------- */

/* A whole recording, that nobody but the client knows the name of. */
static void
test_client_file(void **state)
{
	struct session_options rq = request_of(USER);
	struct rig_file f = { 0 };
	struct rig_counts c;
	struct stage s;
	struct stat st;
	struct told t;
	uint64_t id;
	int fd;

	rig_needs_events(true);
	stage_init(&s);
	fd = open(s.lab.tmp, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	rq.out_fd = dup(fd);
	id = start_one(&s, &rq, &t);
	wait_begin(&s, &t);
	assert_int_equal(capture_stop(s.set, id), 0);
	wait_end(&s, &t);
	assert_string_equal(t.last.error, "");
	assert_string_equal(t.last.file, "");
	wait_files((uid_t)-1, 0);
	assert_int_equal(fstat(fd, &st), 0);
	f.n = (size_t)st.st_size;
	f.p = malloc(f.n);
	assert_int_equal(pread(fd, f.p, f.n, 0), f.n);
	rig_count(&f, true, &c);
	assert_int_equal(lab_count(&s.lab, "captures", ".spoor"), 0);
	rig_file_done(&f);
	close(fd);
	stage_done(&s);
}

/* Ends with this error, and leaves nothing. */
static void
check_bad_file(struct stage *s, int fd, int error, const char *words)
{
	struct session_options rq = request_of(USER);
	struct told t;

	assert_true(fd >= 0);
	rq.out_fd = fd;
	(void)start_one(s, &rq, &t);
	wait_end(s, &t);
	if (t.last.saved_errno != error)
		fail_msg("%s: %s, not %s", t.last.error, strerror(t.last.saved_errno),
			 strerror(error));
	if (!strstr(t.last.error, words))
		fail_msg("\"%s\" does not say \"%s\"", t.last.error, words);
	assert_string_equal(t.last.file, "");
	assert_int_equal(capture_set_running(s->set), 0);
	assert_false(capture_set_busy(s->set));
	wait_files(USER, 0);
}

static void
test_bad_files(void **state)
{
	struct rlimit all, few;
	struct stage s;
	int ends[2];

	rig_needs_events(true);
	stage_init(&s);
	check_bad_file(&s, open("/dev/full", O_WRONLY | O_CLOEXEC), ENOSPC, "No space");
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	close(ends[0]);
	check_bad_file(&s, ends[1], EPIPE, "Broken pipe");
	check_bad_file(&s, open("/proc/self/comm", O_WRONLY | O_CLOEXEC), EINVAL, "kernel's own");
	/* As with a quota: the first blocks get in. */
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &all), 0);
	few = (struct rlimit){ 512, all.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &few), 0);
	check_bad_file(&s, open(s.lab.tmp, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600), EFBIG,
		       "File too large");
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &all), 0);
	stage_done(&s);
}

/* A pipe with nothing more to give room: a file whose server takes nothing. */
struct stalled {
	int read_fd, write_fd;
};

static void
fill(int pipe_fd)
{
	static const char zeroes[4096];
	char path[64];
	int fd;

	/* Another open file description: the client's is to wait. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", pipe_fd);
	fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	assert_true(fd >= 0);
	for (size_t n = sizeof(zeroes); n > 0; n /= 2)
		while (write(fd, zeroes, n) > 0)
			;
	assert_int_equal(errno, EAGAIN);
	close(fd);
}

static void
stalled_init(struct stalled *p)
{
	int ends[2];

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	p->read_fd = ends[0];
	p->write_fd = ends[1];
	(void)fcntl(p->read_fd, F_SETFL, O_NONBLOCK);
}

/* Takes what there is; true, so that it fits into a condition. */
static bool
take(const struct stalled *p)
{
	char some[4096];

	while (read(p->read_fd, some, sizeof(some)) > 0)
		;
	return true;
}

/* Is a thread of this process in a write(2) to it? */
static bool
is_written_to(int fd)
{
	char path[PATH_MAX], call[64], want[64];
	bool found = false;
	struct dirent *e;
	DIR *dir = opendir("/proc/self/task");

	assert_non_null(dir);
	snprintf(want, sizeof(want), "%d 0x%x ", SYS_write, (unsigned int)fd);
	while (!found && (e = readdir(dir))) {
		ssize_t n = -1;
		int task;

		snprintf(path, sizeof(path), "/proc/self/task/%s/syscall", e->d_name);
		task = open(path, O_RDONLY | O_CLOEXEC);
		if (task >= 0) {
			n = read(task, call, sizeof(call));
			close(task);
		}
		found = n > (ssize_t)strlen(want) && memcmp(call, want, strlen(want)) == 0;
	}
	closedir(dir);
	return found;
}

static void
test_file_stalls_at_once(void **state)
{
	struct session_options rq = request_of(USER);
	struct stalled files[FILES_EACH];
	struct told told[FILES_EACH], other;
	struct stage s;

	rig_needs_events(true);
	stage_init(&s);
	s.lab.config->max_captures = 64;
	for (size_t i = 0; i < FILES_EACH; i++) {
		stalled_init(&files[i]);
		fill(files[i].write_fd);
		rq.out_fd = files[i].write_fd;
		(void)start_one(&s, &rq, &told[i]);
	}
	for (size_t i = 0; i < FILES_EACH; i++)
		RIG_UNTIL(is_written_to(files[i].write_fd));
	capture_set_dispatch(s.set);
	assert_int_equal(capture_set_running(s.set), FILES_EACH);
	clock_shift_s = OPENING_S;
	capture_set_dispatch(s.set);
	assert_int_equal(capture_set_running(s.set), 0);
	for (size_t i = 0; i < FILES_EACH; i++) {
		assert_int_equal(told[i].begun, 0);
		assert_int_equal(told[i].ended, 1);
		assert_int_equal(told[i].last.saved_errno, ETIMEDOUT);
	}
	clock_shift_s = 0;
	/* The sessions end, the files do not. */
	RIG_UNTIL((capture_set_dispatch(s.set), TAILQ_EMPTY(&s.set->left)));
	assert_int_equal(client_file_left(USER), FILES_EACH);
	refuse(&s, USER, "finished captures that wait");
	(void)start_of(&s, ANOTHER, &other);
	for (size_t i = 0; i < FILES_EACH; i++)
		RIG_UNTIL(take(&files[i]) && client_file_left(USER) < FILES_EACH - i);
	(void)start_of(&s, USER, &told[0]);
	for (size_t i = 0; i < FILES_EACH; i++)
		close(files[i].read_fd);
	stage_done(&s);
	assert_int_equal(told[0].ended, 1);
	assert_int_equal(other.ended, 1);
}

/* Begins, and then its file takes nothing more. */
static uint64_t
begin_then_stall(struct stage *s, struct stalled *p, struct told *t)
{
	struct session_options rq = request_of(USER);
	int extra;
	uint64_t id;

	stalled_init(p);
	extra = dup(p->write_fd);
	rq.out_fd = p->write_fd;
	id = start_one(s, &rq, t);
	RIG_UNTIL((take(p), capture_set_dispatch(s->set), t->begun || t->ended));
	assert_int_equal(t->ended, 0);
	fill(extra);
	close(extra);
	return id;
}

static void
test_file_stalls_at_the_end(void **state)
{
	struct stalled p;
	struct stage s;
	struct told t;
	uint64_t id;

	rig_needs_events(true);
	stage_init(&s);
	id = begin_then_stall(&s, &p, &t);
	assert_int_equal(capture_stop(s.set, id), 0);
	assert_int_equal(capture_set_running(s.set), 0);
	RIG_UNTIL(is_written_to(p.write_fd));
	clock_shift_s = GRACE_S / 2;
	capture_set_dispatch(s.set);
	assert_true(capture_set_busy(s.set));
	assert_int_equal(client_file_left(USER), 0);
	clock_shift_s = GRACE_S;
	wait_end(&s, &t);
	assert_int_equal(t.begun, 1);
	assert_string_equal(t.last.error, "the file does not take the rest");
	assert_int_equal(t.last.saved_errno, ETIMEDOUT);
	assert_int_equal(client_file_left(USER), 1);
	RIG_UNTIL(take(&p) && client_file_left(USER) == 0);
	close(p.read_fd);

	/* One that comes to itself in time is as good as any other. */
	clock_shift_s = 0;
	id = begin_then_stall(&s, &p, &t);
	assert_int_equal(capture_stop(s.set, id), 0);
	capture_set_dispatch(s.set);
	RIG_UNTIL((take(&p), capture_set_dispatch(s.set), t.ended));
	assert_string_equal(t.last.error, "");
	close(p.read_fd);
	stage_done(&s);
}

/* --- the daemon ends --------------------------------------------------------------------- */

static void
test_freed_while_recording(void **state)
{
	struct told told[2] = { 0 };
	struct stalled p;
	struct stage s;

	rig_needs_events(true);
	stage_init(&s);
	(void)start_of(&s, ANOTHER, &told[0]);
	wait_begin(&s, &told[0]);
	(void)begin_then_stall(&s, &p, &told[1]);
	/* Each of their seconds but the last one is over. Nobody is called meanwhile. */
	s.set->seconds = 2;
	if (!capture_set_free(s.set, NULL, NULL)) {
		/* A machine so busy that the session took a second to see it. */
		RIG_UNTIL((capture_set_dispatch(s.set), TAILQ_EMPTY(&s.set->left)));
		assert_true(capture_set_free(s.set, NULL, NULL));
	}
	for (int i = 0; i < 2; i++)
		assert_int_equal(told[i].ended, 1);
	assert_string_equal(told[0].last.error, "");
	assert_int_equal(told[1].last.saved_errno, ETIMEDOUT);
	assert_int_equal(lab_count(&s.lab, "captures", ".spoor"), 1);
	RIG_UNTIL(take(&p) && client_file_left(USER) == 0);
	close(p.read_fd);
	assert_true(capture_set_free(NULL, NULL, NULL));
	close(s.wake_fd);
	lab_done(&s.lab);
}

static void
test_freed_while_opening(void **state)
{
	struct stage s;
	struct told t;

	stage_init(&s);
	event_gate_set(true, 0);
	(void)start_of(&s, USER, &t);
	assert_false(capture_set_free(s.set, never, NULL));
	assert_int_equal(t.ended, 1);
	assert_int_equal(t.last.saved_errno, ETIMEDOUT);
	assert_string_equal(t.last.error, "the daemon ends");
	/* A daemon would end here. Its thread still uses what it was given. */
	event_gate_set(false, EMFILE);
	RIG_UNTIL((capture_set_dispatch(s.set), TAILQ_EMPTY(&s.set->left)));
	event_gate_set(false, 0);
	stage_done(&s);
	assert_int_equal(t.ended, 1);
}

/* What lies in memory is bounded, and says so. Nothing more goes there: the last test. */
static void
test_file_in_memory(void **state)
{
	static const uint8_t bytes[1 << 20];
	struct client_file *f;
	struct io_sink *sink;
	struct stage s;

	rig_needs_events(true);
	stage_init(&s);
	assert_int_equal(client_file_new(memfd_create("full", MFD_CLOEXEC), 0, &f), 0);
	assert_int_equal(client_file_is_pseudo(f), 0);
	sink = client_file_sink(f);
	for (size_t n = sizeof(bytes); n > 0; n /= 2)
		while (sink->write(sink, bytes, n) == 0)
			;
	sink->close(sink);
	client_file_free(f);
	wait_files(0, 0);
	check_bad_file(&s, memfd_create("client", MFD_CLOEXEC), EDQUOT, "the file is in memory");
	stage_done(&s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_life),
		cmocka_unit_test(test_time_is_over),
		cmocka_unit_test(test_request_is_copied),
		cmocka_unit_test(test_forgotten),
		cmocka_unit_test(test_waiter_asks_for_more),
		cmocka_unit_test(test_archive_is_full),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_slots),
		cmocka_unit_test(test_over_and_left),
		cmocka_unit_test(test_cpu_share),
		cmocka_unit_test(test_fails_at_start),
		cmocka_unit_test(test_client_file),
		cmocka_unit_test(test_bad_files),
		cmocka_unit_test(test_file_stalls_at_once),
		cmocka_unit_test(test_file_stalls_at_the_end),
		cmocka_unit_test(test_freed_while_recording),
		cmocka_unit_test(test_freed_while_opening),
		cmocka_unit_test(test_file_in_memory),
	};

	/* As the daemon does. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	/* The sanitizer of threads wants forks while there is one. */
	(void)helper_start();
	self[0] = getpid();
	return cmocka_run_group_tests_name("capture", tests, NULL, NULL);
}
