/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sides: the two inputs of a comparison: two recordings, or two times of one; each loaded with the
 * options of every report, and what its weights are to be divided by.
 */
#ifndef SYMBOLIZER_VIEW_SIDES_H
#define SYMBOLIZER_VIEW_SIDES_H

#include "symbolizer/compare/comparison.h"
#include "symbolizer/load/load.h"

/* The same for the baseline alone, which then has not those of the other side. */
#define SIDES_TIMES(X)                                                                             \
	X(time, "baseline-time", "A,B", "as --time, of the baseline alone")                        \
	X(since, "baseline-since", "TIME", "as --since, of the baseline alone")                    \
	X(until, "baseline-until", "TIME", "as --until, of the baseline alone")                    \
	X(last, "baseline-last", "SPAN", "as --last, of the baseline alone")

enum sides_option {
	SIDES_OPTION_FIRST = 0x2000,
#define X(id, name, arg, help) SIDES_OPTION_##id,
	SIDES_TIMES(X)
#undef X
		SIDES_OPTION_normalize,
	SIDES_OPTION_work,
	SIDES_OPTION_END
};

/* Rows for a command's table of struct cli_option, before LOAD_OPTIONS. */
#define SIDES_ROW(id, name, arg, help) { SIDES_OPTION_##id, 0, name, arg, help },
#define SIDES_OPTIONS                                                                              \
	SIDES_TIMES(SIDES_ROW){                                                                    \
		SIDES_OPTION_normalize, 'n', "normalize", "PER",                                   \
		"weights are per cpu (the CPU time that was covered, default), per total (of all " \
		"samples), or none (sums)"                                                         \
	},                                                                                         \
		{ SIDES_OPTION_work, 0, "work", "A,B",                                             \
		  "weights are per unit of work: how many the baseline and the new side did" },

#define SIDES_KEPT_MAX 16

struct sides_options {
	struct load_options load[COMPARISON_SIDES];
	enum comparison_per per;
	bool per_given;
	double work[COMPARISON_SIDES]; /* units of it, for COMPARISON_PER_WORK */
	bool own_times;		       /* the baseline has times of its own */
	/* Times of both sides, for a baseline without its own. */
	struct {
		int option;
		const char *text;
	} times[SIDES_KEPT_MAX];
	size_t nr_times;
};

int sides_init(struct sides_options *o, const char *command); /* as load_init() */
void sides_done(struct sides_options *o);
/* Takes an option of SIDES_OPTIONS or LOAD_OPTIONS: CLI_GO_ON, or an exit status, said. */
int sides_set(struct sides_options *o, int value, const char *text);
/*
 * After all options: the free arguments, BASELINE NEW, or one recording whose times differ. CLI_GO_ON, or an
 * exit status, said.
 */
int sides_files(struct sides_options *o, int n, char **files);

struct sides {
	struct load load[COMPARISON_SIDES];
	/* Of the options' time: see comparison_input. Not of a side that was not opened by windows. */
	uint64_t ends[COMPARISON_SIDES][RATE_WINDOWS];
	double covered[COMPARISON_SIDES][RATE_WINDOWS]; /* ns of CPUs; lost samples count as gaps */
	double covered_ns[COMPARISON_SIDES];		/* their sum */
	bool tasks[COMPARISON_SIDES]; /* it is of tasks: ns, of however many CPUs */
};

/*
 * Loads both. po tells what to keep apart; with by_time, samples by windows of each side's time. 0, or an
 * exit status after a message; sides_close() in any case.
 */
int sides_open(struct sides *s, const struct sides_options *o, const struct profile_options *po);
void sides_close(struct sides *s);
/* What to end with: errors half-way were said. */
int sides_status(const struct sides *s);

/*
 * By what an event's weights of a side (periods, or samples of one that has none) are multiplied, so that those
 * of both sides may be compared: as numbers of samples of the new side. event: of the side's profile.
 */
double sides_scale(const struct sides *s, const struct sides_options *o, enum comparison_side side,
		   const int events[COMPARISON_SIDES]);

#endif
