/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/profile/filter.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/stdlib.h>

struct filter {
	struct name_list comm, dso, symbol, event;
	struct name_list parts; /* of symbols: --symbol-filter's */
	struct number_list pid, tid, cpu;
	struct cgroup_choice cgroups;
	struct trace_filter trace;
	struct time_choice times;
	struct frame_filter frames;
	size_t max_stack;
	bool kernel, user;
	bool given;
	char unmet[32]; /* numbers, as text */
};

struct filter *
filter_new(int64_t now_ns)
{
	struct filter *f = calloc(1, sizeof(*f));

	if (f)
		time_choice_init(&f->times, now_ns);
	if (f)
		f->max_stack = SIZE_MAX;
	return f;
}

void
filter_free(struct filter *f)
{
	if (!f)
		return;
	name_list_done(&f->comm);
	name_list_done(&f->dso);
	name_list_done(&f->symbol);
	name_list_done(&f->parts);
	name_list_done(&f->event);
	number_list_done(&f->pid);
	number_list_done(&f->tid);
	number_list_done(&f->cpu);
	cgroup_choice_done(&f->cgroups);
	trace_filter_done(&f->trace);
	time_choice_done(&f->times);
	frame_filter_done(&f->frames);
	free(f);
}

static int
max_stack_parse(struct filter *f, const char *arg, const char **reterr)
{
	const char *bad;

	f->max_stack = (size_t)strtonum(arg, 1, UINT32_MAX, &bad);
	if (!bad)
		return 0;
	*reterr = "not a number of frames";
	return -1;
}

static int
tasks_parse(struct number_list *l, const char *arg, const char **reterr)
{
	const int status = number_list_parse(l, arg, false, reterr);

	if (status < 0 && isalpha((unsigned char)*arg))
		*reterr = "not a number; --comm chooses by name";
	return status;
}

int
filter_set(struct filter *f, int option, const char *arg, const char **reterr)
{
	f->given = true;
	switch (option) {
	case FILTER_OPTION_comm:
		return name_list_parse(&f->comm, arg, false, reterr);
	case FILTER_OPTION_dso:
		return name_list_parse(&f->dso, arg, false, reterr);
	case FILTER_OPTION_symbol:
		return name_list_parse(&f->symbol, arg, true, reterr);
	case FILTER_OPTION_symbol_filter:
		return name_list_add(&f->parts, arg, strlen(arg), reterr);
	case FILTER_OPTION_focus:
		return frame_filter_add(&f->frames, FRAME_FOCUS, arg, reterr);
	case FILTER_OPTION_ignore:
		return frame_filter_add(&f->frames, FRAME_IGNORE, arg, reterr);
	case FILTER_OPTION_hide:
		return frame_filter_add(&f->frames, FRAME_HIDE, arg, reterr);
	case FILTER_OPTION_show:
		return frame_filter_add(&f->frames, FRAME_SHOW, arg, reterr);
	case FILTER_OPTION_show_from:
		return frame_filter_add(&f->frames, FRAME_SHOW_FROM, arg, reterr);
	case FILTER_OPTION_max_stack:
		return max_stack_parse(f, arg, reterr);
	case FILTER_OPTION_event:
		return name_list_parse(&f->event, arg, false, reterr);
	case FILTER_OPTION_cgroup:
		return cgroup_choice_groups(&f->cgroups, arg, reterr);
	case FILTER_OPTION_unit:
		return cgroup_choice_units(&f->cgroups, arg, reterr);
	case FILTER_OPTION_slice:
		return cgroup_choice_slices(&f->cgroups, arg, reterr);
	case FILTER_OPTION_pid:
		return tasks_parse(&f->pid, arg, reterr);
	case FILTER_OPTION_tid:
		return tasks_parse(&f->tid, arg, reterr);
	case FILTER_OPTION_cpu:
		return number_list_parse(&f->cpu, arg, true, reterr);
	case FILTER_OPTION_trace:
		return trace_filter_add(&f->trace, arg, reterr);
	case FILTER_OPTION_kernel:
		f->kernel = true;
		return 0;
	case FILTER_OPTION_user:
		f->user = true;
		return 0;
	case FILTER_OPTION_time:
		return time_choice_slices(&f->times, arg, reterr);
	case FILTER_OPTION_since:
		return time_choice_since(&f->times, arg, reterr);
	case FILTER_OPTION_until:
		return time_choice_until(&f->times, arg, reterr);
	case FILTER_OPTION_last:
		return time_choice_last(&f->times, arg, reterr);
	}
	*reterr = "not a filter";
	return -1;
}

bool
filter_given(const struct filter *f)
{
	return f->given;
}

struct time_choice *
filter_times(struct filter *f)
{
	return &f->times;
}

const struct time_choice *
filter_times_const(const struct filter *f)
{
	return &f->times;
}

/* All are asked, whatever the first one says: which values were met is to be known of each. */
bool
filter_scope(const struct filter *f, const struct filter_subject *s)
{
	const bool cpu = number_list_has(&f->cpu, s->cpu);

	return name_list_has(&f->event, s->event) && cpu;
}

bool
filter_sample(const struct filter *f, const struct filter_subject *s)
{
	const bool pid = number_list_has(&f->pid, s->pid), tid = number_list_has(&f->tid, s->tid);
	const bool comm = f->comm.n == 0 || name_list_has(&f->comm, s->comm);
	const bool cgroup = cgroup_verdict(s->verdicts, &f->cgroups, s->cgroup);

	return pid && tid && comm && cgroup;
}

bool
filter_by_cgroup(const struct filter *f)
{
	return cgroup_choice_given(&f->cgroups);
}

bool
filter_by_trace(const struct filter *f)
{
	return f->trace.n > 0;
}

bool
filter_trace(const struct filter *f, const struct tracepoint *t, struct span raw)
{
	return trace_filter_has(&f->trace, t, raw);
}

bool
filter_by_cpu(const struct filter *f)
{
	return f->cpu.n > 0;
}

bool
filter_wants_cpu(const struct filter *f, uint32_t cpu)
{
	return number_list_asks(&f->cpu, cpu);
}

bool
filter_by_comm(const struct filter *f)
{
	return f->comm.n > 0;
}

bool
filter_by_leaf(const struct filter *f)
{
	return f->dso.n > 0 || f->symbol.n > 0 || f->parts.n > 0 || f->kernel || f->user ||
		f->frames.given;
}

/* A pattern of --dso with a '/' in it is of the path, any other of the short name. */
static bool
dso_wanted(const struct filter *f, const char *dso, const char *dso_path)
{
	bool any = f->dso.n == 0;

	for (size_t i = 0; i < f->dso.n; i++) {
		struct name_value *v = &f->dso.v[i];

		if (!name_value_matches(v->text, strchr(v->text, '/') ? dso_path : dso))
			continue;
		v->met = true;
		any = true;
	}
	return any;
}

bool
filter_leaf(const struct filter *f, const char *dso, const char *dso_path, const char *symbol)
{
	const bool object = dso_wanted(f, dso, dso_path);
	bool named;

	if (!symbol)
		symbol = "[unknown]";
	named = name_list_has(&f->symbol, symbol);
	return name_list_has_part(&f->parts, symbol) && named && object;
}

bool
filter_mode(const struct filter *f, bool kernel)
{
	return f->kernel == f->user || f->kernel == kernel;
}

const struct frame_filter *
filter_frames(const struct filter *f)
{
	return f->frames.given ? &f->frames : NULL;
}

size_t
filter_max_stack(const struct filter *f)
{
	return f->max_stack;
}

/* --- what was not met -------------------------------------------------------------------- */

struct filter *
filter_of_times(const struct filter *f)
{
	struct filter *new = filter_new(f->times.now_ns);

	if (new &&time_choice_copy(&new->times, &f->times) < 0) {
		filter_free(new);
		return NULL;
	}
	return new;
}

/* Counts *skip down to the one that is looked for. */
static const char *
unmet_name(const struct name_list *l, size_t *skip)
{
	for (size_t i = 0; i < l->n; i++)
		if (!l->v[i].met && (*skip)-- == 0)
			return l->v[i].text;
	return NULL;
}

static const char *
unmet_number(struct filter *f, const struct number_list *l, size_t *skip)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct number_value *v = &l->v[i];

		if (v->met || (*skip)-- > 0)
			continue;
		if (v->first == v->last)
			snprintf(f->unmet, sizeof(f->unmet), "%" PRIu32, v->first);
		else
			snprintf(f->unmet, sizeof(f->unmet), "%" PRIu32 "-%" PRIu32, v->first,
				 v->last);
		return f->unmet;
	}
	return NULL;
}

static bool
unmet_pattern(const struct frame_filter *f, size_t *skip, struct filter_unmet *ret)
{
	static const int options[FRAME_FILTER_KINDS] = {
		[FRAME_FOCUS] = FILTER_OPTION_focus,	     [FRAME_IGNORE] = FILTER_OPTION_ignore,
		[FRAME_HIDE] = FILTER_OPTION_hide,	     [FRAME_SHOW] = FILTER_OPTION_show,
		[FRAME_SHOW_FROM] = FILTER_OPTION_show_from,
	};

	for (size_t i = 0; i < f->n; i++)
		if (!f->v[i].met && (*skip)-- == 0) {
			*ret = (struct filter_unmet){ options[f->v[i].kind], f->v[i].text };
			return true;
		}
	return false;
}

bool
filter_next_unmet(struct filter *f, size_t *cursor, struct filter_unmet *ret)
{
	const struct {
		int option;
		const struct name_list *names;
		const struct number_list *numbers;
	} lists[] = {
		{ FILTER_OPTION_comm, &f->comm, NULL },
		{ FILTER_OPTION_pid, NULL, &f->pid },
		{ FILTER_OPTION_tid, NULL, &f->tid },
		{ FILTER_OPTION_cpu, NULL, &f->cpu },
		{ FILTER_OPTION_unit, &f->cgroups.units, NULL },
		{ FILTER_OPTION_slice, &f->cgroups.slices, NULL },
		{ FILTER_OPTION_cgroup, &f->cgroups.groups, NULL },
		{ FILTER_OPTION_event, &f->event, NULL },
		{ FILTER_OPTION_dso, &f->dso, NULL },
		{ FILTER_OPTION_symbol, &f->symbol, NULL },
		{ FILTER_OPTION_symbol_filter, &f->parts, NULL },
	};
	size_t skip = (*cursor)++;

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		const char *value = lists[i].names ? unmet_name(lists[i].names, &skip)
						   : unmet_number(f, lists[i].numbers, &skip);

		if (value) {
			*ret = (struct filter_unmet){ lists[i].option, value };
			return true;
		}
	}
	return unmet_pattern(&f->frames, &skip, ret);
}

const char *
filter_option_name(int option)
{
	switch (option) {
#define X(id, letter, name, ...)                                                                   \
	case FILTER_OPTION_##id:                                                                   \
		return name;
		FILTER_OPTIONS(X)
#undef X
	}
	return "";
}
