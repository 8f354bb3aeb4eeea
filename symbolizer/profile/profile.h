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
	const uint32_t *details;    /* for profile_detail() */
	int event;		    /* for profile_event_name(); -1: none */
	const uint32_t *frames;	    /* frame ids, leaf first; frames[0] is the sampled ip */
	uint32_t nr_frames;	    /* at least 1 */
	uint32_t list;		    /* number of these frames: equal ones have one */
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

/* A sample by itself, of those that have passed all filters. */
struct profile_sample {
	uint32_t stack; /* for profile_stack_at(): whose it is, too, as far as the profile keys by that */
	uint64_t time_ns; /* on the clock of the first recording */
	uint64_t period;
	/* With fields: what the bytes of a tracepoint mean; NULL: it is none. For this call. */
	const struct tracepoint *tracepoint;
	const struct perf_sample *values; /* likewise they (raw), and kept_values; NULL: none */
};
/*
 * With each_sample: who gets them, from profile_take(), in the order of their times. What it returns
 * other than 0 ends the run. With forget, stacks are those of the samples that are given right now,
 * and ids of frames mean the same as long as profile_epoch() does: memory is bounded, however many
 * samples there are.
 */
typedef int profile_sample_fn(void *arg, const struct profile *p, const struct profile_sample *s);
void profile_on_sample(struct profile *p, profile_sample_fn *take, void *arg);
uint64_t profile_epoch(const struct profile *p);

void profile_free(struct profile *p);

/* Events are numbered from 0; those of recordings that have equal names are one. */
int profile_events(const struct profile *p);
const char *profile_event_name(const struct profile *p, int event);
/* Has no other one its name? One recording can have several of a name. */
bool profile_event_is_only(const struct profile *p, int event);
/* All of its samples that the filter looked at (filter_scope()), chosen or not. */
struct profile_weight profile_event_whole(const struct profile *p, int event);
/* What its READ records tell that it counted; of a window whose end they are not in: unknown. */
struct read_total profile_event_counted(const struct profile *p, int event);
/*
 * The first from event on of which there are any, -1 for samples without one; profile_events() where there is
 * none. A recording of one sample can have 100,000 events.
 */
int profile_event_from(const struct profile *p, int event);

size_t profile_stacks(const struct profile *p);
size_t profile_lists(const struct profile *p); /* numbers of lists are below it */
/*
 * Of an event (-1: none) alone, in the order of their numbers: the first one, and the one after stack i;
 * PROFILE_NO_STACK after the last. Who goes through all events so looks at each stack once.
 */
#define PROFILE_NO_STACK UINT32_MAX
uint32_t profile_first_stack(const struct profile *p, int event);
uint32_t profile_next_stack(const struct profile *p, uint32_t i);
void profile_stack_at(const struct profile *p, size_t i, struct profile_stack *ret);
/*
 * A detail of a stack's samples: a number, or of an address its frame; 0 and NULL where it is not asked
 * for. details is good until more is taken.
 */
uint64_t profile_detail(const struct profile *p, const struct profile_stack *s,
			enum sample_detail detail);
const struct frame *profile_detail_frame(const struct profile *p, const struct profile_stack *s,
					 enum sample_detail detail);
/* The first and the last bucket of its stacks; false: it has none. With by_time. */
bool profile_buckets(const struct profile *p, uint64_t *ret_first, uint64_t *ret_last);
/*
 * For who has taken all, and makes something as large of it: first what finds equal stacks goes, and then the
 * stacks from the nr-th on. Nothing is taken any more, and stacks are found by number alone. Events, frames,
 * totals and buckets stay.
 */
void profile_settle(struct profile *p);
void profile_cut_stacks(struct profile *p, size_t nr);
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
	struct unwind_stops unwound;
	struct waits_counts waits; /* that are not among the samples */
	uint64_t jit_doubtful;	   /* processes whose JIT names may be another boot's */
	uint64_t bad_blocks;	   /* of kernel symbols and build-ids: not read to their ends */
};
const struct profile_totals *profile_totals(const struct profile *p);
/* Where options say processes: those that have samples, and how many of these have no name. */
const struct process_table *profile_processes(const struct profile *p);

#endif
