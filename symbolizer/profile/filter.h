/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * filter: which samples a reading command looks at: by who ran, where, and when. One parser and
 * one meaning for all commands. Names are those of a list, or match a pattern of it (glob.h).
 */
#ifndef SYMBOLIZER_PROFILE_FILTER_H
#define SYMBOLIZER_PROFILE_FILTER_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>

#include "symbolizer/profile/cgroup_verdicts.h"
#include "symbolizer/profile/frame_filter.h"
#include "symbolizer/profile/time_choice.h"
#include "symbolizer/profile/trace_filter.h"

struct filter;

/* now_ns: since 1970, for times that are relative to it. NULL: out of memory. */
struct filter *filter_new(int64_t now_ns);
void filter_free(struct filter *f);

/*
 * name in code, letter (perf's; 0: none), long name, argument, help. First those by what a record
 * does not have, and so not for who reads records as they are (record_filter.h).
 */
#define FILTER_NAME_OPTIONS(X)                                                                     \
	X(dso, 'd', "dso", "NAMES", "only samples in these objects; * and ? match as in a shell")  \
	X(symbol, 'S', "symbol", "NAMES", "only samples in these symbols")                         \
	X(symbol_filter, 0, "symbol-filter", "TEXT", "only in symbols that have this in them")     \
	X(focus, 0, "focus", "REGEX", "only stacks with a function, file or object like this")     \
	X(ignore, 0, "ignore", "REGEX", "only stacks without any")                                 \
	X(hide, 0, "hide", "REGEX", "leave out such frames, and not what they called")             \
	X(show, 0, "show", "REGEX", "only such frames")                                            \
	X(show_from, 0, "show-from", "REGEX", "without the callers of the outermost such frame")   \
	X(max_stack, 0, "max-stack", "N", "without callers from the Nth frame on")
#define FILTER_TIME_OPTIONS(X)                                                                     \
	X(time, 0, "time", "A,B", "only from A to B: seconds as dump prints them, or 10%-20%")     \
	X(since, 0, "since", "TIME", "only from then on: 03:10, today, 10m...")                    \
	X(until, 0, "until", "TIME", "only before then")                                           \
	X(last, 0, "last", "SPAN", "only the last 10m, 1h30m...")
#define FILTER_RECORD_OPTIONS(X)                                                                   \
	X(comm, 'c', "comm", "NAMES", "only these command names; * and ? match as in a shell")     \
	X(pid, 0, "pid", "PIDS", "only these processes")                                           \
	X(tid, 0, "tid", "TIDS", "only these threads")                                             \
	X(cpu, 'C', "cpu", "CPUS", "only these CPUs, e.g. 0-3,7")                                  \
	X(unit, 0, "unit", "UNITS", "only in these units of systemd: nginx, user@1000, docker-*")  \
	X(slice, 0, "slice", "SLICES", "only in these slices of systemd and below: system, user")  \
	X(cgroup, 0, "cgroup", "GLOBS", "only in these control groups and below: system.slice")    \
	X(event, 0, "event", "NAMES", "only these events")                                         \
	X(trace, 0, "trace", "EVENT.FIELD=NAMES", "only tracepoints with that in a field")         \
	X(kernel, 0, "kernel", NULL, "only samples taken in the kernel")                           \
	X(user, 0, "user", NULL, "only samples taken in user space")                               \
	FILTER_TIME_OPTIONS(X)
#define FILTER_OPTIONS(X) FILTER_NAME_OPTIONS(X) FILTER_RECORD_OPTIONS(X)

enum filter_option {
	FILTER_OPTION_FIRST = 0x1000,
#define X(id, letter, name, arg, help) FILTER_OPTION_##id,
	FILTER_OPTIONS(X)
#undef X
		FILTER_OPTION_END
};

/*
 * Takes one option; given again it adds to the list. arg: NULL for one without. 0, or -1 with a
 * message in *reterr (static).
 */
int filter_set(struct filter *f, int option, const char *arg, const char **reterr);

/* Has it taken any option? Without one it leaves nothing out. */
bool filter_given(const struct filter *f);

/* The times of it (time_choice.h). */
struct time_choice *filter_times(struct filter *f);
const struct time_choice *filter_times_const(const struct filter *f);

/* One with the times of f alone, as far as they are known. NULL: out of memory. */
struct filter *filter_of_times(const struct filter *f);

/*
 * A value of an option that no sample met, by what it was compared with so far. *cursor begins
 * with 0; false: there are no more.
 */
struct filter_unmet {
	int option;	   /* enum filter_option */
	const char *value; /* until the next call */
};
bool filter_next_unmet(struct filter *f, size_t *cursor, struct filter_unmet *ret);
const char *filter_option_name(int option);

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
/* The other options: by all that is known before symbols are looked up. filter_scope() is not asked again. */
bool filter_sample(const struct filter *f, const struct filter_subject *s);
/* Does the path of the control group matter? */
bool filter_by_cgroup(const struct filter *f);
/* Does the CPU? */
bool filter_by_cpu(const struct filter *f);
/* Is it asked for? That there is such a CPU does not mean that a sample was met on it. */
bool filter_wants_cpu(const struct filter *f, uint32_t cpu);
/* Do the fields of tracepoints? */
bool filter_by_trace(const struct filter *f);
/* Then, after filter_sample(): t is what raw means, NULL: of no tracepoint, or not known. */
bool filter_trace(const struct filter *f, const struct tracepoint *t, struct span raw);
/* Does the command's name? */
bool filter_by_comm(const struct filter *f);
/* Is any of what follows asked anything? */
bool filter_by_leaf(const struct filter *f);
/*
 * After: of the leaf frame; symbol NULL for unknown, which "[unknown]" asks for. An asked-for
 * object with a '/' in it is compared with the path, any other with the short name.
 */
bool filter_leaf(const struct filter *f, const char *dso, const char *dso_path, const char *symbol);
/* Likewise of where the CPU was: in a kernel (of a guest, too), or not. */
bool filter_mode(const struct filter *f, bool kernel);
/* Of the stacks that are left: by their frames, which are left of them (frame_choice.h); NULL: all. */
const struct frame_filter *filter_frames(const struct filter *f);
/* Before that: so many places of a stack, from the leaf on; what is inlined at one is not counted. */
size_t filter_max_stack(const struct filter *f);

#endif
