/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What stands behind "uprobe:", "kprobe:" and those of returns. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <bsd/string.h>

#include "recorder/event/event_spec_internal.h"
#include "recorder/event/pmu.h"

/* "PATH:0x1139", or "PATH:NAME=0x1139": whoever finds places by name calls them so. */
static int
parse_place(const struct event_parser *p, char *text, struct event_spec *s, char **ret_mods)
{
	char *place = strchr(text, ':'), *mods = place ? strchr(place + 1, ':') : NULL, *number;
	uint64_t offset;

	if (*text != '/')
		return event_parser_fail(p, text, "the file of a probe is given by its whole path");
	if (!place)
		return event_parser_fail(p, text + strlen(text),
					 "a probe is PATH:SYMBOL[+OFFSET] or PATH:OFFSET");
	*place++ = '\0';
	if (mods)
		*mods++ = '\0';
	number = strrchr(place, '=');
	number = number ? number + 1 : place;
	if (!event_parser_number(number, &offset))
		return event_parser_fail(
			p, number,
			"'%s' is not a place in the file such as 0x1139: only spoor "
			"record finds symbols",
			number);
	if (number > place)
		(void)snprintf(s->name, sizeof(s->name), "%.*s:%s:%.*s%s%s",
			       (int)(text - p->event - 1), p->event, text,
			       (int)(number - place - 1), place, mods ? ":" : "", mods ? mods : "");
	s->probe = strdup(text);
	s->attr.config2 = offset;
	*ret_mods = mods;
	return s->probe ? 0 : -ENOMEM;
}

static int
parse_symbol(const struct event_parser *p, bool at_return, char *text, struct event_spec *s,
	     char **ret_mods)
{
	char *mods = strchr(text, ':'), *plus;
	uint64_t offset = 0;

	if (mods)
		*mods++ = '\0';
	plus = strchr(text, '+');
	if (plus)
		*plus++ = '\0';
	if (!*text)
		return event_parser_fail(p, text, "a function of the kernel is missing");
	/* Names do not begin so: kprobe_addr, without kprobe_func. */
	if (*text >= '0' && *text <= '9') {
		if (plus || !event_parser_number(text, &offset) || !offset)
			return event_parser_fail(p, text,
						 "not an address such as 0xffffffff81000000");
		s->attr.config2 = offset;
		*ret_mods = mods;
		return 0;
	}
	if (plus && !event_parser_number(plus, &offset))
		return event_parser_fail(p, plus, "'%s' is not an offset such as 0x10", plus);
	if (plus && at_return)
		return event_parser_fail(
			p, plus,
			"a return probe is of a whole function: an offset goes with kprobe");
	s->probe = strdup(text);
	s->attr.config2 = offset;
	*ret_mods = mods;
	return s->probe ? 0 : -ENOMEM;
}

int
event_parser_probe(const struct event_parser *p, bool user, bool at_return, char *text,
		   struct event_spec *s)
{
	char *mods = NULL;
	int r;

	(void)strlcpy(s->pmu, user ? "uprobe" : "kprobe", sizeof(s->pmu));
	if (pmu_type(p->roots.sysfs, s->pmu, &s->attr.type) < 0)
		return event_parser_absent(p, p->event, "this kernel has no %ss (CONFIG_%s_EVENTS)",
					   s->pmu, user ? "UPROBE" : "KPROBE");
	if (at_return && pmu_term(p->roots.sysfs, s->pmu, "retprobe", 1, &s->attr) < 0)
		return event_parser_absent(p, p->event, "this kernel has no probes of returns");
	s->each = true;
	r = user ? parse_place(p, text, s, &mods) : parse_symbol(p, at_return, text, s, &mods);
	return r == 0 && mods ? event_parser_modifiers(p, mods, s) : r;
}
