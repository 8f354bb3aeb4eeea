/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/event/event_group_spec.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "recorder/event/event_spec_internal.h"

#define MODIFIERS "ukhIGHpPDeSW"

struct group_parser {
	const char *text; /* the argument */
	const struct event_spec_roots *roots;
	struct event_spec_list *list;
	char *err;
	size_t err_bytes;
};

/* As event_parser_fail(), of the whole argument. */
#define group_fail(p, where, ...)                                                                  \
	event_parser_fail(&(struct event_parser){ .text = (p)->text,                               \
						  .event = (p)->text,                              \
						  .bytes = strlen((p)->text),                      \
						  .err = (p)->err,                                 \
						  .err_bytes = (p)->err_bytes },                   \
			  where, __VA_ARGS__)

/* Length of "NAME{" at the start of an event; 0: none is there. */
static size_t
group_opening(const char *text)
{
	size_t n = 0;

	while (event_spec_blank(text[n]))
		n++;
	while (isalnum((unsigned char)text[n]) || (text[n] && strchr("_-.", text[n])))
		n++;
	return text[n] == '{' ? n + 1 : 0;
}

/* Beside those that the event has itself: u and k together are user space and kernel. */
static void
add_modifiers(struct event_spec *s, const char *mods)
{
	struct perf_event_attr *attr = &s->attr;
	bool level = strpbrk(mods, "ukh"), guests = strpbrk(mods, "GH");

	if (level && !attr->exclude_user && !attr->exclude_kernel && !attr->exclude_hv)
		attr->exclude_user = attr->exclude_kernel = attr->exclude_hv = 1;
	if (guests && !s->attr.exclude_host)
		attr->exclude_guest = attr->exclude_host = 1;
	for (const char *m = mods; *m; m++) {
		attr->exclude_user &= *m != 'u';
		attr->exclude_kernel &= *m != 'k';
		attr->exclude_hv &= *m != 'h';
		attr->exclude_guest &= *m != 'G';
		attr->exclude_host &= *m != 'H';
		attr->exclude_idle |= *m == 'I';
		attr->pinned |= *m == 'D';
		attr->exclusive |= *m == 'e';
		if (*m == 'p' && attr->precise_ip < 3)
			attr->precise_ip++;
		s->precise_max |= *m == 'P';
		s->sample_read |= *m == 'S';
		s->weak |= *m == 'W';
	}
}

/* So many bytes of them. */
static int
check_modifiers(const struct group_parser *p, const char *mods, size_t bytes)
{
	size_t known = strspn(mods, MODIFIERS);

	if (known >= bytes)
		return 0;
	return group_fail(p, mods + known,
			  "unknown modifier '%c' of a group (there are u k h I G H p P D e S W)",
			  mods[known]);
}

/* Makes a group of the events from first on. */
static int
group_close(const struct group_parser *p, const char *text, size_t first, const char *mods)
{
	struct event_spec *specs = p->list->specs;
	size_t nr = p->list->nr - first;
	bool read = false, weak = false;
	uint32_t last = 0;

	if (nr > EVENT_GROUP_MAX)
		return group_fail(p, text, "more than %d events in a group", EVENT_GROUP_MAX);
	/* Only the leader of a group is turned off and on, and a group may have to wait for counters. */
	for (size_t i = first; i < p->list->nr; i++)
		if (specs[i].attr.context_switch)
			return group_fail(p, text, "off-cpu is in no group: each switch counts");
	/* Its places have counts of their own, and one of them would lead the others. */
	for (size_t i = first; i < p->list->nr; i++)
		if (specs[i].nr_more)
			return group_fail(p, text, "a probe of several places is in no group");
	for (size_t i = 0; i < first; i++)
		last = specs[i].group > last ? specs[i].group : last;
	for (size_t i = first; i < p->list->nr; i++) {
		add_modifiers(&specs[i], mods);
		read |= specs[i].sample_read;
		weak |= specs[i].weak;
	}
	for (size_t i = first; i < p->list->nr; i++) {
		specs[i].group = last + 1;
		specs[i].sample_read = read;
		specs[i].weak = weak;
		/* "Only a group leader can be exclusive or pinned" (perf_event_open()). */
		if (i > first)
			specs[i].attr.pinned = specs[i].attr.exclusive = 0;
	}
	return 0;
}

static int
group_events(const struct group_parser *p, const char *text, size_t bytes)
{
	const size_t from = (size_t)(text - p->text);

	return event_spec_parse_part(p->text, from, from + bytes, p->roots, p->list, p->err,
				     p->err_bytes);
}

/* Of the events from here on, the '}' behind them; else a '{', or the end. */
static const char *
group_end(const char *text)
{
	for (;;) {
		text += event_spec_bytes(text, ",{}");
		if (*text != ',')
			return text;
		text++;
	}
}

/* One group, whose first event begins at open; *ret: what is behind it. */
static int
parse_group(const struct group_parser *p, const char *text, size_t open, const char **ret)
{
	const char *end = group_end(text + open), *mods = end + 1;
	size_t first = p->list->nr, bytes, next;
	char letters[32];
	int r;

	if (*end == '{')
		return group_fail(p, end, "a group in a group");
	if (!*end)
		return group_fail(p, end, "a '}' is missing at the end of the group");
	if (end == text + open)
		return group_fail(p, end, "a group without events");
	bytes = next = strcspn(mods, ",");
	while (bytes > 0 && event_spec_blank(mods[bytes - 1]))
		bytes--;
	if (bytes > 0 && *mods != ':')
		return group_fail(p, mods, "behind the '}' of a group are a comma or :MODIFIERS");
	if (bytes >= sizeof(letters))
		return group_fail(p, mods, "too many modifiers");
	(void)snprintf(letters, sizeof(letters), "%.*s", bytes ? (int)bytes - 1 : 0, mods + 1);
	r = check_modifiers(p, bytes ? mods + 1 : mods, strlen(letters));
	if (r == 0)
		r = group_events(p, text + open, (size_t)(end - text) - open);
	if (r == 0)
		r = group_close(p, text, first, letters);
	*ret = mods + next;
	return r;
}

/* Events of no group, up to a group or the end; *ret: behind them and their comma. */
static int
parse_alone(const struct group_parser *p, const char *text, const char **ret)
{
	const char *end = text;
	size_t bytes;

	for (;;) {
		end += event_spec_bytes(end, ",");
		bytes = (size_t)(end - text);
		if (!*end || group_opening(end + 1))
			break;
		end++;
	}
	*ret = end;
	return group_events(p, text, bytes);
}

int
event_group_spec_parse(const char *text, const struct event_spec_roots *roots,
		       struct event_spec_list *list, char *err, size_t err_bytes)
{
	const struct group_parser p = { text, roots, list, err, err_bytes };

	for (;;) {
		size_t open = group_opening(text);
		int r = open ? parse_group(&p, text, open, &text) : parse_alone(&p, text, &text);

		if (r < 0 || !*text)
			return r;
		text++;
	}
}

int
event_group_spec_all(struct event_spec_list *list, char *err, size_t err_bytes)
{
	const struct group_parser p = { "--group", NULL, list, err, err_bytes };

	for (size_t i = 0; i < list->nr; i++)
		if (list->specs[i].group)
			return 0;
	return list->nr ? group_close(&p, p.text, 0, "") : 0;
}
