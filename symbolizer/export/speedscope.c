/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/export/speedscope.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes/array.h"
#include "format/bytes/fmt_error.h"
#include "format/bytes/slots.h"
#include "symbolizer/export/sample_log.h"
#include "symbolizer/text/json_value.h"

/* Samples of one command (process, thread...): a tab in speedscope. */
struct group {
	struct profile_stack who; /* its frames mean nothing */
	uint64_t weight;
	uint32_t *samples; /* numbers in the log, in the order of their times */
	size_t nr;
};

struct speedscope {
	const struct stack_export *x;
	FILE *out;
	struct group *groups;
	size_t nr_groups, cap_groups;
	struct slots group_slots;
	uint32_t *group_of; /* by stack; NO_GROUP: none of its samples is exported */
	uint32_t *samples;  /* of all groups */
	uint32_t *numbers;  /* by id of a frame: of those that stacks have, from 0 */
	struct buf name;
	int error;
};
#define NO_GROUP UINT32_MAX

static bool
group_same(const void *owner, uint32_t index, const void *key)
{
	const struct profile_stack *a = &((const struct speedscope *)owner)->groups[index].who;
	const struct profile_stack *b = &((const struct group *)key)->who;
	bool same = a->comm == b->comm;

#define X(type, name) same &= a->name == b->name;
	PROFILE_KEYS(X)
#undef X
	return same;
}

static uint64_t
weight_of(const struct speedscope *w, size_t sample)
{
	return w->x->by_period ? w->x->log->periods[sample] : 1;
}

/* The group of a stack, which is met for the first time. */
static int
take_stack(struct speedscope *w, const struct profile_stack *s, uint32_t *ret)
{
	const struct group key = { .who = *s };
	uint64_t hash = slots_mix(0, (uintptr_t)s->comm);

	for (uint32_t k = 0; k < s->nr_frames; k++)
		w->numbers[s->frames[k]] = 1;
#define X(type, name) hash = slots_mix(hash, (uintptr_t)s->name);
	PROFILE_KEYS(X)
#undef X
	return slots_keep(&w->group_slots, (uint32_t)hash, group_same, w, &key, w->groups,
			  w->nr_groups, w->cap_groups, ret);
}

static int
count_samples(struct speedscope *w)
{
	const struct sample_log *log = w->x->log;
	struct profile_stack s;
	int err = 0;

	for (size_t i = 0; i < w->x->nr_logged && err == 0; i++) {
		uint32_t *group = &w->group_of[log->stacks[i]];

		if (*group == NO_GROUP) {
			if (!stack_export_stack(w->x, log->stacks[i], &s))
				continue;
			err = take_stack(w, &s, group);
		}
		if (err == 0) {
			w->groups[*group].weight += weight_of(w, i);
			w->groups[*group].nr++;
		}
	}
	return err;
}

static int
take_samples(struct speedscope *w)
{
	int err = count_samples(w);
	uint32_t *next = w->samples;

	for (size_t i = 0; i < w->nr_groups; i++) {
		w->groups[i].samples = next;
		next += w->groups[i].nr;
		w->groups[i].nr = 0;
	}
	for (size_t i = 0; i < w->x->nr_logged && err == 0; i++) {
		const uint32_t group = w->group_of[w->x->log->stacks[i]];

		if (group != NO_GROUP)
			w->groups[group].samples[w->groups[group].nr++] = (uint32_t)i;
	}
	return err;
}

/* The heaviest first; of two the one that was met first. */
static int
compare_groups(const void *va, const void *vb)
{
	const struct group *a = va, *b = vb;

	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return (a->samples > b->samples) - (a->samples < b->samples);
}

/* --- JSON --------------------------------------------------------------------------------- */

static void
put_text(struct speedscope *w, const char *s)
{
	if (!json_value_write(s, w->out))
		w->error = -FMT_E_NOMEM;
}

static int
put_frames(struct speedscope *w)
{
	const size_t n = profile_frames(w->x->profile);
	uint32_t number = 0;

	for (uint32_t id = 0; id < n; id++) {
		const struct frame *f = profile_frame(w->x->profile, id);

		if (!w->numbers[id])
			continue;

		buf_clear(&w->name);
		stack_export_frame_name(w->x, f, buf_text, &w->name);
		buf_u8(&w->name, 0);
		if (buf_failed(&w->name))
			return -FMT_E_NOMEM;
		fputs(number ? ",\n{\"name\":" : "\n{\"name\":", w->out);
		w->numbers[id] = number++;
		put_text(w, (const char *)w->name.p);
		if (f->dso_path) {
			fputs(",\"file\":", w->out);
			put_text(w, f->dso_path);
		}
		putc('}', w->out);
	}
	return 0;
}

static int
put_group_name(struct speedscope *w, const struct profile_stack *s)
{
	const struct profile_options *o = w->x->options;
	char number[64];

	buf_clear(&w->name);
	buf_text(&w->name, s->comm ? s->comm : "[unknown]");
#define NUMBER(by, key)                                                                            \
	if (o->by) {                                                                               \
		snprintf(number, sizeof(number), " " #key " %" PRIu32, s->key);                    \
		buf_text(&w->name, number);                                                        \
	}
	NUMBER(by_pid, pid)
	NUMBER(by_tid, tid)
	NUMBER(by_cpu, cpu)
	if (o->by_cgroup && s->cgroup) {
		buf_u8(&w->name, ' ');
		buf_text(&w->name, s->cgroup);
	}
	buf_u8(&w->name, 0);
	if (buf_failed(&w->name))
		return -FMT_E_NOMEM;
	put_text(w, (const char *)w->name.p);
	return 0;
}

static void
put_stack(struct speedscope *w, uint32_t stack)
{
	struct profile_stack s;

	profile_stack_at(w->x->profile, stack, &s);
	putc('[', w->out);
	for (uint32_t k = s.nr_frames; k-- > 0;)
		fprintf(w->out, "%" PRIu32 "%s", w->numbers[s.frames[k]], k ? "," : "");
	putc(']', w->out);
}

/* How many samples from the i-th on are of its stack, and what they weigh. */
static size_t
same_stack(const struct speedscope *w, const struct group *g, size_t i, uint64_t *ret_weight)
{
	const uint32_t *stacks = w->x->log->stacks;
	size_t n = 0;

	*ret_weight = 0;
	while (i + n < g->nr && stacks[g->samples[i + n]] == stacks[g->samples[i]])
		*ret_weight += weight_of(w, g->samples[i + n++]);
	return n;
}

/* In the order of times, which speedscope's first view shows. Equal neighbours are one. */
static int
put_group(struct speedscope *w, const struct group *g)
{
	const bool time = w->x->by_period &&
		stack_export_is_time(profile_event_name(w->x->profile, w->x->event));
	uint64_t weight;
	int err;

	fputs("{\"type\":\"sampled\",\"name\":", w->out);
	err = put_group_name(w, &g->who);
	fprintf(w->out,
		",\"unit\":\"%s\",\"startValue\":0,\"endValue\":%" PRIu64 ",\n\"samples\":[",
		time ? "nanoseconds" : "none", g->weight);
	for (size_t i = 0; i < g->nr; i += same_stack(w, g, i, &weight)) {
		fputs(i ? ",\n" : "\n", w->out);
		put_stack(w, w->x->log->stacks[g->samples[i]]);
	}
	fputs("],\n\"weights\":[", w->out);
	for (size_t i = 0, n; i < g->nr; i += n) {
		n = same_stack(w, g, i, &weight);
		fprintf(w->out, "%s%" PRIu64, i ? "," : "", weight);
	}
	fputs("]}", w->out);
	return err;
}

static int
put_all(struct speedscope *w)
{
	int err;

	fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
	      "\"exporter\":\"spoor\",\"activeProfileIndex\":0,\"name\":",
	      w->out);
	put_text(w, w->x->name);
	fputs(",\n\"shared\":{\"frames\":[", w->out);
	err = put_frames(w);
	fputs("]},\n\"profiles\":[", w->out);
	for (size_t i = 0; i < w->nr_groups && err == 0; i++) {
		if (i > 0)
			fputs(",\n", w->out);
		err = put_group(w, &w->groups[i]);
	}
	fputs("]}\n", w->out);
	return err ? err : w->error;
}

int
speedscope_write(const struct stack_export *x, FILE *out)
{
	const size_t n = profile_stacks(x->profile);
	struct speedscope w = { .x = x, .out = out };
	int err;

	buf_init(&w.name);
	w.group_of = malloc((n + 1) * sizeof(*w.group_of));
	w.samples = calloc(x->nr_logged + 1, sizeof(*w.samples));
	w.numbers = calloc(profile_frames(x->profile) + 1, sizeof(*w.numbers));
	err = w.group_of && w.samples && w.numbers ? 0 : -FMT_E_NOMEM;
	if (err == 0) {
		memset(w.group_of, 0xff, (n + 1) * sizeof(*w.group_of)); /* NO_GROUP */
		err = take_samples(&w);
	}
	if (err == 0) {
		if (w.nr_groups > 0)
			qsort(w.groups, w.nr_groups, sizeof(*w.groups), compare_groups);
		err = put_all(&w);
	}
	free(w.group_of);
	free(w.samples);
	free(w.numbers);
	free(w.groups);
	slots_done(&w.group_slots);
	buf_done(&w.name);
	return err;
}
