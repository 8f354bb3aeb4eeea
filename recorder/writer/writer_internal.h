/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * writer_internal: what the parts of the writer share, from the ground up: counts and the budget
 * of side-band (writer_ledger.c), the files with all that can happen to a disk (writer_files.c),
 * AUX data (writer_aux.c), stacks that are unwound (writer_unwind.c), the host's state as blocks (writer_state.c), the thread and its messages (writer.c).
 * All of it is the writer thread's, but for what says otherwise.
 */
#ifndef RECORDER_WRITER_WRITER_INTERNAL_H
#define RECORDER_WRITER_WRITER_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "format/block/gap.h"
#include "format/block/rate.h"
#include "format/block/unwind_stops.h"
#include "recorder/ground/message.h"
#include "recorder/ground/news.h"
#include "recorder/ground/queue.h"
#include "recorder/writer/out_file.h"
#include "recorder/writer/sideband_budget.h"
#include "recorder/writer/writer.h"

#define NOT_ALLOWED UINT64_MAX

/* A time in which nothing can be written. */
struct outage {
	bool on;
	bool for_ever;		/* of this file: a sync failed */
	bool removed;		/* the file is no more; from_ns is its beginning, samples has its */
	bool missed_state;	/* side-band was not written: a snapshot has to follow */
	bool missed_rate;	/* likewise a change of the rate */
	uint64_t from_ns;	/* when it began */
	uint64_t counted_ns;	/* up to when it is in the total ledger */
	uint64_t tried_ns;	/* when it was last tried to write */
	uint64_t samples;	/* dropped */
	struct loss *loss;	/* what the file that ends it has to tell */
	struct buf gaps;	/* payload: gaps of other causes that came meanwhile */
	struct buf reads;	/* records: what was counted before the file, likewise */
	struct fmt_where where; /* of the error that began it */
	int error;		/* FMT_E_* */
};

struct closed_id {
	uint64_t id, at_ns;
};

/* A user over the budget of side-band, as in session_stats. */
struct writer_over {
	bool here, noted; /* in the current file; its notes say so */
	bool told;	  /* the news, too */
};

struct writer {
	struct writer_options options;
	struct queue *queue;
	struct recording_meta *meta; /* what the next file begins with */
	struct closed_id *closed; /* of descriptors that are gone; the meta still has their ids */
	size_t nr_closed, cap_closed;
	struct out_file file;
	struct outage outage;
	bool begins;	     /* the READ records of what was before the file may still come */
	struct loss *loss;   /* since the session began */
	struct loss *untold; /* that a file which could not be written was to tell; NULL: nothing */
	struct rate rate;    /* the last change; time 0: none */
	struct gap removed;  /* of files before this one, as this one tells; from 0: none */
	struct sideband_budget sideband;
	uint64_t shared_ns, cpu_ns, taken, taken_sideband; /* see share_cpu() */
	bool resync_wanted;
	uint64_t resync_began_ns, resync_had; /* of one that goes on; 0: none does */
	uint64_t resync_after_ns;	      /* not sooner again */
	struct unwinding *unwinding;	      /* NULL: no stack is to be unwound */
	struct unwind_stops stops_told;	      /* by files */
	uint64_t unwind_ns;		      /* CPU time of that, as it is in stats */
	struct buf unwound;		      /* records on their way from there to the file */
	struct buf scratch;
	struct buf aux; /* payload of the AUX block that is being filled; empty: none */
	uint64_t aux_since_ns;
	struct buf state; /* of a scan, that is not written yet */
	pthread_t thread;
	bool started;
	uint64_t complete_ns;	/* what the last pass said */
	uint64_t window_ns;	/* of a flight recorder: what is kept is younger */
	bool dumping;		/* likewise: until the next pass */
	uint64_t window_due_ns; /* when the model follows again */
	uint64_t open_since_ns; /* when the open block got its first record, more or less */
	uint64_t blocks;
	uint64_t left_out; /* by the model, as far as it is in the ledger */
	uint64_t ended_samples, ended_records, ended_sideband; /* of the files before this one */
	struct fmt_where where; /* of the failure; the thread's until it is joined */
	int error;		/* FMT_E_*, likewise */
	struct news news;
	atomic_bool failed;			  /* set: release; pairs in writer_failed() */
	_Atomic uint64_t progress, sideband_rate; /* relaxed, each a fact of its own */
	_Atomic uint64_t objects_allowed;	  /* likewise; NOT_ALLOWED: nothing new */
	struct session_stats stats; /* as of the last pass, but for users and CPU time: of now */
	struct writer_over over[SESSION_OVER_MAX];
	pthread_mutex_t published_lock;
	struct session_stats published; /* stats, for other threads */
};

/* --- writer_ledger.c: no file --- */

/* Of each file that it writes. */
struct recording_writer_options writer_hooks(struct writer *w);

/* Is there room in the budget for this record? What is not is counted, and nobody sees it. */
bool writer_admit(struct writer *w, const struct perf_record *r);
/* What a scan has brought: of these tasks something is in the file. */
void writer_told(struct writer *w, struct span state);
/* A record that no file gets: for the model and the ledger. */
void writer_see(struct writer *w, const struct perf_record *r, int event);
/* All of them: they are for the model alone, as long as a flight recorder writes nothing. */
void writer_keep(struct writer *w, struct span records);
/* Is it time for writer_follow()? */
bool writer_behind(const struct writer *w);
/* Adds to both ledgers. */
void writer_count(struct writer *w, uint32_t cpu, enum loss_cause cause, uint64_t n);
/* The live model follows up to the last pass. 0, or -FMT_E_NOMEM. */
int writer_follow(struct writer *w, struct fmt_where *where);
/* The statistics for other threads. */
void writer_publish(struct writer *w);

/* --- writer_files.c --- */

/* Turns an error of the current file into a message. */
int writer_file_error(int error, const struct fmt_where *where, struct session_error *ret);

/*
 * What to do about a result r of the file, told in *where: 0 when it is no error, or the session
 * goes on without the file (an outage has begun or goes on); else r.
 */
int writer_trouble(struct writer *w, int r, const struct fmt_where *where);

/* Records to the open file, or to what is done without one. 0, or what to do about it. */
int writer_records(struct writer *w, struct span records);
/* A block of the open file, and what to do about its result. */
int writer_block(struct writer *w, enum block_type type, struct span payload);

/* Records during an outage: followed and counted, not kept. */
void writer_drop(struct writer *w, struct span records);

/* Records that neither a file nor the model gets: their samples are counted. */
void writer_count_lost(struct writer *w, struct span records);

/* During an outage, whenever a pass ends: tries to write again when it is time. 0, or fatal. */
int writer_outage_pass(struct writer *w, uint64_t now_ns);

/* Blocks of their own, now or when the outage is over. */
int writer_gap(struct writer *w, const struct gap *gap);
int writer_rate(struct writer *w, const struct rate *rate);
/* A line in the open file's notes, unless it is there. */
int writer_note(struct writer *w, const char *line);
int writer_ids(struct writer *w, const struct message_id *ids, size_t nr);

/* The state as the model has it, and what is younger, as blocks of the open file. 0, or what to do about it. */
int writer_snapshot(struct writer *w);

/* The requests: an error of theirs is in *error, one of the session is returned (FMT_E_*). */
int writer_rotate(struct writer *w, struct io_sink *sink, int *ret, struct session_error *error);
int writer_sync(struct writer *w, int *ret, struct session_error *error);

/* Before the last file ends: what an outage kept from it. 0, or why it still has not got it. */
int writer_last_try(struct writer *w);
/* Ends the last file. */
int writer_end(struct writer *w);

void writer_files_done(struct writer *w);

/* --- writer_unwind.c: of a writer that unwinds; 0, or what to do about it --- */

/* -ENOMEM. */
int writer_unwind_open(struct writer *w);
void writer_unwind_close(struct writer *w);
/* Records as they were drained. */
int writer_unwind_take(struct writer *w, struct span records);
/* What has its answer goes to the file. */
int writer_unwind_give(struct writer *w);
/* After unwinding_begin_pass(), when the model has followed. */
int writer_unwind_pass(struct writer *w, uint64_t now_ns);
/* All that waits goes to the file, after a second at most. */
int writer_unwind_all(struct writer *w);

/* --- writer_aux.c: 0, or FMT_E_* --- */

/* A MESSAGE_AUX. In an outage it is counted as lost. */
int writer_aux(struct writer *w, struct span message);
/* Writes what there is, unless in an outage. */
int writer_aux_flush(struct writer *w);
/* Writes what is old enough, if there is a file; with records it is written as these are. */
int writer_aux_due(struct writer *w);

/* --- writer_state.c: into blocks of the open file; 0, or FMT_E_* --- */

/* What has come of a scan; and what there is to tell. */
int writer_take_state(struct writer *w);
/*
 * Likewise, of what comes in a second. Before the first record is taken: the state stands before the
 * samples that need it, if it comes in time. They are in the queue until then, as far as it has room.
 * Before a dump of the flight recorder: likewise. Before another file begins: the first scan, and names
 * of JIT code that the file which ends needs. At the end: all, and longer. A file that ends before the first
 * scan is over gets a note.
 */
enum writer_wait { WRITER_WAIT_FIRST, WRITER_WAIT_DUMP, WRITER_WAIT_NAMES, WRITER_WAIT_LAST };
int writer_wait_state(struct writer *w, enum writer_wait which);
/* Side-band was lost, which the ledger has: what is so is asked of /proc, now or later. */
void writer_resync(struct writer *w, uint64_t now_ns);

#endif
