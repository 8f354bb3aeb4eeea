/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gather_internal: what the parts of a gather share, from the ground up: samples one by one (gather_sample.c), blocks
 * by columns (gather_block.c), periods that go to several buckets (gather_spread.c), the recording (gather.c).
 */
#ifndef SYMBOLIZER_PROFILE_GATHER_INTERNAL_H
#define SYMBOLIZER_PROFILE_GATHER_INTERNAL_H

#include "symbolizer/profile/detail_finder.h"
#include "symbolizer/profile/gather.h"
#include "symbolizer/profile/place_finder.h"
#include "symbolizer/profile/replay.h"
#include "symbolizer/profile/who_finder.h"
#include "symbolizer/text/intern.h"

#define GATHER_EVERYBODY UINT32_MAX /* no task has this number */
#define GATHER_ON_THE_WAY 16	    /* samples: as many as memory brings at once; a power of two */

struct gather {
	struct record_stream *stream;
	const struct profile_options *options;
	struct intern *strings;
	struct replay *replay;
	struct raw_profile raw;
	gather_take_fn *take;
	void *take_arg;
	bool refused; /* take returned something */
	/* Of the whole recording, once the replay has gone. */
	struct task_model_left_out left_out;
	uint64_t bad_blocks;
	uint64_t jit_doubtful;
	struct read_counts counts;
	bool has_kernel;
	struct perf_mmap *kernel_maps;
	size_t nr_kernel_maps, cap_kernel_maps;
	struct who_finder *whos;
	struct place_finder *finder;
	struct detail_finder details;
	struct process_table processes;
	struct user_stack *user_stack; /* NULL: nobody asks for callers */
	struct unwind_stops unwound;
	struct waits_counts waits;
	size_t first_wait; /* replay_first_wait() */
	/*
	 * Of a block: by task and side, who that is to a source in a bucket of time; by frame, its place as itself and
	 * as a return address; by stack, its number, or its leaf's place. Those of the kernel are the
	 * same to everybody, the others to one process, the last that asked.
	 */
	bool in_block;
	struct block_task {
		uint32_t source, who;
		uint64_t from_ns; /* where the bucket begins; 0: there is but one */
	} * tasks;
	struct block_place {
		uint32_t pid, place;
	} * places[2];
	struct block_stack {
		uint32_t event, pid, number;
	} * stacks;
	size_t cap_tasks, cap_places[2], cap_stacks;
	struct word_lists stack_keys; /* stacks by process: {pid, stack, event} */
	uint32_t *stack_numbers;
	size_t cap_stack_numbers;
	uint64_t now_ns; /* of the sample whose places are looked for */
	struct raw_sample on_the_way[GATHER_ON_THE_WAY];
	size_t nr_on_the_way; /* all of the block so far, counted or not */
	size_t spread_parts;  /* since it was last asked whether there is room */
	uint32_t *words;      /* the stack that is being made */
	size_t cap_words;
};

/* The sampled place, or the number of the whole stack; and whose that is. 0, -FMT_E_NOMEM. */
int gather_stack(struct gather *g, uint32_t pid, const struct callchain_words *words, uint32_t *ret,
		 uint32_t *ret_whose);
/* Counts a sample of a who. True: it is wanted. Inline, for there are millions. */
static inline bool
gather_see(struct gather *g, uint32_t who, uint64_t period, uint64_t time_ns)
{
	struct raw_who *w = &g->raw.whos[who];

	w->seen.samples++;
	w->seen.period += period;
	raw_times_add(&w->times, time_ns);
	return w->wanted;
}

/* Where the bucket of a time begins, modulo 2^64; 0: there is but one. */
static inline uint64_t
gather_bucket(const struct profile_options *o, uint64_t time_ns)
{
	return o->by_time ? time_ns - (time_ns + o->bucket_shift_ns) % o->bucket_ns : 0;
}

/*
 * gather_before(): how much of a sample's period lies before the bucket in which it was taken; 0 without spread.
 * gather_spread() adds that much to the buckets before. key.stack GATHER_NO_STACK: the sample is not wanted, or stacks are
 * not. 0, -FMT_E_NOMEM.
 */
#define GATHER_NO_STACK UINT32_MAX
uint64_t gather_before_bucket(const struct gather *g, int event, uint64_t period, uint64_t time_ns);
static inline uint64_t
gather_before(const struct gather *g, int event, uint64_t period, uint64_t time_ns)
{
	return g->options->spread ? gather_before_bucket(g, event, period, time_ns) : 0;
}
int gather_spread(struct gather *g, struct raw_key key, uint64_t before, uint64_t time_ns);

/* Is there no room in the raw profile? Then it is handed over: 0, or what ends the run. */
bool gather_is_full(const struct gather *g);
int gather_hand_over(struct gather *g);

/* For replay_options. */
int gather_sample(void *arg, const struct replay_sample *s);
int gather_block(void *arg, const struct stream_columns *c);

#endif
