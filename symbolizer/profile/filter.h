/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * filter: which samples a reading command looks at: --comm --pid --tid --cpu --dso
 * --symbol --cgroup --event --time --since --until. One parser and one meaning for all commands.
 * Names are those of a list, or match a pattern of it (glob.h).
 */
#ifndef SYMBOLIZER_PROFILE_FILTER_H
#define SYMBOLIZER_PROFILE_FILTER_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>

#include "format/block/recording_meta.h"
#include "symbolizer/profile/cgroup_verdicts.h"

struct filter;

/* now_ns: since 1970, for times that are relative to it. NULL: out of memory. */
struct filter *filter_new(int64_t now_ns);
void filter_free(struct filter *f);

/*
 * name in code, letter (perf's; 0: none), long name, argument, help. First those by names that a
 * record does not have, and so not for who reads records as they are (record_filter.h).
 */
#define FILTER_NAME_OPTIONS(X)                                                                     \
	X(comm, 'c', "comm", "NAMES", "only these command names; * and ? match as in a shell")     \
	X(dso, 'd', "dso", "NAMES", "only samples in these objects")                               \
	X(symbol, 'S', "symbol", "NAMES", "only samples in these symbols")                         \
	X(symbol_filter, 0, "symbol-filter", "TEXT", "only in symbols that have this in them")
#define FILTER_RECORD_OPTIONS(X)                                                                   \
	X(pid, 0, "pid", "PIDS", "only these processes")                                           \
	X(tid, 0, "tid", "TIDS", "only these threads")                                             \
	X(cpu, 'C', "cpu", "CPUS", "only these CPUs, e.g. 0-3,7")                                  \
	X(cgroup, 0, "cgroup", "GLOBS", "only in these control groups and below: nginx.service")   \
	X(event, 0, "event", "NAMES", "only these events")                                         \
	X(time, 0, "time", "A,B", "only between A and B: seconds as dump prints them, or 10%-20%") \
	X(since, 0, "since", "TIME", "only from then on: 03:10, today, 10m...")                    \
	X(until, 0, "until", "TIME", "only before then")
#define FILTER_OPTIONS(X) FILTER_NAME_OPTIONS(X) FILTER_RECORD_OPTIONS(X)

enum filter_option {
	FILTER_OPTION_FIRST = 0x1000,
#define X(id, letter, name, arg, help) FILTER_OPTION_##id,
	FILTER_OPTIONS(X)
#undef X
		FILTER_OPTION_END
};

/*
 * Takes one option; given again it adds to the list. 0, or -1 with a message in *reterr
 * (static).
 */
int filter_set(struct filter *f, int option, const char *arg, const char **reterr);

/* Has it taken any option? Without one it leaves nothing out. */
bool filter_given(const struct filter *f);
/* Do --since and --until leave anything? */
bool filter_possible(const struct filter *f);

/*
 * Resolves percent times against the first and the last sample: of one recording by its own
 * clock, of an archive by the time since 1970 (wall).
 */
void filter_range(struct filter *f, bool wall, uint64_t first_ns, uint64_t last_ns);
bool filter_needs_range(const struct filter *f);
/* The window in ns since 1970, as far as it is said in that: 0 and UINT64_MAX when it is not. */
void filter_wall(const struct filter *f, uint64_t *ret_from, uint64_t *ret_until);
/*
 * The window [from, until) in a recording's time, which began at start; 0 and UINT64_MAX when
 * there is none. -1: it is said in wall clock time, and this recording does not know it.
 */
int filter_window(const struct filter *f, const struct clock_triple *start, uint64_t *ret_from,
		  uint64_t *ret_until);

/* Who was sampled, and by what. */
struct filter_subject {
	const char *comm;   /* may be NULL where no option asks for it */
	const char *cgroup; /* its path, when filter_by_cgroup() says so; NULL: unknown */
	const char *event;
	uint32_t pid, tid, cpu;
	struct cgroup_verdicts *verdicts; /* of who asks; NULL: nothing is remembered */
};

/*
 * Is it of what is looked at: its CPU, its event? The other options choose from that: as in
 * perf report, it is the whole that shares are of.
 */
bool filter_scope(const struct filter *f, const struct filter_subject *s);
/* Of that, by all that is known before symbols are looked up. */
bool filter_sample(const struct filter *f, const struct filter_subject *s);
/* Does the path of the control group matter? */
bool filter_by_cgroup(const struct filter *f);
/* Does the CPU? */
bool filter_by_cpu(const struct filter *f);
/* Is filter_leaf() asked anything? */
bool filter_by_leaf(const struct filter *f);
/*
 * After: of the leaf frame; symbol NULL for unknown, which "[unknown]" asks for. An asked-for
 * object with a '/' in it is compared with the path, any other with the short name.
 */
bool filter_leaf(const struct filter *f, const char *dso, const char *dso_path, const char *symbol);

#endif
