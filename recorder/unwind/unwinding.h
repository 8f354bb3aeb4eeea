/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwinding: samples on their way to the file: of those with a copy of the user's stack, its call chain takes the copy's
 * place.
 *
 * A sample waits until the live model has come to its time, its process's maps and files are known to the process
 * that unwinds (spoor-unwind), and that has answered. What has no answer in time keeps the kernel's call chain, and
 * is counted as busy. Samples leave in the order in which they came, and so do the ends of passes. Neither registers nor
 * stacks leave this room but to that process. It belongs to the writer thread, and only unwinding_drain() waits.
 */
#ifndef RECORDER_UNWIND_UNWINDING_H
#define RECORDER_UNWIND_UNWINDING_H

#include <stdbool.h>
#include <stdint.h>

#include "format/bytes/buf.h"
#include "format/record/event_set.h"
#include "format/block/unwind_stops.h"
#include "recorder/live/live.h"
#include "recorder/unwind/stack_size.h"

struct unwinding;

struct unwinding_options {
	struct live *live;		/* borrowed */
	const struct event_set *events; /* as they are recorded; borrowed */
	/* As they are opened, by the same indexes: those that copy stacks to be unwound; copied. */
	const struct event_attr *opened;
	uint64_t stacks_bytes;	 /* memory for stacks that wait */
	struct stack_size *size; /* what walks need is counted here; borrowed, or NULL */
};

/* 0, -ENOMEM. */
int unwinding_new(const struct unwinding_options *options, struct unwinding **ret);
void unwinding_free(struct unwinding *u);
/* The events are now these: the same ones, with other ids. Borrowed as the first were. */
void unwinding_events(struct unwinding *u, const struct event_set *events);

/*
 * Samples as they were drained, whole records. *ret_left_out is added those that do not parse: where their stack is
 * cannot be told, and no stack may reach a file. 0, -ENOMEM: this and what follows is not taken; *records has it.
 */
int unwinding_put(struct unwinding *u, struct span *records, uint64_t *ret_left_out);

/*
 * Ends a pass: all records older than complete_ns have been put, and the model follows up to there between these two
 * calls. unwinding_reach(): the model is about to apply a record of that time.
 */
void unwinding_begin_pass(struct unwinding *u, uint64_t complete_ns);
void unwinding_reach(struct unwinding *u, uint64_t time_ns);
void unwinding_end_pass(struct unwinding *u, uint64_t model_ns, uint64_t now_ns);
/* Do samples wait for the model? */
bool unwinding_behind(const struct unwinding *u);

/* Takes what has come of files; to be called when unwinding_fd() is readable. */
void unwinding_step(struct unwinding *u, uint64_t now_ns);
/* Polls readable when a file was found that stacks wait for; -1: none waits. */
int unwinding_fd(const struct unwinding *u);

/*
 * Appends samples that are done to out, whole records, up to the end of a pass, which is then in *ret_complete_ns (else 0).
 * False: there is nothing now. -ENOMEM shows as a failed buf.
 */
bool unwinding_next(struct unwinding *u, uint64_t now_ns, struct buf *out,
		    uint64_t *ret_complete_ns);

/*
 * Waits until all have an answer, but not beyond until_ns (CLOCK_MONOTONIC), nor when enough() says so; what has no answer
 * then is busy.
 */
void unwinding_drain(struct unwinding *u, uint64_t until_ns, bool (*enough)(void *arg), void *arg);

/* What became of the stacks since the beginning; cut_bytes: since unwinding_told(). */
const struct unwind_stops *unwinding_stops(const struct unwinding *u);
void unwinding_told(struct unwinding *u);

/* CPU time of the process that unwinds, in ns. */
uint64_t unwinding_used_ns(const struct unwinding *u);

/* For people; false: nothing. */
bool unwinding_news(struct unwinding *u, struct news_line *ret);

#endif
