/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * governor: how much slower than configured to sample, or how much less side-band to keep, so that
 * budgets hold. A pure decision.
 *
 * Fed with what the process used so far, it looks at windows of a few seconds. Two windows in
 * a row over a budget halve the frequency (as often as the excess asks for); a minute of calm,
 * in which the doubled cost would fit, doubles it again. A raise that had to be taken back
 * makes it wait twice as long for the next, so that it cannot swing.
 *
 * Where more than half of what is over comes of side-band, which no frequency changes, the samples
 * answer for their own part only, and the budget of side-band is halved, thrice at most: an eighth
 * of the default is what hundreds of short processes a second write. Where side-band has no budget
 * the samples answer for all.
 *
 * What sampling costs inside the kernel's interrupt is in nobody's account: the kernel has
 * its own limit for it (perf_cpu_time_max_percent).
 */
#ifndef DAEMON_STREAM_GOVERNOR_H
#define DAEMON_STREAM_GOVERNOR_H

#include <stdbool.h>
#include <stdint.h>

#define GOVERNOR_FLOOR_HZ 1
#define GOVERNOR_WINDOW_NS (5 * UINT64_C(1000000000))
#define GOVERNOR_CALM_WINDOWS 12
#define GOVERNOR_SIDEBAND_MAX 3

enum governor_cause { GOVERNOR_NONE, GOVERNOR_CPU, GOVERNOR_MEMORY, GOVERNOR_DISK };

struct governor_budget {	    /* 0: no limit */
	uint64_t cpu_milli_percent; /* 1000: 1 % of one CPU */
	uint64_t memory_bytes;
	uint64_t disk_bytes_per_s;
	bool sideband; /* it has a budget that can be halved */
};

/* Counters since the start of the process. */
struct governor_reading {
	uint64_t now_ns, cpu_ns, rss_bytes, written_bytes;
	uint64_t sideband_cpu_ns, sideband_bytes; /* the part of side-band in them */
	uint64_t fixed_cpu_ns; /* besides cpu_ns: the budget's, and nothing lowers it */
	bool hold;	       /* something else uses the process now: judge nothing */
};

enum governor_step {
	GOVERNOR_STAY,
	GOVERNOR_TRIM, /* give freed memory back */
	GOVERNOR_LOWER,
	GOVERNOR_RAISE,
};

struct governor {
	unsigned int level;	      /* frequency is halved so often */
	enum governor_cause cause;    /* of the last lowering; NONE at level 0 */
	struct governor_reading at;   /* where the window began */
	bool begun, settled;	      /* the first window has the cost of the start in it */
	unsigned int over, calm;      /* windows in a row */
	double least_over;	      /* smallest load of those over */
	double calm_now, calm_before; /* largest load of those calm: this minute, the last */
	unsigned int since_change;    /* windows */
	unsigned int patience;	      /* times the calm that a raise needs */
	bool raised, trimmed;	      /* was the last change a raise? */
	unsigned int sideband;	      /* its budget is halved so often; for who asks, too */
	unsigned int sideband_over, sideband_calm; /* windows in a row */
	enum governor_cause sideband_cause;	   /* of the last lowering */
	/* Windows in a row: over a budget with nothing lowered; over none. */
	unsigned int unheld_over, unheld_calm;
	enum governor_cause unheld; /* the budget that is not kept to */
	double unheld_times;	    /* of it were used in the last window over it */
};

void governor_init(struct governor *g);
/* Call it about once a second. configured_hz bounds how low it makes sense to go. */
enum governor_step governor_decide(struct governor *g, const struct governor_budget *b,
				   const struct governor_reading *now, uint64_t configured_hz);
/* Budgets or the configured frequency are others now: what was seen says nothing about them. */
void governor_forget(struct governor *g);
uint64_t governor_frequency(const struct governor *g, uint64_t configured_hz);
/* For which budget: as governor_reason(). */
const char *governor_sideband_reason(const struct governor *g);
/*
 * Which budget was not kept to for half a minute in which nothing was left to be lowered, and how many times it is
 * used: "cpu_budget" or "disk_budget", until it was kept to for a minute. "": none.
 */
const char *governor_unheld(const struct governor *g, double *ret_times);
/* "" or "cpu_budget", "memory_budget", "disk_budget". */
const char *governor_reason(const struct governor *g);

#endif
