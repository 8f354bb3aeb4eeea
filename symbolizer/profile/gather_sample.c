/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A sample to its row of the raw profile. */
#include "symbolizer/profile/gather_internal.h"

#include <linux/perf_event.h>

#include "format/bytes/array.h"

/* Whose is what is at this address: of the kernel there is one, and of others one a process. */
static uint32_t
whose(const struct callchain_address *a, uint32_t pid)
{
	return a->mode == CALLCHAIN_KERNEL ? GATHER_EVERYBODY : pid;
}

static int
place_of(struct gather *g, uint32_t pid, const struct callchain_address *a, uint32_t *ret)
{
	struct block_place *known;
	int err;

	if (!g->in_block || a->frame == CALLCHAIN_NO_FRAME ||
	    (a->mode != CALLCHAIN_KERNEL && (a->mode != CALLCHAIN_USER || pid == GATHER_EVERYBODY)))
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
int
gather_stack(struct gather *g, uint32_t pid, const struct callchain_words *words, uint32_t *ret,
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
		if (raw->whos[i].wanted &&
		    (raw->whos[i].seen.samples > 0 || raw->whos[i].seen.period > 0))
			raw->rows[raw->nr_rows++] = (struct raw_row){
				.key = { i, place },
				.weight = raw->whos[i].seen,
			};
	return err;
}

int
gather_hand_over(struct gather *g)
{
	int err = g->options->no_places ? rows_of_whos(g) : 0;

	if (err == 0)
		err = g->take(g->take_arg, g, &g->raw);
	g->refused = err != 0;
	raw_profile_done(&g->raw);
	place_finder_forget(g->finder);
	return err;
}

bool
gather_is_full(const struct gather *g)
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
	if (err || !gather_see(g, who, 1, s->time_ns))
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
count_sample(struct gather *g, const struct replay_sample *s, uint64_t period, struct raw_key *key)
{
	struct replay_sample whole = *s;
	struct raw_sample counted;
	uint32_t of;
	int err = 0;

	if (g->user_stack)
		err = user_stack_unwind(g->user_stack, &whole);
	if (err == 0)
		err = gather_stack(g, s->pid, &whole.chain, &key->stack, &of);
	if (err)
		return err;
	counted = raw_sample(*key, period, s->time_ns);
	err = raw_profile_count(&g->raw, &counted);
	if (err == 0 && g->raw.logs && g->options->fields && s->copied)
		err = raw_profile_values_of(&g->raw, s->copied);
	return err;
}

int
gather_sample(void *arg, const struct replay_sample *s)
{
	struct gather *g = arg;
	struct raw_key key = { .stack = GATHER_NO_STACK };
	uint64_t period, before;
	uint32_t detail;
	int err;

	if (gather_is_full(g)) {
		err = gather_hand_over(g);
		if (err)
			return err;
	}
	g->now_ns = s->time_ns;
	if (g->options->branches)
		return add_branches(g, s);
	period = g->options->by_weight ? detail_finder_weight(s) : s->period;
	err = detail_finder_find(&g->details, s, NULL, &detail);
	before = gather_before(g, s->event, period, s->time_ns);
	if (err == 0)
		err = who_finder_find(g->whos, s, detail, &key.who);
	if (err == 0 && gather_see(g, key.who, period - before, s->time_ns) &&
	    !g->options->no_places)
		err = count_sample(g, s, period - before, &key);
	return err || before == 0 ? err : gather_spread(g, key, before, s->time_ns);
}
