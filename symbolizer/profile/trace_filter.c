/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/profile/trace_filter.h"

#include <stdlib.h>
#include <string.h>

#include "symbolizer/profile/trace_fields.h"

#define FIELDS_MAX 64

/* The one of this name, new or known; NULL: out of memory, or too many. */
static struct trace_wanted *
find_wanted(struct trace_filter *f, const char *field, size_t len)
{
	struct trace_wanted *v;

	for (size_t i = 0; i < f->n; i++)
		if (strlen(f->v[i].field) == len && memcmp(f->v[i].field, field, len) == 0)
			return &f->v[i];
	v = f->n < FIELDS_MAX ? reallocarray(f->v, f->n + 1, sizeof(*v)) : NULL;
	if (!v)
		return NULL;
	f->v = v;
	v[f->n] = (struct trace_wanted){ .field = strndup(field, len) };
	return v[f->n].field ? &v[f->n++] : NULL;
}

int
trace_filter_add(struct trace_filter *f, const char *arg, const char **reterr)
{
	const size_t len = strcspn(arg, "=");
	struct trace_wanted *w;

	if (!arg[len] || !trace_fields_is_one(arg, len)) {
		*reterr = "not EVENT.FIELD=NAMES, such as sched_switch.prev_comm=sh";
		return -1;
	}
	w = find_wanted(f, arg, len);
	if (!w) {
		*reterr = "too many fields";
		return -1;
	}
	return name_list_parse(&w->values, arg + len + 1, false, reterr);
}

void
trace_filter_done(struct trace_filter *f)
{
	for (size_t i = 0; i < f->n; i++) {
		free(f->v[i].field);
		name_list_done(&f->v[i].values);
	}
	free(f->v);
	*f = (struct trace_filter){ 0 };
}

static bool
has_value(const struct trace_wanted *w, const struct tracepoint *t, struct span raw)
{
	const struct tracepoint_field *f = t ? trace_fields_find(w->field, strlen(w->field), t)
					     : NULL;
	struct tracepoint_value v;
	struct buf text;
	bool has = false;

	if (!f || !tracepoint_value(f, raw, &v))
		return false;
	buf_init(&text);
	tracepoint_value_text(&v, &text);
	buf_u8(&text, 0);
	if (!buf_failed(&text))
		has = name_list_has(&w->values, (const char *)text.p);
	buf_done(&text);
	return has;
}

bool
trace_filter_has(const struct trace_filter *f, const struct tracepoint *t, struct span raw)
{
	bool all = true;

	for (size_t i = 0; i < f->n && all; i++)
		all = has_value(&f->v[i], t, raw);
	return all;
}
