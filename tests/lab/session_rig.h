/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session_rig: a session in a thread of its own, files in memory that fail when they are
 * told to, a load to sample, and counts of what is in a file.
 */
#ifndef TESTS_LAB_SESSION_RIG_H
#define TESTS_LAB_SESSION_RIG_H

#include <pthread.h>
#include <stdatomic.h>

#include "format/block/gap.h"
#include "format/block/loss.h"
#include "format/block/rate.h"
#include "format/bytes/io.h"
#include "recorder/session/session.h"

/* A file; what it is told to fail with may be changed while it is written. */
struct rig_file {
	uint8_t *p; /* with n and cap behind the lock of all files, while there is a writer */
	size_t n, cap;
	_Atomic int write_errno, sync_errno; /* 0: it works */
	_Atomic unsigned room; /* writes, after which there is none: write_errno; 0: always some */
	_Atomic bool stalled;  /* writes and syncs wait until it is not */
	_Atomic uint64_t refused, syncs, waits;
	_Atomic bool closed;
	uint32_t tid; /* the thread that rig_count() counts apart */
};

struct io_sink *rig_sink(struct rig_file *f);
void rig_file_done(struct rig_file *f);
size_t rig_file_bytes(const struct rig_file *f);

/* Skips the test where this user may not sample whole CPUs, or not even a thread of its own. */
void rig_needs_events(bool own);

struct rig {
	struct session *session;
	pthread_t thread;
	int result;
	struct session_error error;
};

/* Opens and runs; skips the test with the reason when this user may not sample. */
void rig_start(struct rig *r, const struct session_options *o);
/* Runs a session that the test has opened. */
void rig_go(struct rig *r);
/* Stops, finishes, and leaves the session open for its stats. */
void rig_stop(struct rig *r);
/* The same, and closes it. */
void rig_end(struct rig *r);

/* Threads that touch new memory: some ten thousand page faults a second. */
struct rig_load {
	pthread_t threads[2];
	atomic_bool stop, busy;
};
void rig_load_start(struct rig_load *l);
/* From now on they do not rest: a CPU that is idle may have no samples of a clock. */
void rig_load_keep_busy(struct rig_load *l);
/* Moves one of its threads to a CPU. One that goes offline loses it, and does not get it back. */
void rig_load_pin(struct rig_load *l, int cpu);
void rig_load_stop(struct rig_load *l);

struct rig_counts {
	uint64_t samples, state, records, bad;
	uint64_t due;		    /* samples, by what READ records say of this file */
	uint64_t due_before;	    /* of those before it */
	uint64_t reads;		    /* READ records */
	uint64_t first_bad;	    /* id of a SAMPLE that does not parse */
	uint64_t periods;	    /* of samples */
	uint64_t own, own_periods;  /* samples of the file's tid */
	uint64_t first_ns, last_ns; /* of samples */
	uint64_t loss[LOSS_CAUSES];
	struct gap gaps[64];
	size_t nr_gaps;
	struct rate rates[64];
	size_t nr_rates;
	uint64_t frequency_hz; /* effective, of the meta */
	size_t ids;
	unsigned notes_off; /* lines of notes that tell of events that are off */
	uint64_t cpu[8];    /* samples of it */
};

#define RIG_PERIOD 16 /* of the events of which each is to be accounted for */

/* Reads a file to its end; fails the test when it is damaged, or (closed) has no END. */
void rig_count(const struct rig_file *f, bool closed, struct rig_counts *ret);

/* Polls for what another thread brings about; fails the test when it has not in 30 s. */
#define RIG_UNTIL(condition)                                                                       \
	do {                                                                                       \
		unsigned rounds_ = 0;                                                              \
		while (!(condition)) {                                                             \
			if (++rounds_ > 6000)                                                      \
				fail_msg("waited in vain until %s", #condition);                   \
			rig_sleep_ms(5);                                                           \
		}                                                                                  \
	} while (0)

uint64_t rig_now_ns(void);
void rig_sleep_ms(unsigned ms);
/* Open descriptors of this process, sockets included. A helper is a socket, from its first question on. */
struct rig_descriptors {
	unsigned all, sockets;
};
struct rig_descriptors rig_descriptors(void);
void rig_print_descriptors(void);

#endif
