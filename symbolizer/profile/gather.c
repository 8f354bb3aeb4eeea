/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/profile/gather_internal.h"

#include <stdlib.h>

#include "format/bytes/array.h"

#define KERNEL_MAPS_MAX 65536 /* a kernel has some hundred modules */

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
		.on_sample = gather_sample,
		.on_block = gather_block,
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
	if (g->strings) {
		intern_keep_short(g->strings);
		g->replay = replay_new(stream, g->strings, &o);
	}
	if (g->replay) {
		struct process_table *processes = options->processes ? &g->processes : NULL;

		g->whos = who_finder_new(g->replay, g->strings, &g->raw, options, processes);
		g->finder = place_finder_new(g->replay, g->strings, &g->raw, options->jit,
					     options->by_address, options->kernel_lines, processes);
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
	g->user_stack = user_stack_new(g->replay, arch, places, g->options->jit);
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
	process_table_done(&g->processes);
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
	if (g->options->jit)
		g->jit_doubtful = jit_names_doubtful(g->options->jit);
	g->bad_blocks = replay_bad_blocks(g->replay);
	if (g->options->jit)
		g->bad_blocks += jit_names_bad_blocks(g->options->jit);
	g->has_kernel = replay_has_kernel(g->replay);
	g->waits = replay_waits(g->replay);
	g->first_wait = replay_first_wait(g->replay);
	process_table_end(&g->processes, replay_model(g->replay));
	replay_take_counts(g->replay, &g->counts);
	if (g->user_stack) {
		g->unwound = *user_stack_stops(g->user_stack);
		unwind_stops_add(&g->unwound, replay_stops(g->replay));
	}
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
	taken = gather_hand_over(g);
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

struct unwind_stops
gather_unwound(const struct gather *g)
{
	return g->unwound;
}

struct waits_counts
gather_waits(const struct gather *g)
{
	return g->waits;
}

const struct process_table *
gather_processes(const struct gather *g)
{
	return &g->processes;
}

uint64_t
gather_jit_doubtful(const struct gather *g)
{
	return g->jit_doubtful;
}

uint64_t
gather_bad_blocks(const struct gather *g)
{
	return g->bad_blocks;
}
