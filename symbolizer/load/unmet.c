/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/load/unmet.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/string.h>

#include "format/bytes/array.h"
#include "format/bytes/buf.h"
#include "format/bytes/nearest.h"
#include "format/bytes/unit_name.h"
#include "symbolizer/profile/profile.h"
#include "symbolizer/text/escape.h"
#include "symbolizer/text/screen_text.h"
#include "symbolizer/load/gathering.h"

#define NAME_BYTES 256	/* of a name that is told */
#define NAMES_MAX 65536 /* that are looked at */
#define TOLD 8
#define MEANT 3

/* A name of the kind that was asked for, with its samples. */
struct there {
	char name[NAME_BYTES];
	uint64_t samples;
	unsigned distance; /* from what was typed */
};

struct names {
	struct there *v;
	size_t n, cap;
	int kind;  /* enum filter_option */
	bool full; /* of different ones */
};

/* --- what there is ----------------------------------------------------------------------- */

static bool
of_functions(int kind)
{
	switch (kind) {
	case FILTER_OPTION_comm:
	case FILTER_OPTION_pid:
	case FILTER_OPTION_tid:
	case FILTER_OPTION_cpu:
	case FILTER_OPTION_event:
	case FILTER_OPTION_cgroup:
	case FILTER_OPTION_unit:
	case FILTER_OPTION_slice:
		return false;
	}
	return true;
}

static bool
of_groups(int kind)
{
	return kind == FILTER_OPTION_cgroup || kind == FILTER_OPTION_unit ||
		kind == FILTER_OPTION_slice;
}

static bool
of_frames(int kind)
{
	switch (kind) {
	case FILTER_OPTION_focus:
	case FILTER_OPTION_ignore:
	case FILTER_OPTION_hide:
	case FILTER_OPTION_show:
	case FILTER_OPTION_show_from:
		return true;
	}
	return false;
}

static void
name_of(int kind, const struct profile *p, const struct profile_stack *s, char out[NAME_BYTES])
{
	const struct frame *leaf = profile_frame(p, s->frames[0]);
	const char *label = frame_label(leaf);
	size_t len;

	out[0] = '\0';
	if (kind == FILTER_OPTION_comm)
		(void)strlcpy(out, s->comm, NAME_BYTES);
	else if (kind == FILTER_OPTION_pid)
		snprintf(out, NAME_BYTES, "%" PRIu32 " (%.32s)", s->pid, s->comm);
	else if (kind == FILTER_OPTION_tid)
		snprintf(out, NAME_BYTES, "%" PRIu32 " (%.32s)", s->tid, s->comm);
	else if (kind == FILTER_OPTION_cpu)
		snprintf(out, NAME_BYTES, "%" PRIu32, s->cpu);
	else if (kind == FILTER_OPTION_event)
		(void)strlcpy(out, profile_event_name(p, s->event), NAME_BYTES);
	else if (kind == FILTER_OPTION_cgroup)
		unit_name_shorten(s->cgroup, out, NAME_BYTES);
	else if (kind == FILTER_OPTION_dso)
		(void)strlcpy(out, leaf->dso, NAME_BYTES);
	else if (!of_groups(kind))
		(void)strlcpy(out, label ? label : "[unknown]", NAME_BYTES);
	else {
		const char *unit = kind == FILTER_OPTION_unit
			? unit_name_of_cgroup(s->cgroup, &len)
			: unit_name_slice_of_cgroup(s->cgroup, &len);
		char whole[NAME_BYTES];

		snprintf(whole, sizeof(whole), "%.*s", (int)len, unit);
		unit_name_shorten(whole, out, NAME_BYTES);
	}
}

static int
by_name(const void *a, const void *b)
{
	return strcmp(((const struct there *)a)->name, ((const struct there *)b)->name);
}

/* Equal names become one. */
static void
names_merge(struct names *names)
{
	size_t kept = 0;

	qsort(names->v, names->n, sizeof(*names->v), by_name);
	for (size_t i = 0; i < names->n; i++) {
		if (kept > 0 && strcmp(names->v[kept - 1].name, names->v[i].name) == 0)
			names->v[kept - 1].samples += names->v[i].samples;
		else
			names->v[kept++] = names->v[i];
	}
	names->n = kept;
}

static int
names_add(struct names *names, const char *name, uint64_t samples)
{
	if (names->n == NAMES_MAX && !names->full) {
		names_merge(names);
		/* Another merge is to be worth its while. */
		names->full = names->n > NAMES_MAX / 2;
	}
	if (names->n == NAMES_MAX)
		return 0;
	if (array_reserve(names->v, names->n, names->cap, 1) != 0)
		return -FMT_E_NOMEM;
	names->v[names->n] = (struct there){ .samples = samples };
	(void)strlcpy(names->v[names->n++].name, name, NAME_BYTES);
	return 0;
}

/* Of frames, wherever they are in stacks: with the samples of those. */
static int
names_of_frames(struct names *names, const struct profile *p)
{
	uint64_t *samples = calloc(profile_frames(p) + 1, sizeof(*samples));
	int err = samples ? 0 : -FMT_E_NOMEM;

	for (size_t i = 0; err == 0 && i < profile_stacks(p); i++) {
		struct profile_stack s;

		profile_stack_at(p, i, &s);
		for (uint32_t k = 0; k < s.nr_frames; k++)
			samples[s.frames[k]] += s.weight.samples;
	}
	for (uint32_t id = 0; err == 0 && id < profile_frames(p); id++) {
		const char *label = frame_label(profile_frame(p, id));

		err = label ? names_add(names, label, samples[id]) : 0;
	}
	free(samples);
	names_merge(names);
	return err;
}

static int
names_of_profile(struct names *names, const struct profile *p)
{
	char name[NAME_BYTES];
	int err = 0;

	for (size_t i = 0; err == 0 && i < profile_stacks(p); i++) {
		struct profile_stack s;

		profile_stack_at(p, i, &s);
		name_of(names->kind, p, &s, name);
		err = names_add(names, name, s.weight.samples);
	}
	names_merge(names);
	return err;
}

/* The recordings once more, without a word. */
static int
read_again(struct input_set *set, struct resolver *resolver, struct profile *p,
	   const struct profile_options *po)
{
	struct gathering *g = gathering_new(set, po, NULL, NULL, NULL);
	struct resolver_recording recording;
	uint64_t shift_ns;
	int err = g ? 0 : -FMT_E_NOMEM;

	while (err == 0 && gathering_next(g, &recording, &shift_ns) > 0) {
		struct fmt_where where = { 0 };
		struct gather *gather = NULL;

		err = resolver_begin(resolver, &recording);
		profile_begin(p, shift_ns);
		if (err == 0 && gathering_take(g, profile_take, p, &gather, &where) == -FMT_E_NOMEM)
			err = -FMT_E_NOMEM;
		profile_end(p, gather);
		gathering_finish(g);
		if (err == 0)
			err = input_set_finish(set);
	}
	gathering_free(g);
	return err;
}

static int
names_find(struct names *names, const struct input_set *of, const struct resolver_options *options)
{
	struct filter *window = filter_of_times(of->filter);
	const struct resolver_options none = { .no_demangle = true };
	const struct profile_options po = {
		.filter = window,
		.leaf_only = !of_frames(names->kind),
		.by_cgroup = of_groups(names->kind),
		.by_pid = names->kind == FILTER_OPTION_pid,
		.by_tid = names->kind == FILTER_OPTION_tid,
		.by_cpu = names->kind == FILTER_OPTION_cpu,
	};
	struct resolver *resolver = resolver_new(options ? options : &none);
	struct profile *p = resolver ? profile_new(resolver, NULL, &po) : NULL;
	struct input_set set;
	int err = -FMT_E_NOMEM;

	if (window && p && input_set_open(&set, of->path, window) == 0) {
		set.silent = true;
		err = read_again(&set, resolver, p, &po);
		if (err == 0)
			err = po.leaf_only ? names_of_profile(names, p) : names_of_frames(names, p);
		input_set_close(&set);
	}
	profile_free(p);
	resolver_free(resolver);
	filter_free(window);
	return err;
}

/* --- words ------------------------------------------------------------------------------- */

static int
by_distance(const void *va, const void *vb)
{
	const struct there *a = va, *b = vb;

	if (a->distance != b->distance)
		return a->distance < b->distance ? -1 : 1;
	if (a->samples != b->samples)
		return a->samples > b->samples ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* Of a path, the last component alone may be it. Above what is allowed: UINT_MAX. */
static unsigned
distance_of(int kind, const char *typed, const char *name)
{
	const bool path = of_groups(kind);
	const char *last = path ? strrchr(name, '/') : NULL;
	char wanted[NAME_BYTES], got[NAME_BYTES];
	unsigned distance, max = nearest_allowed(typed);

	if (kind == FILTER_OPTION_pid || kind == FILTER_OPTION_tid || kind == FILTER_OPTION_cpu)
		return UINT_MAX;
	distance = nearest_distance(typed, name, max);
	if (path && distance > max) {
		unit_name_stem(typed, wanted, sizeof(wanted));
		unit_name_stem(last ? last + 1 : name, got, sizeof(got));
		max = nearest_allowed(wanted);
		distance = nearest_distance(wanted, got, max);
	}
	return distance > max ? UINT_MAX : distance;
}

static void
list(struct buf *out, const struct there *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		buf_text(out, i ? ", " : "");
		escape(out, v[i].name);
	}
}

/* "; did you mean A or B? There are C, D and 3 more"; v is in the order of what was typed. */
static void
tell(struct buf *out, const struct names *names, const char *typed)
{
	size_t meant = 0, rest;
	char more[48];

	for (size_t i = 0; i < names->n; i++)
		names->v[i].distance = distance_of(names->kind, typed, names->v[i].name);
	qsort(names->v, names->n, sizeof(*names->v), by_distance);
	while (meant < names->n && meant < MEANT && names->v[meant].distance < UINT_MAX)
		meant++;
	if (meant > 0) {
		buf_text(out, "; did you mean ");
		list(out, names->v, meant);
		buf_text(out, "?");
	}
	for (size_t i = meant; i < names->n; i++)
		names->v[i].distance = names->kind == FILTER_OPTION_cpu
			? (unsigned)strtoul(names->v[i].name, NULL, 10)
			: UINT_MAX;
	qsort(names->v + meant, names->n - meant, sizeof(*names->v), by_distance);
	rest = names->n - meant;
	if (rest == 0)
		return;
	buf_text(out, meant > 0 ? " There are also " : "; there are ");
	list(out, names->v + meant, rest < TOLD ? rest : TOLD);
	if (rest > TOLD) {
		snprintf(more, sizeof(more), " and %zu more", rest - TOLD);
		buf_text(out, more);
	}
}

static bool
names_have(const struct names *names, const char *name)
{
	for (size_t i = 0; i < names->n; i++)
		if (strcmp(names->v[i].name, name) == 0)
			return true;
	return false;
}

static void
warn_one(const struct input_set *set, const struct filter_unmet *u, struct names *names)
{
	struct buf text;

	buf_init(&text);
	escape(&text, u->value);
	buf_text(&text, ": ");
	buf_text(&text,
		 of_frames(u->option) ? "no function, file or object of a stack" : "no sample");
	if (names_have(names, u->value))
		buf_text(&text, " that the other options leave");
	else if (names->n > 0)
		tell(&text, names, u->value);
	buf_append(&text, "", 1);
	if (!buf_failed(&text))
		screen_text_warn("%s: --%s %s", set->path, filter_option_name(u->option),
				 (const char *)text.p);
	buf_done(&text);
}

void
unmet_warn(const struct input_set *set, const struct resolver_options *options)
{
	struct names names = { .kind = -1 };
	struct filter_unmet u;
	size_t cursor = 0;

	if (!set->filter || set->samples == 0)
		return;
	while (filter_next_unmet(set->filter, &cursor, &u)) {
		const bool known = !set->once && (options || !of_functions(u.option));

		/* What one was told of, the next one of its kind is. */
		if (names.kind != u.option || names.n == 0) {
			names.n = 0;
			names.kind = u.option;
			if (known && names_find(&names, set, options) < 0)
				names.n = 0;
		}
		warn_one(set, &u, &names);
	}
	free(names.v);
}
