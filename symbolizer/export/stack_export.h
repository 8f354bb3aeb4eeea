/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stack_export: what a writer of stacks gets: a profile, and what is known of its recording. Each form
 * has a file of its own here.
 */
#ifndef SYMBOLIZER_EXPORT_STACK_EXPORT_H
#define SYMBOLIZER_EXPORT_STACK_EXPORT_H

#include <limits.h>
#include <stdio.h>

#include "format/block/gap.h"
#include "format/block/loss.h"
#include "format/block/recording_meta.h"
#include "format/bytes/buf.h"
#include "symbolizer/profile/profile.h"

struct sample_log;

#define STACK_EXPORT_EVERY INT_MIN /* event: all of them */

struct stack_export {
	const struct profile *profile;
	const struct profile_options *options; /* with which it was made */
	int event;		     /* stacks of this one only, where a form knows one event */
	bool by_period;		     /* weights are periods; else samples */
	bool waits_by_period;	     /* of waits they are, whatever by_period says */
	bool annotate_kernel;	     /* "_[k]" after kernel functions */
	const char *name;	     /* of what it was made of */
	uint64_t realtime_ns;	     /* of the first sample, since 1970; 0: not known */
	uint64_t duration_ns;	     /* to the last one */
	const char *const *comments; /* lines: of whom it is, and what is lost; NULL at the end */
	/* Stacks from this rank on are left out (--max-size), and so much weight with them; NULL: none. */
	const uint32_t *rank;
	size_t keep;
	uint64_t left_out;
	/* For forms of single samples that are not in one order: the first nr_logged of a log. */
	const struct sample_log *log;
	size_t nr_logged;
	const struct clock_triple *start;
	const char *hostname; /* NULL or "": not known */
	const struct gap_list *gaps;
	const struct loss *loss; /* NULL: nothing is known to be lost */
};
#define STACK_EXPORT_LEFT_OUT "[left out: --max-size]" /* a frame that stands for them */

/* 0, -FMT_E_NOMEM. Failed writes stay in ferror(out). */
typedef int stack_export_fn(const struct stack_export *x, FILE *out);

/* A stack of the profile; false: it is not exported. */
bool stack_export_stack(const struct stack_export *x, size_t i, struct profile_stack *ret);

typedef void stack_export_escape_fn(struct buf *out, const char *s);
/*
 * A frame's name, escaped, without a NUL: its symbol, or its object in brackets. With "_[k]" where
 * that is asked for.
 */
void stack_export_frame_name(const struct stack_export *x, const struct frame *f,
			     stack_export_escape_fn *escape, struct buf *out);

/* Is the event's period CPU time in ns? The clocks' is. */
bool stack_export_is_clock(const char *event);
/* Or the time that a thread waited? */
bool stack_export_is_wait(const char *event);
/* Is it either? */
bool stack_export_is_time(const char *event);

#endif
