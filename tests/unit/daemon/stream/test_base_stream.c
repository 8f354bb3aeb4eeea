/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The always-on session: its beginning, its ends, its restarts, its files and its reloads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <bsd/string.h>

#include "daemon/process/log.h"
#include "daemon/process/log_kept.h"
#include "daemon/process/watchdog.h"
#include "daemon/stream/base_stream_internal.h"
#include "daemon/stream/session_thread.h"
#include "recorder/helper/helper.h"
#include "tests/lab/archive_lab.h"
#include "tests/lab/event_gate.h"
#include "tests/lab/session_rig.h"
#include "tests/lab/shifted_clock.h"

#define NO_ROOM (UINT64_C(1) << 60)

struct stage {
	struct lab lab;
	struct config *c, *other; /* the lab's; another one, to be reloaded */
	struct chores *chores;
	struct base_stream *b;
	int wake_fd;
};

/* --- the stage --------------------------------------------------------------------------- */

static void
set_text(char **to, const char *text)
{
	free(*to);
	*to = strdup(text);
	assert_non_null(*to);
}

static void
set_clock(struct config *c)
{
	set_text(&c->events, "cpu-clock");
	c->max_use.bytes = 64 << 20;
}

static void
stage_init(struct stage *s)
{
	*s = (struct stage){ .b = NULL };
	assert_true(lab_init(&s->lab, 0));
	s->c = s->lab.config;
	s->other = config_new();
	assert_non_null(s->other);
	set_clock(s->c);
	set_clock(s->other);
	lab_open(&s->lab);
	s->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	assert_true(s->wake_fd >= 0);
	assert_int_equal(chores_new(s->wake_fd, &s->chores), 0);
	clock_shift_s = 0;
}

static void
stage_done(struct stage *s)
{
	assert_true(chores_close(s->chores, NULL, NULL));
	base_stream_close(s->b, NULL, NULL);
	close(s->wake_fd);
	lab_done(&s->lab);
	config_free(s->other);
	clock_shift_s = 0;
}

static void
stage_begin(struct stage *s)
{
	struct session_error e;

	rig_needs_events(false);
	stage_init(s);
	if (base_stream_open(s->c, s->lab.archive, s->chores, s->wake_fd, &s->b, &e) != 0)
		fail_msg("%s", e.text);
	assert_non_null(s->b->now);
}

/* A round of the main loop. True, so that it fits into a condition. */
static bool
turn(struct stage *s)
{
	chores_dispatch(s->chores);
	base_stream_dispatch(s->b, rig_now_ns());
	return true;
}

static void
give_room(struct stage *s, uint64_t keep_free)
{
	s->c->keep_free.bytes = keep_free;
	archive_reload(s->lab.archive, s->c);
}

static unsigned int
sealed(const struct stage *s)
{
	return lab_count(&s->lab, "", ".spoor");
}

static unsigned int
active(const struct stage *s)
{
	return lab_count(&s->lab, "", ".active");
}

/* The present session comes to its end, and nobody had asked for it. */
static void
let_it_end(struct stage *s)
{
	session_stop(session_thread_session(s->b->now->thread));
	RIG_UNTIL(turn(s) && !s->b->now && LIST_EMPTY(&s->b->ending));
}

static struct session_stats
stats_of(struct stage *s)
{
	struct session_stats stats;

	base_stream_stats(s->b, &stats);
	return stats;
}

static bool
is_kept(const char *words)
{
	char line[LOG_KEPT_BYTES];

	for (size_t i = 0; log_kept(i, line); i++)
		if (strstr(line, words))
			return true;
	return false;
}

/* A chore that keeps the others waiting. */
struct blocker {
	struct chore chore;
	_Atomic bool on, over;
};

static void
run_blocker(struct chore *one)
{
	struct blocker *b = (struct blocker *)one;

	b->on = true;
	while (!b->over)
		rig_sleep_ms(1);
}

static void
blocker_done(struct chore *one)
{
	((struct blocker *)one)->on = false;
}

static void
block_chores(struct stage *s, struct blocker *b)
{
	*b = (struct blocker){ .chore = { .run = run_blocker, .done = blocker_done } };
	chores_add(s->chores, &b->chore);
	RIG_UNTIL(b->on);
}

/* Returns when all that had been asked for has been done, and its owner told. */
static void
finish_chores(struct stage *s, struct blocker *b)
{
	if (b)
		b->over = true;
	RIG_UNTIL(turn(s) && !s->b->rotation.asked && !s->b->sync.asked && !s->b->frequency.asked &&
		  !s->b->look.asked && LIST_EMPTY(&s->b->ending));
}

/* What a client asks for, in a chore as there, by the clock of whoever asks. */
struct job {
	struct chore chore;
	struct base_stream *b;
	bool rotate, done;
	uint64_t asked_ns, state_ns;
	unsigned int shift_s;
	int result;
	struct session_error error;
};

static void
run_job(struct chore *one)
{
	struct job *j = (struct job *)one;

	clock_shift_s = j->shift_s;
	j->result = j->rotate ? base_stream_rotate(j->b, &j->state_ns, &j->error)
			      : base_stream_sync(j->b, j->asked_ns, &j->error);
	clock_shift_s = 0;
}

static void
job_done(struct chore *one)
{
	((struct job *)one)->done = true;
}

static struct job
have_done(struct stage *s, bool rotate, uint64_t asked_ns)
{
	struct job j = { .chore = { .run = run_job, .done = job_done },
			 .b = s->b,
			 .rotate = rotate,
			 .asked_ns = asked_ns,
			 .state_ns = UINT64_MAX,
			 .shift_s = clock_shift_s };

	chores_add(s->chores, &j.chore);
	RIG_UNTIL((chores_dispatch(s->chores), j.done));
	return j;
}

static int
rotate(struct stage *s)
{
	return have_done(s, true, 0).result;
}

static int
sync_asked(struct stage *s, uint64_t asked_ns)
{
	return have_done(s, false, asked_ns).result;
}

/* --- beginning and end ------------------------------------------------------------------- */

static void
test_life(void **state)
{
	struct session_stats stats;
	unsigned int descriptors = 0;
	struct stage s;
	struct job j;

	for (int i = 0; i < 2; i++) {
		stage_begin(&s);
		stats = stats_of(&s);
		assert_false(stats.suspended);
		assert_true(stats.cpus > 0);
		assert_int_equal(stats.frequency_hz, s.c->frequency);
		assert_true(base_stream_alive(s.b, rig_now_ns()));
		assert_true(turn(&s) && s.b->now->told);
		assert_int_equal(active(&s), 1);
		assert_int_equal(sync_asked(&s, rig_now_ns()), 0);
		assert_true(base_stream_written_bytes(s.b) > 0);
		/* It was asked to end: nothing more is begun, nor said to be recorded. */
		base_stream_stop(s.b);
		assert_int_equal(rotate(&s), -EAGAIN);
		j = have_done(&s, false, rig_now_ns());
		assert_int_equal(j.result, -EAGAIN);
		assert_non_null(strstr(j.error.text, "nothing is being recorded"));
		assert_true(chores_close(s.chores, NULL, NULL));
		base_stream_close(s.b, NULL, NULL);
		s.b = NULL;
		assert_int_equal(sealed(&s), 1);
		assert_int_equal(active(&s), 0);
		s.chores = NULL;
		stage_done(&s);
		/* The first one may have left what is opened once. */
		assert_true(i == 0 || rig_descriptors().all == descriptors);
		descriptors = rig_descriptors().all;
	}
	base_stream_stop(NULL);
	base_stream_close(NULL, NULL, NULL);
}

static void
check_open_fails(struct stage *s, int error, const char *words)
{
	struct session_error e = { .text = "" };
	struct base_stream *b = NULL;

	assert_int_equal(base_stream_open(s->c, s->lab.archive, s->chores, s->wake_fd, &b, &e),
			 error);
	if (!strstr(e.text, words))
		fail_msg("\"%s\" does not say \"%s\"", e.text, words);
	assert_null(b);
	assert_int_equal(active(s) + sealed(s), 0);
}

static void
test_open_fails(void **state)
{
	struct stage s;

	stage_init(&s);
	set_text(&s.c->events, "no-such-event");
	check_open_fails(&s, -EINVAL, "no-such-event");
	set_text(&s.c->events, "cpu-clock");
	set_text(&s.c->call_graph, "nonsense");
	check_open_fails(&s, -EINVAL, "call_graph = nonsense");
	set_text(&s.c->call_graph, "none");
	event_gate_set(false, EMFILE);
	check_open_fails(&s, -EMFILE, "perf_event_open");
	event_gate_set(false, 0);
	stage_done(&s);
}

/* An archive without room: no error, but later and later. */
static void
test_no_room(void **state)
{
	struct session_error e;
	struct stage s;
	struct job j;

	rig_needs_events(false);
	stage_init(&s);
	give_room(&s, NO_ROOM);
	assert_int_equal(base_stream_open(s.c, s.lab.archive, s.chores, s.wake_fd, &s.b, &e), 0);
	assert_null(s.b->now);
	assert_true(stats_of(&s).suspended);
	assert_true(base_stream_alive(s.b, rig_now_ns()));
	j = have_done(&s, true, 0);
	assert_int_equal(j.result, -EAGAIN);
	assert_int_equal(j.state_ns, 0);
	assert_int_equal(sync_asked(&s, rig_now_ns()), -EAGAIN);
	assert_int_equal(s.b->backoff_ns, SECOND_NS);
	base_stream_dispatch(s.b, s.b->retry_ns - 1);
	assert_null(s.b->now);
	assert_int_equal(active(&s), 0);

	clock_shift_s += 1;
	RIG_UNTIL(turn(&s) && s.b->backoff_ns == 2 * SECOND_NS);
	RIG_UNTIL(turn(&s) && LIST_EMPTY(&s.b->ending));
	assert_null(s.b->now);
	give_room(&s, 0);
	base_stream_dispatch(s.b, s.b->retry_ns - 1);
	assert_null(s.b->now);
	clock_shift_s += 2;
	RIG_UNTIL(turn(&s) && s.b->now && s.b->now->told);
	assert_false(stats_of(&s).suspended);
	assert_int_equal(active(&s), 1);
	stage_done(&s);
}

/* One that ends by itself is begun anew, later and later, and its counts stay. */
static void
test_begun_anew(void **state)
{
	struct session_stats before, after;
	struct session_error e;
	uint64_t written;
	struct stage s;

	stage_begin(&s);
	assert_int_equal(sync_asked(&s, rig_now_ns()), 0);
	before = stats_of(&s);
	written = base_stream_written_bytes(s.b);
	let_it_end(&s);
	assert_int_equal(sealed(&s), 1);
	assert_true(is_kept("the session ended by itself; again in 1 s"));
	after = stats_of(&s);
	assert_true(after.suspended);
	assert_int_equal(after.cpus, 0);
	assert_true(after.records >= before.records && before.records > 0);
	assert_true(base_stream_written_bytes(s.b) >= written);
	assert_int_equal(sync_asked(&s, rig_now_ns()), -EAGAIN);

	/* What is reloaded meanwhile is what it begins with. */
	s.other->frequency = 11;
	set_text(&s.other->call_graph, "none");
	assert_int_equal(base_stream_reload(s.b, s.other, 11, &e), 0);
	assert_int_equal(base_stream_reloaded(s.b, &e), 0);
	clock_shift_s += 1;
	RIG_UNTIL(turn(&s) && s.b->now && s.b->now->told);
	assert_int_equal(stats_of(&s).frequency_hz, 11);
	assert_int_equal(s.b->now->options.call_graph, SESSION_CALL_GRAPH_NONE);
	assert_true(stats_of(&s).records >= after.records);

	let_it_end(&s);
	assert_true(is_kept("the session ended by itself; again in 2 s"));
	clock_shift_s += 2;
	RIG_UNTIL(turn(&s) && s.b->now && s.b->now->told);
	/* At most a minute, and from the beginning again after one that ran for that long. */
	s.b->backoff_ns = 40 * SECOND_NS;
	let_it_end(&s);
	assert_int_equal(s.b->backoff_ns, 60 * SECOND_NS);
	clock_shift_s += 60;
	RIG_UNTIL(turn(&s) && s.b->now && s.b->now->told);
	clock_shift_s += 61;
	let_it_end(&s);
	assert_int_equal(s.b->backoff_ns, SECOND_NS);
	stage_done(&s);
}

/* At a restart the events may be another's: it is tried again, and what it left is no file. */
static void
test_restart_fails(void **state)
{
	struct stage s;

	stage_begin(&s);
	let_it_end(&s);
	event_gate_set(false, EMFILE);
	clock_shift_s += 1;
	RIG_UNTIL(turn(&s) && s.b->backoff_ns == 2 * SECOND_NS);
	event_gate_set(false, 0);
	assert_null(s.b->now);
	assert_true(is_kept("again in 2 s"));
	assert_int_equal(active(&s), 0);
	assert_int_equal(sealed(&s), 1);
	clock_shift_s += 2;
	RIG_UNTIL(turn(&s) && s.b->now && s.b->now->told);
	assert_int_equal(active(&s), 1);
	stage_done(&s);
}

/* --- files ------------------------------------------------------------------------------- */

static void
test_rotate(void **state)
{
	struct stage s;
	struct job j;

	stage_begin(&s);
	assert_true(turn(&s));
	j = have_done(&s, true, 0);
	assert_int_equal(j.result, 0);
	assert_int_equal(sealed(&s), 1);
	assert_int_equal(active(&s), 1);
	/* What a segment begins with, by the share of an hour. */
	assert_true(s.b->share > 0);
	assert_uint_in_range(j.state_ns, 1, stats_of(&s).file_bytes * SECOND_NS / s.b->share);
	s.c->sideband_share = 0;
	assert_true(turn(&s));
	assert_int_equal(s.b->sideband, 0);
	j = have_done(&s, true, 0);
	assert_int_equal(j.result, 0);
	assert_int_equal(j.state_ns, 0);
	assert_int_equal(sealed(&s), 2);

	/* One that cannot be begun changes nothing. */
	give_room(&s, NO_ROOM);
	j = have_done(&s, true, 0);
	assert_int_equal(j.result, -ENOSPC);
	assert_true(strlen(j.error.text) > 0);
	assert_int_equal(j.state_ns, 0);
	assert_int_equal(active(&s), 1);
	stage_done(&s);
}

static void
test_rotation_by_age(void **state)
{
	struct blocker blocker;
	struct stage s;

	stage_begin(&s);
	s.c->segment_age = 100 * SECOND_NS;
	clock_shift_s += 50;
	finish_chores(&s, NULL);
	assert_int_equal(sealed(&s), 0);
	clock_shift_s += 50;
	finish_chores(&s, NULL);
	assert_int_equal(sealed(&s), 1);
	assert_int_equal(active(&s), 1);

	/* Somebody asked for one: the age begins anew. */
	clock_shift_s += 50;
	assert_int_equal(rotate(&s), 0);
	clock_shift_s += 60;
	finish_chores(&s, NULL);
	assert_int_equal(sealed(&s), 2);

	/* While one waits for its turn there is no other one. */
	block_chores(&s, &blocker);
	clock_shift_s += 50;
	assert_true(turn(&s) && s.b->rotation.asked);
	clock_shift_s += 100;
	assert_true(turn(&s) && turn(&s));
	finish_chores(&s, &blocker);
	/* The second is due at once, by what the clock says; a third one is not. */
	RIG_UNTIL(turn(&s) && sealed(&s) == 4);
	finish_chores(&s, NULL);
	assert_int_equal(sealed(&s), 4);
	assert_int_equal(active(&s), 1);
	stage_done(&s);
}

/* The segment goes on, and another one is not tried at once. */
static void
test_rotation_fails(void **state)
{
	struct stage s;

	stage_begin(&s);
	s.c->segment_age = 100 * SECOND_NS;
	give_room(&s, NO_ROOM);
	clock_shift_s += 100;
	finish_chores(&s, NULL);
	assert_true(is_kept("the segment goes on"));
	assert_int_equal(sealed(&s), 0);
	assert_int_equal(active(&s), 1);
	give_room(&s, 0);
	s.c->segment_age = SECOND_NS;
	clock_shift_s += 5;
	finish_chores(&s, NULL);
	assert_int_equal(sealed(&s), 0);
	clock_shift_s += 10;
	finish_chores(&s, NULL);
	assert_int_equal(sealed(&s), 1);
	stage_done(&s);
}

static void
test_sync(void **state)
{
	uint64_t begun_ns, asked_ns;
	struct stage s;

	stage_begin(&s);
	s.c->sync_interval = 0;
	clock_shift_s += 1000;
	finish_chores(&s, NULL);
	assert_int_equal(s.b->sync_tried_ns, 0);
	s.c->sync_interval = 30 * SECOND_NS;
	finish_chores(&s, NULL);
	assert_true(s.b->sync_tried_ns > 0);
	clock_shift_s = 0;

	asked_ns = rig_now_ns();
	assert_int_equal(sync_asked(&s, asked_ns), 0);
	begun_ns = s.b->sync_tried_ns;
	assert_true(begun_ns >= asked_ns);
	/* Whoever asked before that one began has what he wants. */
	assert_int_equal(sync_asked(&s, begun_ns - 1), 0);
	assert_int_equal(s.b->sync_tried_ns, begun_ns);
	assert_int_equal(sync_asked(&s, begun_ns), 0);
	assert_true(s.b->sync_tried_ns > begun_ns);
	assert_int_equal(active(&s), 1);
	assert_int_equal(sealed(&s), 0);
	stage_done(&s);
}

static void
find_active(const struct stage *s, char path[512])
{
	DIR *dir = opendir(s->lab.dir);
	struct dirent *e;

	assert_non_null(dir);
	*path = '\0';
	while ((e = readdir(dir)))
		if (strstr(e->d_name, ".spoor.active"))
			snprintf(path, 512, "%s/%s", s->lab.dir, e->d_name);
	closedir(dir);
	assert_true(*path);
}

/* Somebody removed the file: whoever asked for a sync is told, once, and there is another file. */
static void
test_file_removed(void **state)
{
	uint64_t asked_ns;
	char path[512], other[512];
	struct stage s;
	struct job j;

	stage_begin(&s);
	find_active(&s, path);
	asked_ns = rig_now_ns();
	assert_int_equal(unlink(path), 0);
	j = have_done(&s, false, asked_ns);
	assert_int_equal(j.result, -ESTALE);
	assert_non_null(strstr(j.error.text, "was removed"));
	find_active(&s, other);
	assert_string_not_equal(path, other);
	/* Also who asked before that was known, but nobody who asks now. */
	assert_int_equal(sync_asked(&s, asked_ns), -ESTALE);
	assert_int_equal(sync_asked(&s, rig_now_ns()), 0);

	/* The stream looks by itself. */
	assert_true(turn(&s));
	finish_chores(&s, NULL);
	find_active(&s, path);
	assert_int_equal(unlink(path), 0);
	clock_shift_s += 2;
	finish_chores(&s, NULL);
	assert_int_equal(active(&s), 1);
	find_active(&s, other);
	assert_string_not_equal(path, other);

	/* One with another name is ended in order. */
	snprintf(path, sizeof(path), "%s/mine", s.lab.dir);
	assert_int_equal(rename(other, path), 0);
	clock_shift_s += 2;
	finish_chores(&s, NULL);
	assert_int_equal(active(&s), 1);
	assert_true(lab_exists(&s.lab, "mine"));
	stage_done(&s);
}

/* --- what the governor asks --------------------------------------------------------------- */

static void
test_frequency(void **state)
{
	struct blocker blocker;
	struct stage s;

	stage_begin(&s);
	assert_true(turn(&s));
	assert_false(s.b->frequency.asked);
	base_stream_set_frequency(s.b, 7);
	assert_int_equal(stats_of(&s).frequency_hz, s.c->frequency);
	RIG_UNTIL(turn(&s) && stats_of(&s).frequency_hz == 7);
	finish_chores(&s, NULL);
	/* Two while one is under way: the last one counts. */
	block_chores(&s, &blocker);
	base_stream_set_frequency(s.b, 5);
	assert_true(turn(&s) && s.b->frequency.asked);
	base_stream_set_frequency(s.b, 4);
	assert_true(turn(&s));
	base_stream_set_frequency(s.b, 3);
	finish_chores(&s, &blocker);
	RIG_UNTIL(turn(&s) && stats_of(&s).frequency_hz == 3);
	finish_chores(&s, NULL);
	assert_int_equal(s.b->applied_hz, 3);
	/* No event is to have more. */
	assert_int_equal(s.b->applied_limit_hz, 3);

	/* The next session has it from the beginning. */
	let_it_end(&s);
	clock_shift_s += 1;
	RIG_UNTIL(turn(&s) && s.b->now && s.b->now->told);
	assert_int_equal(stats_of(&s).frequency_hz, 3);
	assert_false(s.b->frequency.asked);
	assert_int_equal(s.b->now->options.frequency_limit_hz, 3);
	/* As configured, there is no limit. */
	base_stream_set_frequency(s.b, s.c->frequency);
	RIG_UNTIL(turn(&s) && stats_of(&s).frequency_hz == s.c->frequency);
	finish_chores(&s, NULL);
	assert_int_equal(s.b->applied_limit_hz, 0);
	stage_done(&s);
}

static void
test_sideband(void **state)
{
	uint64_t whole;
	struct stage s;

	stage_begin(&s);
	assert_true(turn(&s));
	whole = s.b->sideband;
	assert_int_equal(whole, s.b->share + 1);
	base_stream_set_sideband(s.b, 3);
	assert_int_equal(s.b->sideband, whole);
	assert_true(turn(&s));
	assert_int_equal(s.b->sideband, (s.b->share >> 3) + 1);
	base_stream_set_sideband(s.b, 0);
	assert_true(turn(&s));
	assert_int_equal(s.b->sideband, whole);
	stage_done(&s);
}

/* --- reloads ------------------------------------------------------------------------------ */

static void
test_reload_in_place(void **state)
{
	struct base_session *same;
	struct session_error e;
	struct stage s;

	stage_begin(&s);
	same = s.b->now;
	s.other->frequency = 9;
	s.other->segment_age = 100 * SECOND_NS;
	assert_int_equal(base_stream_reload(s.b, s.other, 9, &e), 0);
	assert_int_equal(base_stream_reloaded(s.b, &e), 0);
	RIG_UNTIL(turn(&s) && stats_of(&s).frequency_hz == 9);
	finish_chores(&s, NULL);
	assert_ptr_equal(s.b->now, same);
	assert_int_equal(sealed(&s), 0);
	clock_shift_s += 100;
	finish_chores(&s, NULL);
	assert_int_equal(sealed(&s), 1);
	assert_ptr_equal(s.b->now, same);
	stage_done(&s);
}

/* Another session comes before this one goes: nothing is missed in between. */
static void
test_reload_of_session(void **state)
{
	struct session_stats before, after;
	struct base_session *old;
	struct session_error e;
	struct stage s;

	stage_begin(&s);
	assert_true(turn(&s));
	old = s.b->now;
	s.other->ring_pages = 16;
	s.other->frequency = 9;
	event_gate_set(true, 0);
	assert_int_equal(base_stream_reload(s.b, s.other, 9, &e), -EINPROGRESS);
	RIG_UNTIL(turn(&s) && event_gate_reached());
	/* Meanwhile it is as if nothing had been asked. */
	assert_int_equal(base_stream_reloaded(s.b, &e), -EINPROGRESS);
	assert_ptr_equal(s.b->now, old);
	assert_int_equal(rotate(&s), 0);
	assert_false(stats_of(&s).suspended);
	assert_int_equal(stats_of(&s).frequency_hz, s.c->frequency);
	before = stats_of(&s);
	event_gate_set(false, 0);
	RIG_UNTIL(turn(&s) && base_stream_reloaded(s.b, &e) != -EINPROGRESS);
	assert_int_equal(base_stream_reloaded(s.b, &e), 0);
	assert_ptr_not_equal(s.b->now, old);
	assert_int_equal(s.b->now->options.ring_pages, 16);
	assert_int_equal(stats_of(&s).frequency_hz, 9);
	finish_chores(&s, NULL);
	after = stats_of(&s);
	assert_true(after.records >= before.records && after.samples >= before.samples);
	assert_true(turn(&s) && !s.b->frequency.asked);
	assert_int_equal(after.frequency_hz, 9);
	assert_int_equal(sealed(&s), 2);
	assert_int_equal(active(&s), 1);
	assert_int_equal(s.b->backoff_ns, 0);
	assert_true(base_stream_alive(s.b, rig_now_ns()));
	stage_done(&s);
}

static void
test_reload_fails(void **state)
{
	struct base_session *same;
	struct session_error e = { .text = "" };
	struct stage s;

	stage_begin(&s);
	same = s.b->now;
	/* What can be said at once is. */
	set_text(&s.other->call_graph, "nonsense");
	assert_int_equal(base_stream_reload(s.b, s.other, 9, &e), -EINVAL);
	assert_non_null(strstr(e.text, "nonsense"));
	set_text(&s.other->call_graph, "fp");
	set_text(&s.other->events, "no-such-event");
	assert_int_equal(base_stream_reload(s.b, s.other, 9, &e), -EINPROGRESS);
	RIG_UNTIL(turn(&s) && base_stream_reloaded(s.b, &e) != -EINPROGRESS);
	assert_int_equal(base_stream_reloaded(s.b, &e), -EINVAL);
	assert_non_null(strstr(e.text, "no-such-event"));
	finish_chores(&s, NULL);
	assert_ptr_equal(s.b->now, same);
	assert_int_equal(stats_of(&s).frequency_hz, s.c->frequency);
	assert_int_equal(active(&s), 1);
	assert_int_equal(sealed(&s), 0);
	/* The configuration is the old one: it is not borrowed any more. */
	assert_ptr_equal(s.b->config, s.c);
	set_text(&s.other->events, "cpu-clock");
	assert_int_equal(base_stream_reload(s.b, s.other, s.c->frequency, &e), 0);
	assert_int_equal(base_stream_reloaded(s.b, &e), 0);
	stage_done(&s);
}

/* The old one dies while the new one is being opened, and is seen to be dead after that. */
static void
test_reload_over_the_dead(void **state)
{
	struct session_error e;
	struct blocker blocker;
	struct stage s;

	stage_begin(&s);
	assert_true(turn(&s));
	s.other->ring_pages = 16;
	event_gate_set(true, 0);
	assert_int_equal(base_stream_reload(s.b, s.other, 19, &e), -EINPROGRESS);
	RIG_UNTIL(event_gate_reached());
	block_chores(&s, &blocker);
	session_stop(session_thread_session(s.b->now->thread));
	RIG_UNTIL(turn(&s) && !s.b->now);
	event_gate_set(false, 0);
	RIG_UNTIL(turn(&s) && s.b->now);
	assert_int_equal(base_stream_reloaded(s.b, &e), 0);
	finish_chores(&s, &blocker);
	/* It records: there is nothing to try again. */
	assert_non_null(s.b->now);
	assert_int_equal(s.b->backoff_ns, 0);
	assert_true(s.b->begun_ns > 0);
	assert_int_equal(active(&s), 1);
	assert_int_equal(sealed(&s), 1);
	stage_done(&s);
}

/* The other configuration comes, with that. */
static void
reload(struct stage *s, uint64_t ring_pages)
{
	struct config *c = s->b->config == s->c ? s->other : s->c;
	struct session_error e;

	c->ring_pages = ring_pages;
	assert_int_equal(base_stream_reload(s->b, c, 19, &e), -EINPROGRESS);
	RIG_UNTIL(turn(s) && base_stream_reloaded(s->b, &e) != -EINPROGRESS);
	assert_int_equal(base_stream_reloaded(s->b, &e), 0);
}

/* Counters are read by one session at a time, however many reloads come before the chore that sees to it. */
static void
test_counters_take_turns(void **state)
{
	struct session_error e;
	struct blocker blocker;
	struct stage s;

	rig_needs_events(false);
	stage_init(&s);
	set_text(&s.c->counters, "context-switches");
	set_text(&s.other->counters, "context-switches");
	assert_int_equal(base_stream_open(s.c, s.lab.archive, s.chores, s.wake_fd, &s.b, &e), 0);
	assert_true(turn(&s));
	assert_false(s.b->now->options.counters_wait);
	reload(&s, 16);
	RIG_UNTIL(turn(&s) && !s.b->now->options.counters_wait);
	finish_chores(&s, NULL);
	assert_int_equal(sealed(&s), 1);
	block_chores(&s, &blocker);
	reload(&s, 8);
	assert_true(s.b->now->options.counters_wait && s.b->counting.asked);
	/* The one before goes on until it was asked. */
	assert_true(session_thread_running(s.b->counted_by->thread));
	reload(&s, 16);
	assert_true(s.b->now->options.counters_wait);
	finish_chores(&s, &blocker);
	RIG_UNTIL(turn(&s) && !s.b->now->options.counters_wait);
	finish_chores(&s, NULL);
	assert_int_equal(sealed(&s), 3);
	/* And one that dies meanwhile has read them by then. */
	block_chores(&s, &blocker);
	reload(&s, 8);
	session_stop(session_thread_session(s.b->counted_by->thread));
	rig_sleep_ms(50);
	finish_chores(&s, &blocker);
	RIG_UNTIL(turn(&s) && !s.b->now->options.counters_wait);
	assert_int_equal(s.b->backoff_ns, 0);
	stage_done(&s);
}

/* Each session has 15 s to open, also the one of a reload. */
static void
test_reload_hangs(void **state)
{
	const uint64_t now_ns = rig_now_ns();
	struct session_progress from, p;
	struct session_error e;
	struct stage s;

	stage_begin(&s);
	assert_true(turn(&s));
	s.other->ring_pages = 16;
	event_gate_set(true, 0);
	assert_int_equal(base_stream_reload(s.b, s.other, 19, &e), -EINPROGRESS);
	RIG_UNTIL(event_gate_reached());
	assert_true(base_stream_alive(s.b, now_ns));
	/* The present one's threads come round at least once a second. */
	session_progress(session_thread_session(s.b->now->thread), &from);
	RIG_UNTIL((session_progress(session_thread_session(s.b->now->thread), &p),
		   p.drain != from.drain && p.writer != from.writer));
	assert_false(base_stream_alive(s.b, now_ns + WATCHDOG_STUCK_NS));
	/* The daemon ends in the middle of it. */
	assert_true(chores_close(s.chores, NULL, NULL));
	s.chores = NULL;
	base_stream_stop(s.b);
	event_gate_set(false, EMFILE);
	base_stream_close(s.b, NULL, NULL);
	s.b = NULL;
	event_gate_set(false, 0);
	assert_int_equal(sealed(&s), 1);
	assert_int_equal(active(&s), 0);
	stage_done(&s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_life),
		cmocka_unit_test(test_open_fails),
		cmocka_unit_test(test_no_room),
		cmocka_unit_test(test_begun_anew),
		cmocka_unit_test(test_restart_fails),
		cmocka_unit_test(test_rotate),
		cmocka_unit_test(test_rotation_by_age),
		cmocka_unit_test(test_rotation_fails),
		cmocka_unit_test(test_sync),
		cmocka_unit_test(test_file_removed),
		cmocka_unit_test(test_frequency),
		cmocka_unit_test(test_sideband),
		cmocka_unit_test(test_reload_in_place),
		cmocka_unit_test(test_reload_of_session),
		cmocka_unit_test(test_reload_fails),
		cmocka_unit_test(test_reload_over_the_dead),
		cmocka_unit_test(test_counters_take_turns),
		cmocka_unit_test(test_reload_hangs),
	};

	/* The sanitizer of threads wants forks while there is one. */
	(void)helper_start();
	return cmocka_run_group_tests_name("base_stream", tests, NULL, NULL);
}
