/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/profile/gather.h"

#include <stdlib.h>
#include <string.h>

#include <linux/perf_event.h>

#include "format/bytes/array.h"
#include "format/columns/columns_view.h"
#include "symbolizer/profile/detail_finder.h"
#include "symbolizer/profile/place_finder.h"
#include "symbolizer/profile/replay.h"
#include "symbolizer/profile/who_finder.h"
#include "symbolizer/text/intern.h"

#define KERNEL_MAPS_MAX 65536 /* a kernel has some hundred modules */
#define SIDES 2		      /* of what is looked up once a block: for two events, or two CPUs */
#define FULL_EVERY 4096	      /* samples of a block: how often it is asked whether there is room */

#define EVERYBODY UINT32_MAX /* no task has this number */
#define ON_THE_WAY 16	     /* samples: as many as memory brings at once; a power of two */

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
	struct read_counts counts;
	bool has_kernel;
	struct perf_mmap *kernel_maps;
	size_t nr_kernel_maps, cap_kernel_maps;
	struct who_finder *whos;
	struct place_finder *finder;
	struct detail_finder details;
	struct user_stack *user_stack; /* NULL: nobody asks for callers */
	struct user_stack_counts unwound;
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
	struct raw_sample on_the_way[ON_THE_WAY];
	size_t nr_on_the_way; /* all of the block so far, counted or not */
	uint32_t *words;      /* the stack that is being made */
	size_t cap_words;
};

/* --- samples ----------------------------------------------------------------------------- */

/* Whose is what is at this address: of the kernel there is one, and of others one a process. */
static uint32_t
whose(const struct callchain_address *a, uint32_t pid)
{
	return a->mode == CALLCHAIN_KERNEL ? EVERYBODY : pid;
}

static int
place_of(struct gather *g, uint32_t pid, const struct callchain_address *a, uint32_t *ret)
{
	struct block_place *known;
	int err;

	if (!g->in_block || a->frame == CALLCHAIN_NO_FRAME ||
	    (a->mode != CALLCHAIN_KERNEL && (a->mode != CALLCHAIN_USER || pid == EVERYBODY)))
		return place_finder_find(g->finder, pid, a, g->now_ns, ret);
	known = &g->places[a->is_return][a->frame];
	if (known->place != RAW_NO_PLACE && known->pid == whose(a, pid)) {
		*ret = known->place;
		return 0;
	}
	err = place_finder_find(g->finder, pid, a, g->now_ns, ret);
	if (err == 0)
		*known = (struct block_place){ whose(a, pid), *ret };
	return err;
}

/* The sampled place, or the number of the whole stack; and whose that is. */
static int
stack_of(struct gather *g, uint32_t pid, const struct callchain_words *words, uint32_t *ret,
	 uint32_t *ret_whose)
{
	struct callchain_address address;
	struct callchain chain;
	size_t nr = 0;
	int err;

	callchain_begin(&chain, words, &address);
	*ret_whose = whose(&address, pid);
	if (g->options->leaf_only)
		return place_of(g, pid, &address, ret);
	if (array_reserve(g->words, 0, g->cap_words,
			  words->nr + words->nr_user + words->nr_calls + 2) != 0)
		return -FMT_E_NOMEM;
	do {
		err = place_of(g, pid, &address, &g->words[nr++]);
		if (whose(&address, pid) == pid)
			*ret_whose = pid;
	} while (err == 0 && callchain_next(&chain, &address));
	return err ? err : word_lists_number(&g->raw.stacks, g->words, nr, ret);
}

/* True: the sample is wanted. */
static bool
see_sample(struct gather *g, uint32_t who, uint64_t period, uint64_t time_ns)
{
	struct raw_who *w = &g->raw.whos[who];

	w->seen.samples++;
	w->seen.period += period;
	raw_times_add(&w->times, time_ns);
	return w->wanted;
}

/* Without places, what is known of a who is its row. */
static int
rows_of_whos(struct gather *g)
{
	struct raw_profile *raw = &g->raw;
	const struct raw_place nowhere = { .mode = CALLCHAIN_UNKNOWN, .region = RAW_NO_REGION };
	uint32_t place;
	int err = raw_profile_place(raw, &nowhere, &place);

	if (err == 0)
		err = array_reserve(raw->rows, 0, raw->cap_rows, raw->nr_whos);
	for (uint32_t i = 0; err == 0 && i < raw->nr_whos; i++)
		if (raw->whos[i].wanted && raw->whos[i].seen.samples > 0)
			raw->rows[raw->nr_rows++] = (struct raw_row){
				.key = { i, place },
				.weight = raw->whos[i].seen,
			};
	return err;
}

static int
hand_over(struct gather *g)
{
	int err = g->options->no_places ? rows_of_whos(g) : 0;

	if (err == 0)
		err = g->take(g->take_arg, g, &g->raw);
	g->refused = err != 0;
	raw_profile_done(&g->raw);
	place_finder_forget(g->finder);
	return err;
}

static bool
is_full(const struct gather *g)
{
	size_t max = g->options->raw_bytes_max;

	return raw_profile_bytes(&g->raw) > (max ? max : GATHER_RAW_BYTES_MAX);
}

/* One of the branches before a sample: where it went is what is counted. */
static int
add_branch(struct gather *g, const struct replay_sample *s, const struct perf_branch *branch)
{
	struct raw_sample counted;
	uint32_t detail, who, place = 0, stack;
	int err = detail_finder_find(&g->details, s, branch, &detail);

	if (err == 0)
		err = who_finder_find(g->whos, s, detail, &who);
	if (err || !see_sample(g, who, 1, s->time_ns))
		return err;
	err = detail_finder_place(&g->details, s, SAMPLE_DETAIL_CODE, branch->to, &place);
	stack = place;
	/* A filter of frames looks at whole stacks. */
	if (err == 0 && !g->options->leaf_only)
		err = word_lists_number(&g->raw.stacks, &place, 1, &stack);
	if (err)
		return err;
	counted = raw_sample((struct raw_key){ who, stack }, 1, s->time_ns);
	return raw_profile_count(&g->raw, &counted);
}

static int
add_branches(struct gather *g, const struct replay_sample *s)
{
	int err = 0;

	if (!s->copied || !(s->copied->have & PERF_SAMPLE_BRANCH_STACK))
		return 0;
	for (uint64_t i = 0; i < s->copied->branch.nr && err == 0; i++) {
		const struct perf_branch branch = perf_branch_at(s->copied, i);

		err = add_branch(g, s, &branch);
	}
	return err;
}

static int
add_sample(void *arg, const struct replay_sample *s)
{
	struct gather *g = arg;
	struct replay_sample whole = *s;
	struct raw_sample counted;
	uint32_t detail, who, stack, of;
	uint64_t period;
	int err;

	if (is_full(g)) {
		err = hand_over(g);
		if (err)
			return err;
	}
	g->now_ns = s->time_ns;
	if (g->options->branches)
		return add_branches(g, s);
	period = g->options->by_weight ? detail_finder_weight(s) : s->period;
	err = detail_finder_find(&g->details, s, NULL, &detail);
	if (err == 0)
		err = who_finder_find(g->whos, s, detail, &who);
	if (err || !see_sample(g, who, period, s->time_ns) || g->options->no_places)
		return err;
	if (g->user_stack)
		err = user_stack_unwind(g->user_stack, &whole);
	if (err == 0)
		err = stack_of(g, s->pid, &whole.chain, &stack, &of);
	if (err)
		return err;
	counted = raw_sample((struct raw_key){ who, stack }, period, s->time_ns);
	err = raw_profile_count(&g->raw, &counted);
	if (err == 0 && g->raw.logs && g->options->fields && s->copied)
		err = raw_profile_bytes_of(&g->raw, s->copied->raw);
	return err;
}

/* --- blocks ------------------------------------------------------------------------------ */

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
	err = stack_of(g, key[0], &words, &known->number, &known->pid);
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
	err = stack_of(g, pid, &words, ret, &of);
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
	if (known->event != event || (known->pid != EVERYBODY && known->pid != pid)) {
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
	struct raw_sample *place = &g->on_the_way[g->nr_on_the_way++ & (ON_THE_WAY - 1)];
	const size_t half = g->nr_on_the_way + ON_THE_WAY / 2 - 1;
	int err = 0;

	if (g->nr_on_the_way > ON_THE_WAY)
		err = raw_profile_count(&g->raw, place);
	*place = *sample;
	__builtin_prefetch(raw_profile_row_slot(&g->raw, sample));
	if (half >= ON_THE_WAY)
		__builtin_prefetch(
			raw_profile_row_maybe(&g->raw, &g->on_the_way[half & (ON_THE_WAY - 1)]));
	return err;
}

static int
block_end(struct gather *g)
{
	size_t i = g->nr_on_the_way > ON_THE_WAY ? g->nr_on_the_way - ON_THE_WAY : 0;
	int err = 0;

	for (; err == 0 && i < g->nr_on_the_way; i++)
		err = raw_profile_count(&g->raw, &g->on_the_way[i & (ON_THE_WAY - 1)]);
	g->nr_on_the_way = 0;
	return err;
}

/* Where the bucket of a time begins, modulo 2^64. */
static uint64_t
bucket_from(const struct profile_options *o, uint64_t time_ns)
{
	return o->by_time ? time_ns - (time_ns + o->bucket_shift_ns) % o->bucket_ns : 0;
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
		task->from_ns = bucket_from(o, s->time);
	} else if (o->by_time && s->time - task->from_ns >= o->bucket_ns) {
		err = who_finder_later(g->whos, task->who, s->time, &task->who);
		task->from_ns = bucket_from(o, s->time);
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
	struct raw_sample counted;
	uint32_t who, stack;
	int err = block_who(g, c, s, number, &who);

	if (err || !see_sample(g, who, period, s->time) || g->options->no_places)
		return err;
	err = block_stack(g, c, s, &stack);
	if (err)
		return err;
	counted = raw_sample((struct raw_key){ who, stack }, period, s->time);
	return count_later(g, &counted);
}

/* What was looked up for the block has numbers of the raw profile that goes. */
static int
make_room(struct gather *g, const struct stream_columns *c)
{
	int err = block_end(g);

	if (err == 0)
		err = hand_over(g);
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

static int
add_block(void *arg, const struct stream_columns *c)
{
	struct gather *g = arg;
	const struct columns_view_sample *samples;
	size_t nr = columns_view_samples(c->view, &samples);
	int err = block_begin(g, c);

	if (g->options->reached_ns)
		__atomic_store_n(g->options->reached_ns, c->first_ns, __ATOMIC_RELAXED);
	g->in_block = true;
	for (size_t i = 0; err == 0 && i < nr; i++) {
		if (i % FULL_EVERY == 0 && is_full(g))
			err = make_room(g, c);
		if (i + ON_THE_WAY < nr)
			ask_ahead(g, c, &samples[i + ON_THE_WAY]);
		if (err == 0 && !c->in_order[samples[i].task])
			err = block_sample(g, c, &samples[i], i);
	}
	g->in_block = false;
	return err ? err : block_end(g);
}

/* --- the recording ----------------------------------------------------------------------- */

static int
add_kernel_map(struct gather *g, const struct perf_mmap *map)
{
	struct perf_mmap kept = *map;

	if (g->nr_kernel_maps == KERNEL_MAPS_MAX)
		return 0;
	kept.filename = intern_string(g->strings, map->filename);
	if (!kept.filename ||
	    array_reserve(g->kernel_maps, g->nr_kernel_maps, g->cap_kernel_maps, 1) != 0)
		return -FMT_E_NOMEM;
	g->kernel_maps[g->nr_kernel_maps++] = kept;
	return 0;
}

static int
add_map(void *arg, const struct perf_mmap *map)
{
	struct gather *g = arg;

	if (map->pid == TASK_PID_KERNEL)
		return add_kernel_map(g, map);
	return g->options->jit ? jit_names_map(g->options->jit, map) : 0;
}

struct gather *
gather_new(struct record_stream *stream, const struct profile_options *options)
{
	struct gather *g = calloc(1, sizeof(*g));
	const struct replay_options o = {
		.in_order = options->in_order || options->each_sample || options->by_trace ||
			options->details || options->branches || options->by_weight ||
			(options->filter && filter_by_trace(options->filter)),
		.on_sample = add_sample,
		.on_block = add_block,
		.on_map = add_map,
		.arg = g
	};

	if (!g)
		return NULL;
	g->stream = stream;
	g->options = options;
	g->raw.leaf_only = options->leaf_only;
	g->raw.logs = options->each_sample;
	g->raw.row_times = options->filter && filter_by_leaf(options->filter);
	g->strings = intern_new(GATHER_STRINGS_BYTES_MAX);
	if (g->strings)
		g->replay = replay_new(stream, g->strings, &o);
	if (g->replay) {
		g->whos = who_finder_new(g->replay, g->strings, &g->raw, options);
		g->finder = place_finder_new(g->replay, g->strings, &g->raw, options->jit,
					     options->by_address, options->kernel_lines);
	}
	g->details = (struct detail_finder){ g->finder, &g->raw, options->details };
	if (g->finder && g->whos)
		return g;
	gather_free(g);
	return NULL;
}

int
gather_unwind(struct gather *g, const char *arch, const struct object_places *places)
{
	if (g->options->leaf_only)
		return 0;
	g->user_stack = user_stack_new(g->replay, arch, places);
	return g->user_stack ? 0 : -FMT_E_NOMEM;
}

void
gather_free(struct gather *g)
{
	if (!g)
		return;
	raw_profile_done(&g->raw);
	user_stack_free(g->user_stack);
	replay_free(g->replay);
	read_counts_done(&g->counts);
	intern_free(g->strings);
	word_lists_done(&g->stack_keys);
	free(g->kernel_maps);
	who_finder_free(g->whos);
	place_finder_free(g->finder);
	free(g->tasks);
	free(g->places[0]);
	free(g->places[1]);
	free(g->stacks);
	free(g->stack_numbers);
	free(g->words);
	free(g);
}

/*
 * The model and the kernel's symbols have served: whoever waits for its turn is not to keep them.
 */
static void
end_replay(struct gather *g)
{
	g->left_out = task_model_left_out(replay_model(g->replay));
	g->left_out.names +=
		intern_left_out(g->strings) + kernel_symbols_left_out(replay_kernel(g->replay));
	if (g->options->jit)
		g->left_out.names += jit_names_left_out(g->options->jit);
	g->bad_blocks = replay_bad_blocks(g->replay);
	if (g->options->jit)
		g->bad_blocks += jit_names_bad_blocks(g->options->jit);
	g->has_kernel = replay_has_kernel(g->replay);
	g->waits = replay_waits(g->replay);
	g->first_wait = replay_first_wait(g->replay);
	replay_take_counts(g->replay, &g->counts);
	if (g->user_stack)
		g->unwound = *user_stack_counts(g->user_stack);
	user_stack_free(g->user_stack);
	g->user_stack = NULL;
	replay_free(g->replay);
	g->replay = NULL;
}

int
gather_run(struct gather *g, gather_take_fn *take, void *arg, struct fmt_where *where)
{
	int err, taken;

	g->take = take;
	g->take_arg = arg;
	err = replay_run(g->replay, where);
	end_replay(g);
	if (g->refused || err == -FMT_E_NOMEM)
		return err;
	taken = hand_over(g);
	return taken ? taken : err;
}

size_t
gather_events(const struct gather *g)
{
	return who_finder_events(g->whos);
}

const char *
gather_event_name(const struct gather *g, size_t event)
{
	return who_finder_event(g->whos, event);
}

const struct tracepoint *
gather_tracepoint(struct gather *g, int event)
{
	return who_finder_tracepoint(g->whos, event);
}

const struct perf_mmap *
gather_kernel_maps(const struct gather *g, size_t *ret_nr)
{
	*ret_nr = g->nr_kernel_maps;
	return g->kernel_maps;
}

bool
gather_has_kernel(const struct gather *g)
{
	return g->replay ? replay_has_kernel(g->replay) : g->has_kernel;
}

struct task_model_left_out
gather_left_out(const struct gather *g)
{
	return g->left_out;
}

struct read_total
gather_counted(const struct gather *g, size_t event)
{
	const int of = wait_samples_stream_event(g->first_wait, (int)event);

	return of < 0 ? (struct read_total){ 0 } : read_counts_total(&g->counts, (size_t)of);
}

struct user_stack_counts
gather_unwound(const struct gather *g)
{
	return g->unwound;
}

struct waits_counts
gather_waits(const struct gather *g)
{
	return g->waits;
}

uint64_t
gather_bad_blocks(const struct gather *g)
{
	return g->bad_blocks;
}
