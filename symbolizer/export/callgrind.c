/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/export/callgrind.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes/array.h"
#include "format/bytes/fmt_error.h"
#include "format/bytes/slots.h"
#include "symbolizer/text/escape.h"

/* A function: frames of all its lines. Or a command, which calls the outermost functions. */
struct function {
	const char *symbol, *dso, *file; /* the first two are of frames */
	uint32_t frame;			 /* one of them; COMMAND: symbol is its name */
	size_t stack;			 /* + 1: the last one that it was found on */
};

#define COMMAND UINT32_MAX

/* What a line of a function costs, itself or by a call from there. */
struct cost {
	uint32_t function, line;
	uint32_t callee; /* a function; NO_CALL */
	uint64_t samples, weight;
	size_t stack; /* + 1: the last one that counted */
};

#define NO_CALL UINT32_MAX

/* Strings that have been written, so that a number stands for them. Equal ones are one pointer. */
struct told {
	const char **v;
	size_t n, cap;
	struct slots slots;
};

struct callgrind {
	const struct stack_export *x;
	FILE *out;
	struct function *functions;
	size_t nr_functions, cap_functions;
	struct slots function_slots;
	uint32_t *function_of; /* by frame id */
	struct cost *costs;
	size_t nr_costs, cap_costs;
	struct slots cost_slots;
	uint64_t total;
	struct told objects, files;
	bool *function_told;
	struct buf text;
	int error;
};

/* --- costs -------------------------------------------------------------------------------- */

static bool
function_same(const void *owner, uint32_t index, const void *key)
{
	const struct function *a = &((const struct callgrind *)owner)->functions[index], *b = key;

	return a->symbol == b->symbol && a->dso == b->dso && a->file == b->file;
}

static bool
cost_same(const void *owner, uint32_t index, const void *key)
{
	const struct cost *a = &((const struct callgrind *)owner)->costs[index], *b = key;

	return a->function == b->function && a->line == b->line && a->callee == b->callee;
}

static int
function_of(struct callgrind *c, const struct function *key, uint32_t *ret)
{
	uint64_t hash = slots_mix((uintptr_t)key->symbol, (uintptr_t)key->dso);

	hash = slots_mix(hash, (uintptr_t)key->file);
	return slots_keep(&c->function_slots, (uint32_t)hash, function_same, c, key, c->functions,
			  c->nr_functions, c->cap_functions, ret);
}

static int
number_functions(struct callgrind *c)
{
	const size_t n = profile_frames(c->x->profile);
	int err = 0;

	c->function_of = calloc(n + 1, sizeof(*c->function_of));
	if (!c->function_of)
		return -FMT_E_NOMEM;
	for (uint32_t id = 0; id < n && err == 0; id++) {
		const struct frame *f = profile_frame(c->x->profile, id);
		const struct function key = { frame_label(f), f->dso_path, f->file, id, 0 };

		err = function_of(c, &key, &c->function_of[id]);
	}
	return err;
}

static uint64_t
weight_of(const struct callgrind *c, const struct profile_stack *s)
{
	return c->x->by_period ? s->weight.period : s->weight.samples;
}

/*
 * Counts a stack, once, to a line of a function, or to its call of callee from there. weighs false: the call
 * stands there, and costs nothing.
 */
static int
count(struct callgrind *c, uint32_t function, uint32_t line, uint32_t callee,
      const struct profile_stack *s, size_t stack, bool weighs)
{
	const struct cost key = { .function = function, .line = line, .callee = callee };
	uint64_t hash = slots_mix((uint64_t)function << 32 | line, callee);
	uint32_t i;
	int err = slots_keep(&c->cost_slots, (uint32_t)hash, cost_same, c, &key, c->costs,
			     c->nr_costs, c->cap_costs, &i);

	if (err < 0)
		return err;
	if (weighs)
		c->costs[i].weight += weight_of(c, s);
	if (c->costs[i].stack != stack + 1)
		c->costs[i].samples += s->weight.samples;
	c->costs[i].stack = stack + 1;
	return 0;
}

/*
 * From the outermost frame on. Readers take the sum of the calls of a function for its inclusive cost: of each
 * function of the stack the outermost call weighs. The calls by which it came back weigh nothing; KCachegrind
 * finds cycles by them.
 */
static int
count_stack(struct callgrind *c, size_t i)
{
	uint32_t caller = 0, line = 0;
	struct profile_stack s;
	int err;

	if (!stack_export_stack(c->x, i, &s))
		return 0;
	c->total += weight_of(c, &s);
	err = function_of(c, &(struct function){ .symbol = s.comm, .frame = COMMAND }, &caller);
	for (uint32_t k = s.nr_frames; k-- > 0 && err == 0;) {
		const uint32_t callee = c->function_of[s.frames[k]];
		const bool again = c->functions[callee].stack == i + 1;

		c->functions[callee].stack = i + 1;
		err = count(c, caller, line, callee, &s, i, !again);
		caller = callee;
		line = profile_frame(c->x->profile, s.frames[k])->line;
	}
	return err ? err : count(c, caller, line, NO_CALL, &s, i, true);
}

static int
compare_costs(const void *va, const void *vb)
{
	const struct cost *a = va, *b = vb;

	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	/* What it costs itself comes before its calls. */
	if ((a->callee == NO_CALL) != (b->callee == NO_CALL))
		return a->callee == NO_CALL ? -1 : 1;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	return (a->callee > b->callee) - (a->callee < b->callee);
}

/* --- text --------------------------------------------------------------------------------- */

static bool
told_same(const void *owner, uint32_t index, const void *key)
{
	return ((const struct told *)owner)->v[index] == *(const char *const *)key;
}

static void
told_done(struct told *t)
{
	free(t->v);
	slots_done(&t->slots);
}

/* What is in c->text, ended. */
static void
put_text(struct callgrind *c)
{
	buf_u8(&c->text, 0);
	if (buf_failed(&c->text))
		c->error = -FMT_E_NOMEM;
	else
		fputs((const char *)c->text.p, c->out);
}

/* "ob=(7) name" the first time, then "ob=(7)". */
static void
put_told(struct callgrind *c, struct told *t, const char *key, const char *name)
{
	const size_t known = t->n;
	uint32_t i = 0;

	if (slots_keep(&t->slots, (uint32_t)slots_mix(0, (uintptr_t)name), told_same, t, &name,
		       t->v, t->n, t->cap, &i) < 0)
		c->error = -FMT_E_NOMEM;
	fprintf(c->out, "%s=(%" PRIu32 ")", key, i + 1);
	if (t->n > known) {
		buf_clear(&c->text);
		buf_u8(&c->text, ' ');
		escape(&c->text, name);
		put_text(c);
	}
	putc('\n', c->out);
}

static void
put_function(struct callgrind *c, bool called, uint32_t number)
{
	static const char command[] = "[command]";
	const struct function *f = &c->functions[number];

	/* callgrind_annotate knows a function by its file and its name: a command "main" is not main(). */
	const char *none = f->frame == COMMAND ? command : "???";

	put_told(c, &c->objects, called ? "cob" : "ob", f->dso ? f->dso : command);
	put_told(c, &c->files, called ? "cfi" : "fl", f->file ? f->file : none);
	fprintf(c->out, "%s=(%" PRIu32 ")", called ? "cfn" : "fn", number + 1);
	if (!c->function_told[number]) {
		c->function_told[number] = true;
		buf_clear(&c->text);
		buf_u8(&c->text, ' ');
		if (f->frame == COMMAND)
			escape(&c->text, f->symbol);
		else
			stack_export_frame_name(c->x, profile_frame(c->x->profile, f->frame),
						escape, &c->text);
		put_text(c);
	}
	putc('\n', c->out);
}

static void
put_costs(struct callgrind *c)
{
	for (size_t i = 0; i < c->nr_costs; i++) {
		const struct cost *k = &c->costs[i];

		if (i == 0 || k[-1].function != k->function) {
			putc('\n', c->out);
			put_function(c, false, k->function);
		}
		if (k->callee != NO_CALL) {
			put_function(c, true, k->callee);
			fprintf(c->out, "calls=%" PRIu64 " 0\n", k->samples);
		}
		fprintf(c->out, "%" PRIu32 " %" PRIu64 "\n", k->line, k->weight);
	}
}

static int
put_all(struct callgrind *c)
{
	const char *event = profile_event_name(c->x->profile, c->x->event);
	const bool time = c->x->by_period && stack_export_is_time(event);
	const char *unit = time ? "ns" : c->x->by_period ? "Period" : "Samples";

	fputs("# callgrind format\nversion: 1\ncreator: spoor\npositions: line\n", c->out);
	for (size_t i = 0; c->x->comments && c->x->comments[i]; i++) {
		buf_clear(&c->text);
		escape(&c->text, c->x->comments[i]);
		fputs("desc: ", c->out);
		put_text(c);
		putc('\n', c->out);
	}
	fprintf(c->out, "events: %s\nsummary: %" PRIu64 "\n", unit, c->total);
	put_costs(c);
	fprintf(c->out, "\ntotals: %" PRIu64 "\n", c->total);
	return c->error;
}

int
callgrind_write(const struct stack_export *x, FILE *out)
{
	const size_t n = profile_stacks(x->profile);
	struct callgrind c = { .x = x, .out = out };
	int err;

	buf_init(&c.text);
	err = number_functions(&c);
	for (size_t i = 0; i < n && err == 0; i++)
		err = count_stack(&c, i);
	c.function_told = calloc(c.nr_functions + 1, sizeof(*c.function_told));
	if (err == 0 && !c.function_told)
		err = -FMT_E_NOMEM;
	if (err == 0) {
		if (c.nr_costs > 0)
			qsort(c.costs, c.nr_costs, sizeof(*c.costs), compare_costs);
		err = put_all(&c);
	}
	free(c.functions);
	free(c.function_of);
	free(c.function_told);
	free(c.costs);
	told_done(&c.objects);
	told_done(&c.files);
	slots_done(&c.function_slots);
	slots_done(&c.cost_slots);
	buf_done(&c.text);
	return err;
}
