/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * helper_objects: the worker that stores copies of mapped files beside the recording.
 *
 * The worker that finds files (helper_serve) has each open before its process is gone, and passes it on
 * by a socket between both. So nothing here finds files, nor waits for one to be opened. What it does
 * with a file it says to the recorder before it does it: whoever holds it up by that is known.
 */
#ifndef RECORDER_HELPER_HELPER_OBJECTS_H
#define RECORDER_HELPER_HELPER_OBJECTS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "format/unwind/unwind_ring.h"
#include "recorder/helper/helper_serve.h"

#define HELPER_TOUCH_MAX 4096

/* Also: HELPER_SHUN, as to others. What was passed on of those is not touched any more. */

/* To the worker, first of all, with its end of the socket to that which finds files. */
struct helper_store {
	uint32_t kind;
	uint64_t allowed_bytes; /* that it may have written since it began */
	uint64_t user_bytes; /* of which the files of a user other than root may take so many an hour */
	char dir[PATH_MAX]; /* a "spoor-objects", which is there */
};

/*
 * A new sum for allowed_bytes. It is no "so many more": copies that were stored before this arrives would not count.
 * FLUSH: stores what was passed on, and says so.
 */
struct helper_allow {
	uint32_t kind;
	uint64_t allowed_bytes;
};

/* Copies that are used: ids behind it. */
struct helper_touch {
	uint32_t kind;
	uint32_t nr;
};

/* From the worker that finds files: struct unwind_offer, with a descriptor. */

/* To the recorder. */
enum helper_object_step {
	OBJECT_READS, /* it touches what is that process's, from now on */
	OBJECT_WRITES,
	OBJECT_DONE,
	OBJECT_FLUSHED,
};

struct helper_object {
	uint32_t step;
	int32_t rc; /* DONE: 0, -EEXIST: it was there; -EDQUOT: that was not allowed; -errno */
	bool ours;  /* DONE: what rc says is about our directory, and not about that file */
	pid_t pid;
	uint32_t uid, maj, min;
	uint64_t bytes;	  /* DONE: that it takes on the disk */
	uint64_t took_ns; /* DONE: of reading, without what it waited for a CPU; 0: not known */
	struct buildid id;
};

/* Without any capability; root's needs one to search directories of others that lead to that of the copies. */
extern const struct helper_work helper_objects, helper_objects_of_root;

#endif
