/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * helper_serve: what workers do for the recorder, and the messages by which they are asked.
 *
 * Three kinds of workers: one that says which builds mapped files are, one that scans /proc, and one
 * that reads what processes tell of the code that they make, so that none waits for another. A
 * message is one of these structs with bytes behind it; both sides are one program. What the worker
 * says is checked all the same: it reads files of others.
 */
#ifndef RECORDER_HELPER_HELPER_SERVE_H
#define RECORDER_HELPER_HELPER_SERVE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "format/bytes/siphash.h"
#include "format/record/event_attr.h"
#include "recorder/helper/helper.h"
#include "recorder/host/buildid_cache.h"
#include "recorder/host/shunned.h"
#include "recorder/host/state.h"

#define HELPER_PEERS_MAX 9
#define HELPER_PIDS_MAX 16384

#define HELPER_JIT_PROCESSES 256
#define HELPER_JIT_ADDRESSES 8192

/* The last ones are helper_objects'. */
enum helper_kind {
	HELPER_SHUN,
	HELPER_FIND,
	HELPER_SCAN,
	HELPER_JIT,
	HELPER_OFFER,
	HELPER_STORE,
	HELPER_ALLOW,
	HELPER_TOUCH,
	HELPER_FLUSH
};

/* To a worker: whom not to touch, from now on. Comes before what it is asked. */
struct helper_shun {
	uint32_t kind;
	struct shunned shunned;
};

/* To helper_files: which build is this? Answered in order. Behind it: the path, NUL. */
struct helper_find {
	uint32_t kind;
	uint64_t serial;	/* not 0: what is passed on for it has that, each time */
	struct buildid_map map; /* its path is not valid */
	uint32_t uid;		/* whose process it is; TASK_USER_UNKNOWN */
	uint32_t nr_peers;	/* if any, the file was not in reach of its process */
	pid_t peers[HELPER_PEERS_MAX];
};

/*
 * To helper_files, with its end of a socket to helper_objects or spoor-unwind: passes on what it finds from now on.
 * Each build once, but for questions that have a serial; it comes again where each is to be passed on again.
 */
struct helper_offers {
	uint32_t kind;
	uint32_t all; /* 0: only what is ephemeral, as of buildid_cache_open() */
};

enum helper_offered {
	OFFER_NONE,    /* it was not to be, or was before */
	OFFER_PASSED,  /* helper_objects has it */
	OFFER_REFUSED, /* that had no room for it now, or is gone */
};

struct helper_found {
	int32_t rc;	  /* as of buildid_cache_get() */
	uint64_t took_ns; /* of that, without what it waited for a CPU; 0: not known */
	uint32_t offered; /* enum helper_offered, of the build id, or else of the one that was known */
	struct buildid id;
	struct buildid_fact fact;
};

/* To helper_state: tell of these processes. Behind it: nr_pids pids, none: all of them. */
struct helper_scan {
	uint32_t kind;
	struct event_attr attr;
	uint64_t id;
	uint64_t time_ns; /* of the records */
	uint32_t nr_pids;
	pid_t after; /* only processes above it: the scan goes on */
	bool data_maps, no_maps, build_ids;
};

/* What comes of a scan: the records found so far are behind it. */
struct helper_part {
	pid_t pid;    /* that is looked at next; 0: there are no more, or cgroups are */
	uint32_t uid; /* its user; TASK_USER_UNKNOWN */
	bool last;
	uint64_t took_ns;	  /* as above, of the process before that */
	struct state_stats stats; /* so far */
};

enum helper_jit_op {
	HELPER_JIT_HOLD, /* begin: open what its files are found by, and keep it */
	HELPER_JIT_DUMP, /* likewise; it mapped the inode ino under the path behind the message, NUL */
	HELPER_JIT_READ, /* tell of these addresses: nr of them behind it */
	HELPER_JIT_END,	 /* likewise, and close */
};

/* To helper_jit, of one process. Answered in order, by helper_jit_parts. */
struct helper_jit {
	uint32_t kind;
	uint32_t op;
	uint32_t slot; /* below HELPER_JIT_PROCESSES: one that had it before is gone */
	uint32_t file; /* number of the recording's file: what was told is told again in another */
	uint64_t serial; /* of the process */
	pid_t pid;
	uint32_t uid; /* TASK_USER_UNKNOWN */
	uint64_t ino;
	uint64_t complete_ns; /* samples until then have been asked for */
	uint64_t alive_ns;    /* a time at which it lived */
	uint64_t ended_ns;    /* 0: it has not, as far as is known */
	uint32_t nr;
};

/* Behind it, the payload of a JIT block; its pids and beginnings are not set. */
struct helper_jit_part {
	bool last;
	bool gone;	  /* there is no such process */
	uint64_t took_ns; /* of all, without what it computed or waited for a CPU; 0: not known */
	uint64_t cpu_ns;
};

/*
 * By what files with one build-id are told apart: the path, and the user whose process has it mapped. Anybody may give his
 * program the id of another one.
 */
static inline uint64_t
helper_whose(const struct siphash_key *key, const char *path, uint32_t uid)
{
	return siphash(key, path, strlen(path)) ^ siphash(key, &uid, sizeof(uid));
}

extern const struct helper_work helper_files, helper_state, helper_jit;

#endif
