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
 * live_sample() and live_record() for its records (hooks of recording_writer) and live_pass();
 * live_before_close() from the writer's before_close hook.
 */
#ifndef RECORDER_LIVE_H
#define RECORDER_LIVE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "format/buf.h"
#include "format/event_set.h"
#include "format/recording_writer.h"
#include "format/task_model.h"

struct kallsyms;
struct live;

struct live_options {
	const struct event_set *events; /* by which records parse; borrowed */
	int sideband;			/* index in events of the side-band event */
	uint64_t sideband_id;		/* id for the records that are made here; 0: its first */
	const pid_t *pids;		/* restricts scans, as in state_options; borrowed */
	size_t nr_pids;
	bool data_maps;			/* as in state_options */
	const char *kallsyms, *modules; /* NULL: those of /proc; borrowed */
};

/* 0, -ENOMEM, -errno. A kernel that hides its symbols is no error: live_notes() says so. */
int live_open(const struct live_options *options, struct live **ret);
void live_close(struct live *l);

/* The events are now these: the same ones, with other ids. Borrowed as the first were. */
void live_events(struct live *l, const struct event_set *events, int sideband);

/* The kernel's symbols, for recording_meta; NULL when they are hidden. */
const struct kallsyms *live_kallsyms(const struct live *l);

/*
 * Scans /proc into out, the payload of a STATE block, and into the model. now_ns:
 * CLOCK_MONOTONIC. 0, -ENOMEM, -errno.
 */
int live_scan(struct live *l, uint64_t now_ns, struct buf *out);

/*
 * The same after side-band records were lost: also tells of the tasks that are gone (EXIT).
 */
int live_resync(struct live *l, uint64_t now_ns, struct buf *out);

/*
 * Begins another file: the state as the model has it, payload of its STATE block. What the
 * last file had been given (kernel symbols, build-ids) will be given again, as needed.
 */
int live_snapshot(struct live *l, struct buf *out);

/* A sample as it passes by. */
void live_sample(struct live *l, const struct sample_glance *sample);
/*
 * Any other record as it passes by; event is its index in the event set, -1 for none. Reads the
 * file of a mapping of which nothing is known: with live_pass(), for 50 ms between two passes.
 */
void live_record(struct live *l, const struct perf_record *record, int event);

/*
 * Ends a drain pass: all records older than complete_ns have been shown; the model follows up
 * to there, and reads the build-ids that are missing still (what is then left is done in the next
 * pass). 0, -ENOMEM.
 */
int live_pass(struct live *l, uint64_t complete_ns);

/*
 * Is it time for a live_pass()? One at a time, records cost several times as much as many
 * together, and nobody looks at the model but live_snapshot() and live_resync(), before which
 * live_pass() is called anyway. But a build-id has to be read while its process is there.
 */
bool live_due(const struct live *l, uint64_t complete_ns);

/*
 * Writes KSYMS and BUILDIDS blocks with what the open block needs and its file has not got.
 * A recording_writer before_close hook but for its first argument. 0, or a -FMT_E_*.
 */
int live_before_close(struct live *l, struct recording_writer *w, struct fmt_where *where);

const struct task_model *live_model(const struct live *l);

/* What could not be had, one line each, for the file's notes; "" when nothing. */
const char *live_notes(const struct live *l);

#endif
