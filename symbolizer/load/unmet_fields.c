/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/load/unmet_fields.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/string.h>

#include "format/bytes/nearest.h"
#include "format/record/tracepoint.h"
#include "symbolizer/profile/trace_fields.h"
#include "symbolizer/text/escape.h"
#include "symbolizer/text/screen_text.h"

/* A field as the word would have it: the event by its system, without that, or any. */
static bool
name_like(const char *word, const struct tracepoint *t, const char *field,
	  char ret[UNMET_FIELD_BYTES])
{
	int n;

	if (*word == '*')
		n = snprintf(ret, UNMET_FIELD_BYTES, "*.%s", field);
	else if (strchr(word, ':'))
		n = snprintf(ret, UNMET_FIELD_BYTES, "%s:%s.%s", t->system, t->name, field);
	else
		n = snprintf(ret, UNMET_FIELD_BYTES, "%s.%s", t->name, field);
	return n < UNMET_FIELD_BYTES;
}

static void
look(struct unmet_field *u, const char *word, const struct tracepoint *t)
{
	const unsigned max = strlen(word) < 6 ? 1 : (unsigned)strlen(word) / 3;
	char name[UNMET_FIELD_BYTES];

	u->met |= trace_fields_find(word, strlen(word), t) != NULL;
	for (size_t i = 0; !u->met && i < t->nr_fields; i++) {
		unsigned distance;

		if (!name_like(word, t, t->fields[i].name, name))
			continue;
		distance = nearest_distance(word, name, max);
		if (distance > max || (*u->nearest && distance >= u->distance))
			continue;
		u->distance = distance;
		(void)strlcpy(u->nearest, name, sizeof(u->nearest));
	}
}

/* The next one of a list; false: there is none, or no room for its name. */
static bool
next_word(const char **list, char ret[UNMET_FIELD_BYTES])
{
	const size_t len = strcspn(*list, ",");

	if (len == 0 || len >= UNMET_FIELD_BYTES)
		return false;
	memcpy(ret, *list, len);
	ret[len] = '\0';
	*list += len + ((*list)[len] == ',');
	return true;
}

static void
see_format(struct unmet_fields *u, const char *list, const char *format)
{
	char word[UNMET_FIELD_BYTES];
	struct tracepoint *t;

	if (tracepoint_parse(format, &t) < 0)
		return;
	for (size_t i = 0; i < UNMET_FIELDS_MAX && next_word(&list, word); i++)
		look(&u->v[i], word, t);
	tracepoint_free(t);
}

void
unmet_fields_see(struct unmet_fields *u, const char *list, const struct event_set *events)
{
	for (size_t i = 0; list && i < event_set_count(events); i++)
		if (event_set_at(events, i)->format)
			see_format(u, list, event_set_at(events, i)->format);
}

void
unmet_fields_warn(const struct unmet_fields *u, const char *list, const char *path)
{
	char word[UNMET_FIELD_BYTES];

	for (size_t i = 0; list && i < UNMET_FIELDS_MAX && next_word(&list, word); i++) {
		const struct unmet_field *f = &u->v[i];
		char *typed, *name;

		if (f->met)
			continue;
		typed = escape_dup(word);
		name = escape_dup(f->nearest);
		if (typed && name)
			screen_text_warn("%s: no tracepoint here has the field %s%s%s%s", path,
					 typed, *name ? "; did you mean " : "", name,
					 *name ? "?" : "");
		free(typed);
		free(name);
	}
}
