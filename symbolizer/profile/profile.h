/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profile: the samples of a recording as distinct stacks of named frames, with weights.
 *
 * What every report and export starts from. Frames and comms are small integers; strings
 * are touched only by who prints.
 */
#ifndef SYMBOLIZER_PROFILE_PROFILE_H
#define SYMBOLIZER_PROFILE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/model/task_model.h"
#include "format/recording/record_stream.h"
#include "symbolizer/profile/filter.h"
#include "symbolizer/profile/gather.h"
#include "symbolizer/resolve/resolve.h"

struct inlines;
struct profile;

struct profile_stack {
	const char *comm;	    /* interned */
	PROFILE_KEYS(PROFILE_FIELD) /* 0 and NULL unless the profile keys by them */
	int event;		    /* for profile_event_name(); -1: none */
	const uint32_t *frames;	    /* frame ids, leaf first; frames[0] is the sampled ip */
	uint32_t nr_frames;	    /* at least 1 */
	struct profile_weight weight;
};

/*
 * Of one recording or several. All are borrowed for the profile's life; its strings are the
 * resolver's. inlines: NULL where no line and no inlined call is asked for. NULL: out of memory.
 */
struct profile *profile_new(struct resolver *resolver, struct inlines *inlines,
			    const struct profile_options *options);
/*
 * A recording, before which resolver_begin() is called: from begin to end profile_take() is what its
 * gather gives the raw profiles to. shift_ns is added to its times, for the totals. What was taken
 * stays when reading fails half-way; after -FMT_E_NOMEM the profile is good for nothing but
 * profile_free(). One recording at a time. end: g may be NULL.
 */
void profile_begin(struct profile *p, uint64_t shift_ns);
gather_take_fn profile_take; /* arg: the profile */
void profile_end(struct profile *p, const struct gather *g);
void profile_free(struct profile *p);

/* Events are numbered from 0; those of recordings that have equal names are one. */
int profile_events(const struct profile *p);
const char *profile_event_name(const struct profile *p, int event);
/* All of its samples that the filter looked at (filter_scope()), chosen or not. */
struct profile_weight profile_event_whole(const struct profile *p, int event);

size_t profile_stacks(const struct profile *p);
void profile_stack_at(const struct profile *p, size_t i, struct profile_stack *ret);
/*
 * The frame of an id: symbol, dso, and an address that it may have. Frames of equal object, symbol
 * and miss have one id, unless by_address; so all that is unknown in one object is one frame.
 */
const struct frame *profile_frame(const struct profile *p, uint32_t id);
size_t profile_frames(const struct profile *p);

struct profile_totals {
	uint64_t samples, period;	     /* after the filter */
	uint64_t filtered;		     /* samples left out by it */
	uint64_t start_ns, end_ns;	     /* first and last sample */
	uint64_t unresolved[RESOLVE_MISSES]; /* leaf frames by reason */
	struct task_model_left_out left_out; /* for want of room, the resolver's names among them */
	struct user_stack_counts unwound;
	uint64_t bad_blocks; /* of kernel symbols and build-ids: not read to their ends */
};
const struct profile_totals *profile_totals(const struct profile *p);

#endif
