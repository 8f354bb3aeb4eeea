/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * peek: functions that a regular expression finds, each with those that called it and those that it
 * called.
 *
 * As pprof has it: in a stack a function counts once, and so does a call from one to another, however often
 * they recur; a call of itself is none.
 */
#ifndef SYMBOLIZER_PROFILE_PEEK_H
#define SYMBOLIZER_PROFILE_PEEK_H

#include "symbolizer/profile/frame_regex.h"

struct peek_function {
	uint32_t frame; /* of the profile; of several that are one function any */
	struct profile_weight self, total;
	size_t first_caller, nr_callers, first_callee, nr_callees; /* for peek_call() */
};

struct peek_call {
	uint32_t frame; /* the other one */
	struct profile_weight weight;
};

struct peek;

/*
 * Of one event. The profile is borrowed for its life, whose frames are told apart by nothing but their
 * function; re remembers what it was asked. 0, -FMT_E_NOMEM.
 */
int peek_new(const struct profile *p, int event, struct frame_regex *re, struct peek **ret);
void peek_free(struct peek *k);

/* All of the event's samples that passed the filters. */
struct profile_weight peek_whole(const struct peek *k);

/* Functions by total, then by self; calls by weight; then by name: the order is always the same. */
size_t peek_functions(const struct peek *k);
const struct peek_function *peek_function(const struct peek *k, size_t i);
const struct peek_call *peek_call(const struct peek *k, size_t i);

#endif
