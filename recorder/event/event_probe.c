/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What stands behind "uprobe:", "usdt:", "kprobe:" and those of returns. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/string.h>

#include "recorder/event/event_spec_internal.h"
#include "recorder/event/pmu.h"

#define SEMAPHORE "ref_ctr_offset" /* as the kernel calls it */

/* "0x1139" or "0x1139(0x4018)", which is cut up, for the attr. */
static int
parse_offset(const struct event_parser *p, char *text, struct perf_event_attr *attr)
{
	char *semaphore = strchr(text, '('), *end = semaphore ? strchr(semaphore, ')') : NULL;
	uint64_t place, value;
	int r;

	if (semaphore)
		*semaphore++ = '\0';
	if (!event_parser_number(text, &place))
		return event_parser_fail(
			p, text,
			"'%s' is not a place in the file such as 0x1139: only spoor "
			"record finds %s",
			text, strncmp(p->event, "usdt", 4) == 0 ? "probes by name" : "symbols");
	attr->config2 = place;
	if (!semaphore)
		return 0;
	if (!end || end[1])
		return event_parser_fail(p, semaphore,
					 "behind a semaphore's place is a ')', and nothing more");
	*end = '\0';
	/* The kernel refuses what is not aligned, and 0 is none. */
	if (!event_parser_number(semaphore, &value) || value == 0 || value % 2)
		return event_parser_fail(p, semaphore,
					 "'%s' is not the place of a semaphore in the file",
					 semaphore);
	r = pmu_term(p->roots.sysfs, "uprobe", SEMAPHORE, value, attr);
	if (r == -ERANGE)
		return event_parser_fail(p, semaphore,
					 "the kernel takes no semaphore so far behind in a file");
	if (r < 0)
		return event_parser_absent(
			p, semaphore,
			"this kernel counts no semaphores of probes (Linux 4.20 does), and "
			"the program passes this probe by while its semaphore is 0");
	return 0;
}

/* Of a static probe several, with '+', which are cut up. */
static int
parse_offsets(const struct event_parser *p, char *text, struct event_spec *s)
{
	const uint64_t config = s->attr.config;
	char *next = strchr(text, '+');
	int r;

	if (next)
		*next++ = '\0';
	r = parse_offset(p, text, &s->attr);
	while (r == 0 && next) {
		struct perf_event_attr attr = { .config = config };
		struct event_place *more;

		text = next;
		next = strchr(text, '+');
		if (next)
			*next++ = '\0';
		if (s->nr_more == EVENT_PLACES_MAX - 1)
			return event_parser_fail(p, text, "more than %d places of a probe",
						 EVENT_PLACES_MAX);
		r = parse_offset(p, text, &attr);
		if (r < 0)
			break;
		more = reallocarray(s->more, s->nr_more + 1, sizeof(*more));
		if (!more)
			return -ENOMEM;
		s->more = more;
		more[s->nr_more++] = (struct event_place){ attr.config, attr.config2 };
	}
	return r;
}

/* "PATH:0x1139", or "PATH:NAME=0x1139" where a place was found by its name. A name has one part, or two. */
static int
parse_place(const struct event_parser *p, bool is_static, char *text, struct event_spec *s,
	    char **ret_mods)
{
	char *place = strchr(text, ':'), *provider_end = NULL, *mods, *number;
	int n;

	if (*text != '/')
		return event_parser_fail(p, text, "the file of a probe is given by its whole path");
	if (place && is_static)
		provider_end = strchr(place + 1, ':');
	if (!place || (is_static && !provider_end))
		return event_parser_fail(p, text + strlen(text), "a probe is %s",
					 is_static ? "PATH:PROVIDER:NAME"
						   : "PATH:SYMBOL[+OFFSET] or PATH:OFFSET");
	*place++ = '\0';
	mods = strchr(provider_end ? provider_end + 1 : place, ':');
	if (mods)
		*mods++ = '\0';
	number = strrchr(place, '=');
	if (is_static && !number)
		return event_parser_fail(p, place,
					 "only spoor record finds probes by name: give "
					 "usdt:PATH:PROVIDER:NAME=OFFSET");
	number = number ? number + 1 : place;
	if (number > place) {
		n = snprintf(s->name, sizeof(s->name), "%.*s:%s:%.*s%s%s",
			     (int)(text - p->event - 1), p->event, text, (int)(number - place - 1),
			     place, mods ? ":" : "", mods ? mods : "");
		if (n < 0 || (size_t)n >= sizeof(s->name))
			return event_parser_fail(p, text, "an event of more than %d bytes",
						 EVENT_SPEC_NAME_BYTES - 1);
	}
	s->probe = strdup(text);
	*ret_mods = mods;
	if (!s->probe)
		return -ENOMEM;
	return is_static ? parse_offsets(p, number, s) : parse_offset(p, number, &s->attr);
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
event_parser_probe(const struct event_parser *p, enum event_probe kind, char *text,
		   struct event_spec *s)
{
	const bool user = kind < EVENT_PROBE_KERNEL;
	const bool at_return = kind == EVENT_PROBE_USER_RETURN || kind == EVENT_PROBE_KERNEL_RETURN;
	char *mods = NULL;
	int r;

	(void)strlcpy(s->pmu, user ? "uprobe" : "kprobe", sizeof(s->pmu));
	if (pmu_type(p->roots.sysfs, s->pmu, &s->attr.type) < 0)
		return event_parser_absent(p, p->event, "this kernel has no %ss (CONFIG_%s_EVENTS)",
					   s->pmu, user ? "UPROBE" : "KPROBE");
	if (at_return && pmu_term(p->roots.sysfs, s->pmu, "retprobe", 1, &s->attr) < 0)
		return event_parser_absent(p, p->event, "this kernel has no probes of returns");
	s->each = true;
	r = user ? parse_place(p, kind == EVENT_PROBE_USER_STATIC, text, s, &mods)
		 : parse_symbol(p, at_return, text, s, &mods);
	return r == 0 && mods ? event_parser_modifiers(p, mods, s) : r;
}
