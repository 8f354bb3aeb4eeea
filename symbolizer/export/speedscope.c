/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/export/speedscope.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes/array.h"
#include "format/bytes/fmt_error.h"
#include "format/bytes/slots.h"
#include "symbolizer/text/json_value.h"

/* Stacks of one command (process, thread...): a tab in speedscope. */
struct group {
	struct profile_stack who; /* its frames mean nothing */
	uint64_t weight;
};

struct member {
	uint32_t stack, group;
	uint64_t weight;
};

struct speedscope {
	const struct stack_export *x;
	FILE *out;
	struct group *groups;
	size_t nr_groups, cap_groups;
	struct slots group_slots;
	struct member *members;
	size_t nr_members;
	uint32_t *numbers; /* by id of a frame: of those that stacks have, from 0 */
	struct buf name;
	int error;
};

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

static int
take_stack(struct speedscope *w, size_t i)
{
	struct member *m = &w->members[w->nr_members];
	struct profile_stack s;
	struct group key;
	uint64_t hash;
	int err;

	if (!stack_export_stack(w->x, i, &s))
		return 0;
	for (uint32_t k = 0; k < s.nr_frames; k++)
		w->numbers[s.frames[k]] = 1;
	key = (struct group){ .who = s };
	hash = slots_mix(0, (uintptr_t)s.comm);
#define X(type, name) hash = slots_mix(hash, (uintptr_t)s.name);
	PROFILE_KEYS(X)
#undef X
	m->stack = (uint32_t)i;
	m->weight = w->x->by_period ? s.weight.period : s.weight.samples;
	err = slots_keep(&w->group_slots, (uint32_t)hash, group_same, w, &key, w->groups,
			 w->nr_groups, w->cap_groups, &m->group);
	if (err == 0)
		w->groups[m->group].weight += m->weight;
	w->nr_members++;
	return err;
}

/* The heaviest group first; of a group the heaviest stack. */
static int
compare_members(const void *va, const void *vb, void *arg)
{
	const struct member *a = va, *b = vb;
	const struct group *groups = ((const struct speedscope *)arg)->groups;
	const uint64_t ga = groups[a->group].weight, gb = groups[b->group].weight;

	if (ga != gb)
		return ga > gb ? -1 : 1;
	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return (a->stack > b->stack) - (a->stack < b->stack);
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

static int
put_group(struct speedscope *w, const struct member *m, size_t n)
{
	const bool time = w->x->by_period &&
		stack_export_is_time(profile_event_name(w->x->profile, w->x->event));
	int err;

	fputs("{\"type\":\"sampled\",\"name\":", w->out);
	err = put_group_name(w, &w->groups[m[0].group].who);
	fprintf(w->out,
		",\"unit\":\"%s\",\"startValue\":0,\"endValue\":%" PRIu64 ",\n\"samples\":[",
		time ? "nanoseconds" : "none", w->groups[m[0].group].weight);
	for (size_t i = 0; i < n; i++) {
		struct profile_stack s;

		profile_stack_at(w->x->profile, m[i].stack, &s);
		fputs(i ? ",\n[" : "\n[", w->out);
		for (uint32_t k = s.nr_frames; k-- > 0;)
			fprintf(w->out, "%" PRIu32 "%s", w->numbers[s.frames[k]], k ? "," : "");
		putc(']', w->out);
	}
	fputs("],\n\"weights\":[", w->out);
	for (size_t i = 0; i < n; i++)
		fprintf(w->out, "%s%" PRIu64, i ? "," : "", m[i].weight);
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
	for (size_t i = 0, n; i < w->nr_members && err == 0; i += n) {
		for (n = 1;
		     i + n < w->nr_members && w->members[i + n].group == w->members[i].group;)
			n++;
		if (i > 0)
			fputs(",\n", w->out);
		err = put_group(w, &w->members[i], n);
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
	w.members = calloc(n + 1, sizeof(*w.members));
	w.numbers = calloc(profile_frames(x->profile) + 1, sizeof(*w.numbers));
	err = w.members && w.numbers ? 0 : -FMT_E_NOMEM;
	for (size_t i = 0; i < n && err == 0; i++)
		err = take_stack(&w, i);
	if (err == 0) {
		qsort_r(w.members, w.nr_members, sizeof(*w.members), compare_members, &w);
		err = put_all(&w);
	}
	free(w.members);
	free(w.numbers);
	free(w.groups);
	slots_done(&w.group_slots);
	buf_done(&w.name);
	return err;
}
