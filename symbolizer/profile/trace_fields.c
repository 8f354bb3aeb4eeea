/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/profile/trace_fields.h"

#include <string.h>

/* Where FIELD begins; NULL: the word has another form. */
static const char *
field_of(const char *word, size_t len)
{
	const char *dot = memrchr(word, '.', len);

	return dot && dot > word && dot + 1 < word + len ? dot + 1 : NULL;
}

bool
trace_fields_is_one(const char *word, size_t len)
{
	return field_of(word, len) != NULL;
}

static bool
is_name(const char *word, size_t len, const char *name)
{
	return strlen(name) == len && memcmp(word, name, len) == 0;
}

static bool
is_event(const char *word, size_t len, const struct tracepoint *t)
{
	const size_t system = strlen(t->system);

	if (is_name(word, len, "*") || is_name(word, len, t->name))
		return true;
	return len > system && word[system] == ':' && memcmp(word, t->system, system) == 0 &&
		is_name(word + system + 1, len - system - 1, t->name);
}

const struct tracepoint_field *
trace_fields_find(const char *word, size_t len, const struct tracepoint *t)
{
	const char *field = field_of(word, len);

	if (!field || !is_event(word, (size_t)(field - 1 - word), t))
		return NULL;
	return tracepoint_find(t, field, len - (size_t)(field - word));
}

void
trace_fields_text(const char *list, const struct tracepoint *t, struct span raw, struct buf *out)
{
	const bool several = strchr(list, ',') != NULL;
	struct tracepoint_value v;
	bool first = true;

	while (*list) {
		const size_t len = strcspn(list, ",");
		const struct tracepoint_field *f = trace_fields_find(list, len, t);

		list += len + (list[len] == ',');
		if (!f || !tracepoint_value(f, raw, &v))
			continue;
		if (several) {
			buf_text(out, first ? "" : " ");
			buf_text(out, f->name);
			buf_u8(out, '=');
		}
		tracepoint_value_text(&v, out);
		first = false;
	}
}
