/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/profile/call_graph.h"

#include <stdlib.h>
#include <string.h>

#include "format/bytes/array.h"
#include "format/bytes/fmt_error.h"
#include "format/bytes/slots.h"

/* Places of rows in stacks that are held at a time, unless one row has more: 32 MiB. */
#define PLACES_MAX ((size_t)4 << 20)
#define NOT_HELD UINT32_MAX

/* Where a row is in a stack. */
struct place {
	uint32_t stack, frame;
};

struct call_graphs {
	const struct profile *profile;
	const struct report *report;
	bool children, caller;
	bool any;	     /* has any stack a caller? */
	uint32_t *functions; /* by frame: the first one of the same function */
	/* By number of a row: how many places it has; where those that are held begin. */
	uint32_t *counts, *starts;
	/* Rows [first, end) of the report have theirs in places, each in the order of stacks. */
	size_t first, end;
	struct place *places;
	size_t cap_places;
	uint32_t *way; /* that is added to a tree */
	size_t cap_way;
};

static bool
function_same(const void *owner, uint32_t frame, const void *key)
{
	const struct frame *a = profile_frame(owner, frame), *b = key;

	return a->symbol == b->symbol && a->dso_path == b->dso_path && a->miss == b->miss &&
		a->kernel == b->kernel && a->inlined == b->inlined;
}

/* Frames of one function differ where a report is by line or address. */
static int
find_functions(struct call_graphs *g)
{
	const size_t nr = profile_frames(g->profile);
	struct slots slots = { .v = NULL };
	int err = 0;

	g->functions = calloc(nr + 1, sizeof(*g->functions));
	if (!g->functions)
		return -FMT_E_NOMEM;
	for (size_t i = 0; i < nr && err == 0; i++) {
		const struct frame *f = profile_frame(g->profile, (uint32_t)i);
		uint64_t h = slots_mix((uintptr_t)f->symbol, (uintptr_t)f->dso_path);
		uint32_t known;

		h = slots_mix(h, (uint64_t)f->miss << 2 | (uint64_t)f->kernel << 1 | f->inlined);
		known = slots_find(&slots, (uint32_t)h, function_same, g->profile, f);
		g->functions[i] = known != SLOTS_NONE ? known : (uint32_t)i;
		if (known == SLOTS_NONE)
			err = slots_add(&slots, (uint32_t)h, i);
	}
	slots_done(&slots);
	return err;
}

/* Gives each place of each row to see(). */
static void
each_place(struct call_graphs *g,
	   void (*see)(struct call_graphs *g, uint32_t number, struct place at))
{
	const uint32_t *number = report_numbers(g->report);
	struct profile_stack s;

	for (size_t i = 0; i < profile_stacks(g->profile); i++) {
		profile_stack_at(g->profile, i, &s);
		g->any |= s.nr_frames > 1;
		for (uint32_t k = 0; k < (g->children ? s.nr_frames : 1); k++)
			see(g, *number++, (struct place){ (uint32_t)i, k });
	}
}

static void
count_place(struct call_graphs *g, uint32_t number, struct place at)
{
	(void)at;
	g->counts[number]++;
}

static void
hold_place(struct call_graphs *g, uint32_t number, struct place at)
{
	if (g->starts[number] != NOT_HELD)
		g->places[g->starts[number]++] = at;
}

int
call_graphs_new(const struct profile *p, const struct report *r,
		const struct report_options *options, bool caller, struct call_graphs **ret)
{
	const size_t rows = report_rows(r);
	struct call_graphs *g = calloc(1, sizeof(*g));
	int err;

	if (!g)
		return -FMT_E_NOMEM;
	*g = (struct call_graphs){
		.profile = p,
		.report = r,
		.children = options->children,
		.caller = caller,
		.counts = calloc(rows + 1, sizeof(*g->counts)),
		.starts = calloc(rows + 1, sizeof(*g->starts)),
	};
	err = g->counts && g->starts ? find_functions(g) : -FMT_E_NOMEM;
	if (err < 0) {
		call_graphs_free(g);
		return err;
	}
	each_place(g, count_place);
	*ret = g;
	return 0;
}

void
call_graphs_free(struct call_graphs *g)
{
	if (!g)
		return;
	free(g->functions);
	free(g->counts);
	free(g->starts);
	free(g->places);
	free(g->way);
	free(g);
}

bool
call_graphs_any(const struct call_graphs *g)
{
	return g->any;
}

bool
call_graphs_caller(const struct call_graphs *g)
{
	return g->caller;
}

/* The places of this row and of those behind it, as many as are held at a time. */
static int
hold_rows(struct call_graphs *g, size_t first)
{
	const size_t rows = report_rows(g->report);
	size_t end = first, n = 0;
	int err;

	memset(g->starts, 0xff, (rows + 1) * sizeof(*g->starts));
	for (; end < rows; end++) {
		const uint32_t number = report_row_at(g->report, end)->number;

		if (end > first && n + g->counts[number] > PLACES_MAX)
			break;
		g->starts[number] = (uint32_t)n;
		n += g->counts[number];
	}
	g->first = g->end = 0;
	err = array_reserve(g->places, (size_t)0, g->cap_places, n);
	if (err < 0)
		return err;
	each_place(g, hold_place);
	g->first = first;
	g->end = end;
	return 0;
}

/* From the root of the tree on. Of a place in its middle a stack is no more than one side. */
static int
add_way(struct call_graphs *g, struct call_tree *t, struct place at)
{
	struct profile_stack s;
	uint32_t first, last; /* the innermost, and behind the outermost */
	size_t n = 0;
	int err;

	profile_stack_at(g->profile, at.stack, &s);
	first = g->caller ? 0 : at.frame;
	last = g->caller && at.frame > 0 ? at.frame + 1 : s.nr_frames;
	err = array_reserve(g->way, (size_t)0, g->cap_way, s.nr_frames);
	if (err < 0)
		return err;
	for (uint32_t i = first; i < last; i++)
		g->way[n++] = g->functions[s.frames[g->caller ? last - 1 - (i - first) : i]];
	return call_tree_add(t, g->way, n, &s.weight);
}

/*
 * Where a row recurs in a stack, it counts once: from its leaf, or else what is nearest to where the way
 * begins.
 */
static const struct place *
pick(const struct call_graphs *g, const struct place *p, const struct place *end,
     const struct place **ret_next)
{
	const struct place *last = p;

	while (last + 1 < end && last[1].stack == p->stack)
		last++;
	*ret_next = last + 1;
	return g->caller && p->frame > 0 ? last : p;
}

int
call_graphs_tree(struct call_graphs *g, size_t i, struct call_tree **ret)
{
	const uint32_t number = report_row_at(g->report, i)->number;
	const struct place *p, *end;
	struct call_tree *t;
	int err = 0;

	if (i < g->first || i >= g->end)
		err = hold_rows(g, i);
	if (err == 0)
		err = call_tree_new(g->profile, &t);
	if (err < 0)
		return err;
	/* Filling has moved its start to its end. */
	end = g->places + g->starts[number];
	for (p = end - g->counts[number]; p < end && err == 0;)
		err = add_way(g, t, *pick(g, p, end, &p));
	if (err == 0)
		err = call_tree_link(t);
	if (err == 0)
		*ret = t;
	else
		call_tree_free(t);
	return err;
}

/* perf takes any beginning of a word, the first word that begins so. */
static bool
begins(const char *word, const char *text, size_t len)
{
	return len > 0 && strncmp(word, text, len) == 0;
}

static bool
parse_word(const char *text, size_t len, struct call_graph_options *o)
{
	static const struct {
		const char *word;
		enum call_graph_mode mode;
	} modes[] = {
		{ "none", CALL_GRAPH_NONE },	 { "graph", CALL_GRAPH_GRAPH },
		{ "flat", CALL_GRAPH_FLAT },	 { "fractal", CALL_GRAPH_FRACTAL },
		{ "folded", CALL_GRAPH_FOLDED },
	};
	static const char *const values[] = { "percent", "period", "count" };

	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		if (begins(modes[i].word, text, len)) {
			o->mode = modes[i].mode;
			return true;
		}
	if (begins("caller", text, len) || begins("callee", text, len)) {
		o->caller = begins("caller", text, len);
		o->order_given = true;
		return true;
	}
	for (int i = 0; i < 3; i++)
		if (begins(values[i], text, len)) {
			o->value = (enum call_graph_value)i;
			return true;
		}
	return begins("function", text, len);
}

int
call_graph_parse(const char *text, struct call_graph_options *ret, const char **ret_bad,
		 size_t *ret_len)
{
	struct call_graph_options o = *ret;
	bool limited = false;

	for (o.mode = CALL_GRAPH_GRAPH;; text++) {
		const size_t len = strcspn(text, ",");
		char *end = NULL;

		if (!parse_word(text, len, &o)) {
			const double number = strtod(text, &end);

			if (len == 0 || end != text + len || !(number >= 0) ||
			    number > (limited ? UINT32_MAX : 100)) {
				*ret_bad = text;
				*ret_len = len;
				return -1;
			}
			if (limited)
				o.print_limit = (uint32_t)number;
			else
				o.percent_limit = number;
			limited = true;
		}
		text += len;
		if (!*text)
			break;
	}
	*ret = o;
	return 0;
}
