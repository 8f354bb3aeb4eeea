/* SPDX-License-Identifier: GPL-2.0-or-later */
/* profile_internal: the tables of a profile, for who fills them (profile_take.c). */
#ifndef SYMBOLIZER_PROFILE_PROFILE_INTERNAL_H
#define SYMBOLIZER_PROFILE_PROFILE_INTERNAL_H

#include "format/bytes/slots.h"
#include "format/bytes/word_lists.h"
#include "symbolizer/profile/frame_choice.h"
#include "symbolizer/profile/profile.h"

#define PROFILE_MAGIC 0x70f11e00u

/* Whose stacks they are. */
struct kept_who {
	const char *comm;
	PROFILE_KEYS(PROFILE_FIELD)
	int event;
	uint32_t detail; /* number of the list */
};

/* There can be as many as samples: what several share is a number. */
struct kept_stack {
	uint32_t who, list;
	struct profile_weight weight;
	uint32_t next; /* of its event, or PROFILE_NO_STACK */
};

struct profile_event {
	const char *name; /* interned */
	uint32_t nth;	  /* of that name in its recording, from 0 */
	struct profile_weight whole;
	struct read_total counted;
	uint32_t first, last; /* its stacks; first: PROFILE_NO_STACK where it has none */
};

/* How many events of a recording have a name, so far. */
struct event_count {
	const char *name;
	uint32_t nr;
};

/* Of the recording that is taken. */
struct profile_build {
	struct profile *p;
	const struct raw_profile *raw;
	uint64_t shift_ns;
	int *events; /* of the recording: indexes of the profile's */
	size_t nr_events, cap_events;
	struct event_count *counts; /* by name */
	size_t nr_counts, cap_counts;
	struct slots count_slots;
	size_t nr_kernel_maps; /* that the resolver knows */
	/* The last object that was looked at: is it an interpreter's? */
	const char *interpreter_path;
	bool interpreter;
	bool nomem;
	/*
	 * Of a raw profile: by place, its frames and whether it is asked for; whose stacks they
	 * are.
	 */
	struct place_frames {
		size_t first; /* in ids, the innermost first; the last is the place's own */
		uint32_t nr;
	} * frames;
	uint32_t *ids;
	size_t nr_ids, cap_ids;
	uint32_t *list; /* the frames of the stack that is made */
	size_t cap_list;
	uint8_t *wanted;
	uint32_t *whos;
	uint32_t *row_stacks; /* by row, with each_sample; UINT32_MAX: not wanted */
};

struct profile {
	unsigned magic;
	struct resolver *resolver;
	struct inlines *inlines;
	const struct profile_options *options;
	struct profile_event *events;
	size_t nr_events, cap_events;
	struct slots event_slots;
	struct profile_event none; /* of samples without an event */
	struct frame *frames;
	size_t nr_frames, cap_frames;
	struct slots frame_slots;
	struct kept_who *whos;
	size_t nr_whos, cap_whos;
	struct slots who_slots;
	struct word_lists details; /* sample_detail.h, with ids of frames */
	struct word_lists lists;   /* of frame ids, leaf first */
	struct kept_stack *stacks;
	size_t nr_stacks, cap_stacks;
	struct slots stack_slots;
	uint64_t first_bucket,
		last_bucket;	     /* of the stacks; without any the first is behind the last */
	struct frame_choice *choice; /* NULL: all frames are shown */
	struct profile_totals totals;
	uint64_t names_left_out; /* by task models */
	struct process_table processes;
	profile_sample_fn *on_sample;
	void *on_sample_arg;
	uint64_t epoch;
	struct profile_build build;
};

/* The id of a frame, new or known. 0, -FMT_E_NOMEM; and so the others. */
int profile_keep_frame(struct profile *p, const struct frame *f, uint32_t *ret);
/* The index of an event, new or known. */
int profile_keep_event(struct profile *p, const struct profile_event *e, int *ret);
/* -1: what has none. */
static inline struct profile_event *
profile_event_at(struct profile *p, int event)
{
	return event < 0 ? &p->none : &p->events[event];
}

int profile_keep_who(struct profile *p, const struct kept_who *w, uint32_t *ret);
/* Counts samples to the stack of these frames. */
int profile_count(struct profile *p, uint32_t who, const uint32_t *frames, size_t nr,
		  const struct profile_weight *weight, uint32_t *ret);
/* What was given is not asked for again, but for the names that are in doubt (doubts.h). */
int profile_forget(struct profile *p);

#endif
