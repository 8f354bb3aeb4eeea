/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/series/row_choice.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes/array.h"
#include "format/bytes/fmt_error.h"
#include "format/bytes/slots.h"
#include "symbolizer/profile/cgroup_verdicts.h"
#include "symbolizer/text/escape.h"

#define TRIES_MAX (4u << 20) /* of rows with control groups and functions, in all: seconds */

struct group {
	const char *path, *unit; /* the resolver's: equal ones are one pointer */
};

struct row_choice {
	const struct series *series;
	struct group *groups;
	size_t nr_groups, cap_groups;
	struct slots group_slots;
	struct buf value;
	size_t tries;
};

static bool
group_same(const void *owner, uint32_t index, const void *key)
{
	const struct group *a = &((const struct row_choice *)owner)->groups[index], *b = key;

	return a->path == b->path;
}

/* Control groups of all samples, where rows are of them. */
static int
find_groups(struct row_choice *c)
{
	const struct profile *p = c->series->load.profile;
	const enum time_series_key key = c->series->key;
	struct profile_stack s;
	uint32_t number;
	int err = 0;

	if (key != TIME_SERIES_unit && key != TIME_SERIES_cgroup)
		return 0;
	for (size_t i = 0; err == 0 && i < profile_stacks(p); i++) {
		profile_stack_at(p, i, &s);
		const struct group g = { s.cgroup, s.unit };

		if (g.path)
			err = slots_keep(&c->group_slots, (uint32_t)slots_mix((uintptr_t)g.path, 0),
					 group_same, c, &g, c->groups, c->nr_groups, c->cap_groups,
					 &number);
	}
	return err;
}

struct row_choice *
row_choice_new(const struct series *s)
{
	struct row_choice *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->series = s;
	buf_init(&c->value);
	if (find_groups(c) == 0)
		return c;
	row_choice_free(c);
	return NULL;
}

void
row_choice_free(struct row_choice *c)
{
	if (!c)
		return;
	free(c->groups);
	slots_done(&c->group_slots);
	buf_done(&c->value);
	free(c);
}

/* --- values ------------------------------------------------------------------------------ */

static const char *
value_end(struct row_choice *c)
{
	buf_u8(&c->value, 0);
	return buf_failed(&c->value) ? NULL : (const char *)c->value.p;
}

/* The pattern of a name; NULL: it cannot be written in a line of text, or there is no memory. */
static const char *
value_of_name(struct row_choice *c, const char *name)
{
	struct buf *b = &c->value;

	if (!*name)
		return NULL;
	buf_clear(b);
	escape(b, name);
	if (buf_failed(b) || b->len != strlen(name) || memcmp(b->p, name, b->len) != 0)
		return NULL;
	buf_clear(b);
	for (const char *p = name; *p; p++) {
		if (strchr(",*?\\", *p))
			buf_u8(b, '\\');
		buf_u8(b, (uint8_t)*p);
	}
	return value_end(c);
}

static const char *
value_of_number(struct row_choice *c, uint32_t n)
{
	char text[16];

	snprintf(text, sizeof(text), "%" PRIu32, n);
	buf_clear(&c->value);
	buf_text(&c->value, text);
	return value_end(c);
}

/* Was a filter given, with the character in its value? NUL: with any value. */
static bool
filter_has(const struct row_choice *c, int option, char character)
{
	const struct buf *filters = &c->series->options->load.filters;
	const char *name = filter_option_name(option), *text = (const char *)filters->p;
	const size_t len = strlen(name);

	/* "--name value" */
	for (size_t at = 0; at < filters->len; at += strlen(text + at) + 1)
		if (strncmp(text + at + 2, name, len) == 0 && text[at + 2 + len] == ' ' &&
		    strchr(text + at + 2 + len, character))
			return true;
	return false;
}

/* --- rows -------------------------------------------------------------------------------- */

static bool
has_tries(struct row_choice *c, size_t n)
{
	c->tries += n;
	return c->tries <= TRIES_MAX;
}

/* Does the option have groups of that name, and no others? */
static bool
groups_are(struct row_choice *c, int option, const char *value, const char *name)
{
	const bool by_unit = c->series->key == TIME_SERIES_unit;
	struct cgroup_choice asked = { .groups = { .n = 0 } };
	const char *why;
	bool same = value && has_tries(c, c->nr_groups) &&
		(option == FILTER_OPTION_unit ? cgroup_choice_units(&asked, value, &why)
					      : cgroup_choice_groups(&asked, value, &why)) == 0;

	for (size_t i = 0; same && i < c->nr_groups; i++) {
		const struct group *g = &c->groups[i];

		same = cgroup_verdict(NULL, &asked, g->path) ==
			((by_unit ? g->unit : g->path) == name);
	}
	cgroup_choice_done(&asked);
	return same;
}

/* The only group of a unit; NULL: it has several. */
static const char *
group_of_unit(const struct row_choice *c, const char *unit)
{
	const char *path = NULL;

	for (size_t i = 0; i < c->nr_groups; i++) {
		if (c->groups[i].unit != unit)
			continue;
		if (path)
			return NULL;
		path = c->groups[i].path;
	}
	return path;
}

static bool
find_group(struct row_choice *c, const char *name, struct row_options *ret)
{
	const char *path = name;

	if (c->series->key == TIME_SERIES_unit) {
		/* Units that were asked for would be lost with their option. */
		if (!filter_has(c, FILTER_OPTION_unit, '\0') && !strchr(name, '/')) {
			ret->name = filter_option_name(FILTER_OPTION_unit);
			ret->value = value_of_name(c, name);
			if (groups_are(c, FILTER_OPTION_unit, ret->value, name))
				return true;
		}
		path = has_tries(c, c->nr_groups) ? group_of_unit(c, name) : NULL;
	}
	ret->name = filter_option_name(FILTER_OPTION_cgroup);
	ret->value = path ? value_of_name(c, path) : NULL;
	return groups_are(c, FILTER_OPTION_cgroup, ret->value, name);
}

/* Code in a kernel whose frames do not say so. */
static bool
is_of_guest(const struct frame *f)
{
	return !f->kernel && f->dso &&
		(strcmp(f->dso, "[guest.kernel]") == 0 || strcmp(f->dso, "[hypervisor]") == 0);
}

static bool
find_symbol(struct row_choice *c, const struct time_series_row *row, struct row_options *ret)
{
	const struct profile *p = c->series->load.profile;
	bool twice = false, guest = false;

	/* --symbol is of what was sampled, and these show another frame in its place. */
	if (filter_has(c, FILTER_OPTION_hide, '\0') || filter_has(c, FILTER_OPTION_show, '\0') ||
	    filter_has(c, FILTER_OPTION_show_from, '\0') || !has_tries(c, profile_frames(p)))
		return false;
	for (uint32_t i = 0; i < profile_frames(p); i++) {
		const struct frame *f = profile_frame(p, i);

		if (frame_label(f) != row->name)
			continue;
		twice |= f->kernel != (row->number != 0);
		guest |= is_of_guest(f);
	}
	ret->name = filter_option_name(FILTER_OPTION_symbol);
	ret->value = value_of_name(c, row->name ? row->name : "[unknown]");
	if (!twice)
		return ret->value != NULL;
	ret->mode = filter_option_name(row->number ? FILTER_OPTION_kernel : FILTER_OPTION_user);
	return ret->value && !guest && !filter_has(c, FILTER_OPTION_kernel, '\0') &&
		!filter_has(c, FILTER_OPTION_user, '\0');
}

static bool
find_object(struct row_choice *c, const char *name, struct row_options *ret)
{
	/* What has a '/' is compared with paths. */
	if (filter_has(c, FILTER_OPTION_dso, '/') || strchr(name, '/'))
		return false;
	ret->name = filter_option_name(FILTER_OPTION_dso);
	ret->value = value_of_name(c, name);
	return ret->value != NULL;
}

bool
row_choice_find(struct row_choice *c, const struct time_series_row *row, struct row_options *ret)
{
	*ret = (struct row_options){ .name = NULL };
	if (row == time_series_others(c->series->rows))
		return false;
	if (time_series_all(c->series->rows)->members == 1)
		return true;
	switch (c->series->key) {
	case TIME_SERIES_unit:
	case TIME_SERIES_cgroup:
		return find_group(c, row->name, ret);
	case TIME_SERIES_sym:
		return find_symbol(c, row, ret);
	case TIME_SERIES_dso:
		return find_object(c, row->name ? row->name : "[unknown]", ret);
	case TIME_SERIES_comm:
		ret->name = filter_option_name(FILTER_OPTION_comm);
		ret->value = value_of_name(c, row->name);
		return ret->value != NULL;
	case TIME_SERIES_pid:
		ret->name = filter_option_name(FILTER_OPTION_pid);
		ret->value = value_of_number(c, row->number);
		return ret->value != NULL;
	case TIME_SERIES_cpu:
		ret->name = filter_option_name(FILTER_OPTION_cpu);
		ret->value = value_of_number(c, row->number);
		return ret->value != NULL;
	default:
		return false;
	}
}

const char *
row_choice_event(struct row_choice *c)
{
	const struct load *l = &c->series->load;
	const int event = c->series->event;
	const char *name = load_event_name(l, event);

	if (!profile_event_is_only(l->profile, event))
		return NULL;
	return value_of_name(c, name);
}
