/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The samples of a block by columns: what they have in common, tasks, stacks and places, is looked up once, whatever
 * their number.
 */
#include "symbolizer/profile/gather_internal.h"

#include <string.h>

#include "format/bytes/array.h"
#include "format/columns/columns_view.h"

#define SIDES 2		/* of what is looked up once a block: for two events, or two CPUs */
#define FULL_EVERY 4096 /* samples of a block: how often it is asked whether there is room */

static int
block_begin(struct gather *g, const struct stream_columns *c)
{
	const uint64_t(*tasks)[2], *frames;
	const size_t nr_tasks = columns_view_tasks(c->view, &tasks) * SIDES;
	const size_t nr_frames = columns_view_frames(c->view, &frames);
	const size_t nr_stacks = columns_view_stacks(c->view);

	if (array_reserve(g->tasks, 0, g->cap_tasks, nr_tasks + 1) != 0 ||
	    array_reserve(g->stacks, 0, g->cap_stacks, nr_stacks + 1) != 0)
		return -FMT_E_NOMEM;
	memset(g->tasks, 0xff, nr_tasks * sizeof(*g->tasks));
	memset(g->stacks, 0xff, nr_stacks * sizeof(*g->stacks));
	for (size_t i = 0; i < 2; i++) {
		if (array_reserve(g->places[i], 0, g->cap_places[i], nr_frames + 1) != 0)
			return -FMT_E_NOMEM;
		memset(g->places[i], 0xff, nr_frames * sizeof(*g->places[i]));
	}
	word_lists_clear(&g->stack_keys);
	return 0;
}

/* Sources differ to the profile by their event, and by their CPU if it asks for that. */
static uint32_t
source_of(const struct gather *g, const struct stream_columns *c, uint32_t source)
{
	const struct profile_options *o = g->options;

	if (o->by_cpu || (o->filter && filter_by_cpu(o->filter)))
		return source;
	return (uint32_t)c->sources[source].event;
}

/* Stacks of many places are looked for among those of this process first. */
static int
find_stack(struct gather *g, const struct stream_columns *c, const struct columns_view_sample *s,
	   struct block_stack *known)
{
	const uint32_t key[3] = { known->pid, s->stack, known->event };
	const size_t keys = g->stack_keys.nr;
	struct callchain_words words;
	uint32_t n = 0;
	int err;

	if (!g->options->leaf_only) {
		if (word_lists_number(&g->stack_keys, key, 3, &n) != 0 ||
		    array_reserve(g->stack_numbers, keys, g->cap_stack_numbers, 1) != 0)
			return -FMT_E_NOMEM;
		known->number = g->stack_numbers[n];
		if (n < keys)
			return 0;
	}
	callchain_of_columns(c->view, s->source, s->stack, &words);
	err = gather_stack(g, key[0], &words, &known->number, &known->pid);
	if (!g->options->leaf_only)
		g->stack_numbers[n] = known->number;
	return err;
}

/* What a block's addresses were called first is not what they are called now. */
static int
timed_stack(struct gather *g, const struct stream_columns *c, const struct columns_view_sample *s,
	    uint32_t pid, uint32_t *ret)
{
	struct callchain_words words;
	uint32_t of;
	int err;

	callchain_of_columns(c->view, s->source, s->stack, &words);
	g->in_block = false;
	err = gather_stack(g, pid, &words, ret, &of);
	g->in_block = true;
	return err;
}

static int
block_stack(struct gather *g, const struct stream_columns *c, const struct columns_view_sample *s,
	    uint32_t *ret)
{
	const uint32_t event = (uint32_t)c->sources[s->source].event;
	struct block_stack *known = &g->stacks[s->stack];
	const uint64_t(*tasks)[2];
	uint32_t pid;
	int err = 0;

	columns_view_tasks(c->view, &tasks);
	pid = (uint32_t)tasks[s->task][0];
	g->now_ns = s->time;
	if (g->options->jit && jit_names_timed(g->options->jit, pid))
		return timed_stack(g, c, s, pid, ret);
	if (known->event != event || (known->pid != GATHER_EVERYBODY && known->pid != pid)) {
		*known = (struct block_stack){ .event = event, .pid = pid };
		err = find_stack(g, c, s, known);
	}
	*ret = known->number;
	return err;
}

/*
 * Rows are many, and each is somewhere else in memory: it is asked for first, and counted later.
 */
static int
count_later(struct gather *g, const struct raw_sample *sample)
{
	struct raw_sample *place = &g->on_the_way[g->nr_on_the_way++ & (GATHER_ON_THE_WAY - 1)];
	const size_t half = g->nr_on_the_way + GATHER_ON_THE_WAY / 2 - 1;
	int err = 0;

	if (g->nr_on_the_way > GATHER_ON_THE_WAY)
		err = raw_profile_count(&g->raw, place);
	*place = *sample;
	__builtin_prefetch(raw_profile_row_slot(&g->raw, sample));
	if (half >= GATHER_ON_THE_WAY)
		__builtin_prefetch(raw_profile_row_maybe(
			&g->raw, &g->on_the_way[half & (GATHER_ON_THE_WAY - 1)]));
	return err;
}

static int
block_end(struct gather *g)
{
	size_t i = g->nr_on_the_way > GATHER_ON_THE_WAY ? g->nr_on_the_way - GATHER_ON_THE_WAY : 0;
	int err = 0;

	for (; err == 0 && i < g->nr_on_the_way; i++)
		err = raw_profile_count(&g->raw, &g->on_the_way[i & (GATHER_ON_THE_WAY - 1)]);
	g->nr_on_the_way = 0;
	return err;
}

/* Whose sample it is: known from the block's samples before it, mostly. */
static int
block_who(struct gather *g, const struct stream_columns *c, const struct columns_view_sample *s,
	  size_t number, uint32_t *ret)
{
	const struct profile_options *o = g->options;
	const uint32_t same = source_of(g, c, s->source);
	struct block_task *task = &g->tasks[(size_t)s->task * SIDES + same % SIDES];
	struct replay_sample sample;
	int err = 0;

	if (task->source != same) {
		replay_block_who(c, number, &sample);
		err = who_finder_find(g->whos, &sample, 0, &task->who);
		task->source = same;
		task->from_ns = gather_bucket(o, s->time);
	} else if (o->by_time && s->time - task->from_ns >= o->bucket_ns) {
		err = who_finder_later(g->whos, task->who, s->time, &task->who);
		task->from_ns = gather_bucket(o, s->time);
	}
	*ret = task->who;
	return err;
}

static int
block_sample(struct gather *g, const struct stream_columns *c, const struct columns_view_sample *s,
	     size_t number)
{
	const struct stream_source *source = &c->sources[s->source];
	const uint64_t period = source->by_value ? s->value : source->period;
	const uint64_t before = gather_before(g, source->event, period, s->time);
	struct raw_key key = { .stack = GATHER_NO_STACK };
	struct raw_sample counted;
	int err = block_who(g, c, s, number, &key.who);

	if (err == 0 && gather_see(g, key.who, period - before, s->time) &&
	    !g->options->no_places) {
		err = block_stack(g, c, s, &key.stack);
		counted = raw_sample(key, period - before, s->time);
		if (err == 0)
			err = count_later(g, &counted);
	}
	return err || before == 0 ? err : gather_spread(g, key, before, s->time);
}

/* What was looked up for the block has numbers of the raw profile that goes. */
static int
make_room(struct gather *g, const struct stream_columns *c)
{
	int err = block_end(g);

	if (err == 0)
		err = gather_hand_over(g);
	return err ? err : block_begin(g, c);
}

/* Of a sample that is next but a few: places are many, and each is somewhere else in memory. */
static void
ask_ahead(const struct gather *g, const struct stream_columns *c,
	  const struct columns_view_sample *s)
{
	struct callchain_address address;
	struct callchain_words words;
	struct callchain chain;
	const uint64_t(*tasks)[2];

	if (!g->options->leaf_only || g->options->no_places ||
	    g->stacks[s->stack].event != UINT32_MAX)
		return;
	columns_view_tasks(c->view, &tasks);
	callchain_of_columns(c->view, s->source, s->stack, &words);
	callchain_begin(&chain, &words, &address);
	__builtin_prefetch(place_finder_slot(g->finder, (uint32_t)tasks[s->task][0], &address));
}

int
gather_block(void *arg, const struct stream_columns *c)
{
	struct gather *g = arg;
	const struct columns_view_sample *samples;
	size_t nr = columns_view_samples(c->view, &samples);
	int err = block_begin(g, c);

	if (g->options->reached_ns)
		__atomic_store_n(g->options->reached_ns, c->first_ns, __ATOMIC_RELAXED);
	g->in_block = true;
	for (size_t i = 0; err == 0 && i < nr; i++) {
		if (i % FULL_EVERY == 0 || g->spread_parts >= FULL_EVERY) {
			g->spread_parts = 0;
			if (gather_is_full(g))
				err = make_room(g, c);
		}
		if (i + GATHER_ON_THE_WAY < nr)
			ask_ahead(g, c, &samples[i + GATHER_ON_THE_WAY]);
		if (err == 0 && !c->in_order[samples[i].task])
			err = block_sample(g, c, &samples[i], i);
	}
	g->in_block = false;
	return err ? err : block_end(g);
}
