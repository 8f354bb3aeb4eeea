/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session_stats: what a running session says of itself.
 */
#ifndef RECORDER_GROUND_SESSION_STATS_H
#define RECORDER_GROUND_SESSION_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/block/loss.h"
#include "format/block/unwind_stops.h"

/* A user whose side-band was left out. */
struct session_over {
	uint32_t uid; /* UINT32_MAX: of processes that ended too soon to be asked */
	uint64_t records;
};
#define SESSION_OVER_MAX 16

struct session_stats {
	/* samples: also those that LOSS_REMOVED has; file_bytes: of the current file */
	uint64_t samples, records, lost, file_bytes;
	uint64_t frequency_hz;	    /* effective, now */
	uint32_t cpus;		    /* that are being sampled now */
	bool suspended;		    /* the file takes no bytes */
	bool refused;		    /* nor will it: session_rotate() ends that */
	uint64_t loss[LOSS_CAUSES]; /* totals since session_open(), by cause */
	uint64_t sideband_bytes;    /* of file_bytes of all files: of anything but samples */
	uint64_t objects_bytes;	    /* of files that were stored, as far as is known */
	uint64_t cpu_ns;      /* that both threads and the unwinder took, as of a second ago */
	uint64_t sideband_ns; /* of it, with side-band */
	uint64_t owed_ns; /* once it is over: for how long it has still had more than cpu_share */
	struct session_over over[SESSION_OVER_MAX]; /* since session_open(), the first ones */
	size_t nr_over;
	struct unwind_stops stacks; /* that were unwound, since session_open() */
	uint32_t stack_bytes;	    /* that are copied of each, now; 0: none is */
};

/* Counts records of a user. His place in over; SESSION_OVER_MAX: there is no more room. */
size_t session_stats_over(struct session_stats *s, uint32_t uid, uint64_t records);

/* The totals of a session that is over, to those of the next one: not what is so now. */
void session_stats_add(struct session_stats *to, const struct session_stats *more);

#endif
