/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dwarf_worker: debug information is read by processes of its own, a file each, several at a time.
 *
 * libdw believes much of what a file says. A worker that crashes, loops, or eats memory costs its file
 * the lines and the inlined frames, and nothing else.
 */
#ifndef SYMBOLIZER_DWARF_DWARF_WORKER_H
#define SYMBOLIZER_DWARF_DWARF_WORKER_H

#include <stddef.h>
#include <stdint.h>

#include "symbolizer/dwarf/dwarf_budget.h"
#include "symbolizer/dwarf/dwarf_file.h"

/* That it may take in all, with 1 more for each DWARF_WORKER_ADDRESSES; for files of others: dwarf_budget. */
#define DWARF_WORKER_S 60
#define DWARF_WORKER_ADDRESSES 10000

enum dwarf_outcome {
	DWARF_DONE,
	DWARF_NONE,    /* the file has no debug information */
	DWARF_DAMAGED, /* nor can it be read */
	DWARF_CRASHED, /* the worker ended by a signal */
	DWARF_LATE,    /* it was killed: too much time */
	DWARF_FAILED,  /* no process could be made, or memory is short */
	/* No fault of the file: */
	DWARF_UNREAD,  /* a file of others, and they have had their time */
	DWARF_REFUSED, /* its worker could not be sandboxed, as none can be here */
};
/* "the worker that read it crashed" */
const char *dwarf_outcome_text(enum dwarf_outcome outcome);

/* What is asked of a file. */
struct dwarf_job {
	int fd;	    /* borrowed */
	int alt_fd; /* likewise, of the file that dwz(1) moved a part of it to; -1: none */
	dwarf_split_fn *
		split; /* opens files with its split units, in this process; NULL: there are none */
	void *split_arg;
	bool others; /* the file is neither root's nor ours: it has a part of the budget */
	const uint64_t *addresses;
	size_t n;
	unsigned int seconds; /* that it may take; 0: DWARF_WORKER_S and what n is worth */
	void (*before)(void); /* what its worker does first, in its sandbox; NULL: nothing */
	/* Set at the end. */
	enum dwarf_outcome outcome;
	uint32_t lacking; /* of how many units the file with the functions is not here */
};

/*
 * Address i of a job, as dwarf_found_fn; strings are valid until it returns. Anything but 0 ends all,
 * and is returned.
 */
typedef int dwarf_job_fn(void *arg, size_t job, size_t i, const struct dwarf_frame *frames,
			 size_t nr, bool partial);

/*
 * Runs the jobs, at_once at a time, those of files of others last, and calls back for each address that
 * something is known of: only when its job has ended well, jobs in any order. All that run share the memory of the
 * budget; one whose share was too small runs again, alone, with all of it. 0, -FMT_E_NOMEM, or what found returned.
 */
int dwarf_workers_run(struct dwarf_job *jobs, size_t nr, size_t at_once,
		      struct dwarf_budget *budget, dwarf_job_fn *found, void *arg);

#endif
