/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sideband_budget: how much of the side-band is written, and of whose. A pure decision: no clock
 * but the records' own, no /proc, no file.
 *
 * A token bucket in all, in bytes as they will be in the file, and one for each user, which is half
 * as large and fills half as fast. While the bucket in all is more than half full nobody is asked
 * whose a record is. Below that each user has to have something left, and the lower it falls, the more:
 * who was quiet is served to the end. Root counts in all only, but for its tasks,
 * which nobody else's records take the room of: in a container root is anybody.
 *
 * Never left out are the COMM of an exec and all that begins or ends a task of which something was
 * written: without them what follows would be somebody else's. The FORK of another task may be, and
 * then its EXIT: the samples of a thread name its process, and those of a process have no name until
 * it executes or a scan finds it. The two come out of two CPUs' rings, in any order. So that both are
 * written or none is, a user of whom one was left out gets none for ten seconds.
 */
#ifndef RECORDER_WRITER_SIDEBAND_BUDGET_H
#define RECORDER_WRITER_SIDEBAND_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "format/bytes/siphash.h"
#include "format/record/perf_record.h"

#define SIDEBAND_BURST_S 300 /* what the full bucket holds: so many seconds of the rate */
#define SIDEBAND_USERS 64
#define SIDEBAND_SEEN 4096	 /* paths that the open block has; a power of two */
#define SIDEBAND_TIDS (1u << 22) /* the kernel's PID_MAX_LIMIT */

struct sideband_user {
	uint32_t uid;
	bool used;
	double level;	  /* bytes */
	uint64_t at_ns;	  /* when it was so */
	uint64_t shut_ns; /* until then its tasks are left out */
};

struct sideband_budget {
	uint64_t rate; /* bytes a second; 0: no limit */
	double level;  /* bytes */
	uint64_t at_ns;
	bool asking;
	struct sideband_user users[SIDEBAND_USERS];
	struct siphash_key key;	      /* nobody can make two paths that pass for one */
	uint64_t seen[SIDEBAND_SEEN]; /* hashes; 0: none */
	/* A bit for each tid: was something written of it since its last EXIT? NULL: no memory. */
	uint8_t *told;
};

enum sideband_kind {
	SIDEBAND_OTHER,
	SIDEBAND_THREAD,     /* its FORK */
	SIDEBAND_PROCESS,    /* its FORK */
	SIDEBAND_NAMESPACES, /* of a task that was not told of: the kernel tells them with each FORK */
	SIDEBAND_END,	     /* EXIT */
};

/* About what a record takes in the file. */
struct sideband_cost {
	uint32_t bytes; /* 0: it is not side-band */
	uint64_t hash;	/* of its path or name; 0: it has none */
	uint32_t tid;	/* of whom it tells; 0: of no thread */
	enum sideband_kind kind;
	bool must; /* it is never left out */
};

/* What was init has to be done. */
void sideband_budget_done(struct sideband_budget *b);
void sideband_budget_init(struct sideband_budget *b, uint64_t bytes_per_s);
/* Another rate; the buckets stay as full as they are, by share. */
void sideband_budget_rate(struct sideband_budget *b, uint64_t bytes_per_s);
/* Another block begins, which has no path yet. */
void sideband_budget_block(struct sideband_budget *b);

struct sideband_cost sideband_budget_cost(const struct sideband_budget *b,
					  const struct perf_record *r);
/* A scan told of this task, or that it is gone. */
void sideband_budget_told(struct sideband_budget *b, uint32_t tid, bool told);
/* Does it matter now whose a record is? time_ns: of the record. */
bool sideband_budget_asks(struct sideband_budget *b, uint64_t time_ns);
/* Is it written? Then it is paid for. uid only matters when it was asked for. */
bool sideband_budget_take(struct sideband_budget *b, const struct sideband_cost *cost,
			  uint32_t uid);

#endif
