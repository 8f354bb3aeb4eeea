/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * live: the recorder's own picture of the host, kept current by the records that pass by.
 *
 * Holds the task model (so that a new file starts with a snapshot and not with a scan), the
 * kernel's symbols with the set of those that the open file has been given, and the
 * build-ids that the kernel could not tell. Belongs to the writer thread alone: no call
 * takes a lock, and none may run beside another. live_open() and the first live_scan() may
 * run on another thread before the writer thread starts.
 *
 * In one file: live_scan() or live_snapshot() -> a STATE block; then for each drain pass
 * live_sample() and live_record() for its records (hooks of recording_writer), live_take() -> a
 * STATE block while there is something, and live_pass(); live_before_close() from the
 * writer's before_close hook.
 *
 * What belongs to others, their files and their /proc, is touched by helpers alone: no call waits
 * for anybody's file system or process.
 */
#ifndef RECORDER_LIVE_LIVE_H
#define RECORDER_LIVE_LIVE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "format/bytes/buf.h"
#include "format/model/task_model.h"
#include "format/record/event_set.h"
#include "format/recording/recording_writer.h"
#include "recorder/ground/news.h"
#include "recorder/ground/session_options.h"

struct helper_pool;
struct kallsyms;
struct live;
struct task_users;

#define LIVE_MODEL_BYTES (32u << 20) /* see task_model_limit() */
#define LIVE_PENDING_PART                                                                          \
	4 /* of model_bytes: records that wait for the model take as much at most */

struct live_options {
	const struct event_set *events; /* by which records parse; borrowed */
	int sideband;			/* index in events of the side-band event */
	const pid_t *pids;		/* restricts scans, as in state_options; borrowed */
	size_t nr_pids;
	bool waiting;	      /* pids: of a command that is yet to execute, without these maps */
	bool data_maps;	      /* as in state_options */
	uint64_t model_bytes; /* 0: LIVE_MODEL_BYTES */
	struct session_objects objects; /* what it points to is borrowed until live_open() returns */
	const char *kallsyms, *modules; /* NULL: those of /proc; borrowed */
};

/* 0, -ENOMEM, -errno. A kernel that hides its symbols is no error: live_note() says so. */
int live_open(const struct live_options *options, struct live **ret);
void live_close(struct live *l);

/* The events are now these: the same ones, with other ids. Borrowed as the first were. */
void live_events(struct live *l, const struct event_set *events, int sideband);

/* The kernel's symbols, for recording_meta; NULL when they are hidden. */
const struct kallsyms *live_kallsyms(const struct live *l);

/*
 * Begins to tell of the state: appends the maps of the kernel to out, the payload of a STATE block,
 * and asks a helper for all else, which live_take() has. 0, -ENOMEM.
 */
int live_scan(struct live *l, struct buf *out);

/*
 * Asks for the same after side-band records were lost; live_take() then also tells of the tasks that
 * are gone (EXIT). Not while a scan goes on. 0, -ENOMEM.
 */
int live_resync(struct live *l, uint64_t now_ns);

/*
 * What has come of a scan since the last call, for the payload of another STATE block; the model
 * gets it, too; and which modules came and went. Also takes the build-ids that were asked for, and asks for names of
 * JIT code and takes them: all samples before complete_ns have been shown. Never waits. 0, -ENOMEM.
 */
int live_take(struct live *l, uint64_t complete_ns, struct buf *out);

/* The kernel says that a module came or went: live_take() is to look at once. */
void live_modules_changed(struct live *l);

/* Is there more of a scan to come? */
bool live_scanning(const struct live *l);
/* Is a build-id to come that was asked for? */
bool live_waiting(const struct live *l);
/* A descriptor that polls readable when there is something to take; -1: none now. */
int live_fd(const struct live *l);

/* The file ends soon: live_take() is to ask for all names of JIT code that it needs. */
void live_hurry(struct live *l);
/* Are some of these still to come? */
bool live_hurrying(const struct live *l);
/* Writes them, where no other block is to be closed. 0, -FMT_E_*. */
int live_write_names(struct live *l, struct recording_writer *w, struct fmt_where *where);

/* How many questions about what belongs to others had no answer since the last call. */
uint64_t live_unanswered(struct live *l);

/* Bytes of objects that were stored, as far as is known. */
uint64_t live_stored(const struct live *l);
/* So many may have been stored in all. */
void live_allow_objects(struct live *l, uint64_t bytes);
/* Nothing more is shown: waits a few seconds until objects that were asked for are stored. */
void live_finish(struct live *l);

/* One line about what did not answer since the last call, for people. False: nothing. */
bool live_news(struct live *l, struct news_line *ret);

/*
 * Begins another file: emit() gets the state as the model has it, piece by piece, for its STATE
 * blocks. What the last file had been given (kernel symbols, build-ids) will be given again, as
 * needed. 0, -FMT_E_NOMEM, or what emit() returned.
 */
int live_snapshot(struct live *l, task_model_emit_fn *emit, void *arg);
/* About how many bytes of maps a snapshot may have; what it leaves out is in live_left_out(). */
void live_bound_snapshot(struct live *l, uint64_t bytes);

/* Side-band that the model had no room for, since live_open(): it is in no snapshot. */
uint64_t live_left_out(const struct live *l);

/* A sample as it passes by. */
void live_sample(struct live *l, const struct sample_glance *sample);
/* Any other record as it passes by. Asks for the build-id of a mapping of which nothing is known. */
void live_record(struct live *l, const struct perf_record *record);

/*
 * Ends a drain pass: all records older than complete_ns have been shown; the model follows up
 * to there, or as far as a scan has come. 0, -ENOMEM.
 */
int live_pass(struct live *l, uint64_t complete_ns);

/*
 * Is it time for a live_pass()? One at a time, records cost several times as much as many
 * together, and live_snapshot() and live_resync() have a live_pass() before them anyway. But a file
 * has to be found while somebody is there who sees it.
 */
bool live_due(const struct live *l, uint64_t complete_ns);

/*
 * Writes KSYMS and BUILDIDS blocks with what the open block needs and its file has not got.
 * A recording_writer before_close hook but for its first argument. 0, or a -FMT_E_*.
 */
int live_before_close(struct live *l, struct recording_writer *w, struct fmt_where *where);

/* Called with the time of each record before live_pass() applies it to the model; there is one callback. */
typedef void live_reach_fn(void *arg, uint64_t time_ns);
void live_on_reach(struct live *l, live_reach_fn *fn, void *arg);
/* The model has all records before this time, as far as they came. */
uint64_t live_model_ns(const struct live *l);
/* Where helpers are had from. */
struct helper_pool *live_helpers(struct live *l);

const struct task_model *live_model(const struct live *l);

/* Of which live_model() knows the ancestors. */
struct task_users *live_users(struct live *l);

/* A line on what could not be had, for the file's notes; "" when nothing. */
const char *live_note(const struct live *l);

#endif
