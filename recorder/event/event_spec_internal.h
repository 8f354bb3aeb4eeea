/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event_spec, inside: one event of an argument is copied and taken apart in place, so that each piece knows where
 * in the argument it stands.
 */
#ifndef RECORDER_EVENT_EVENT_SPEC_INTERNAL_H
#define RECORDER_EVENT_EVENT_SPEC_INTERNAL_H

#include <stdint.h>

#include "recorder/event/event_spec.h"

struct event_parser {
	struct event_spec_roots roots;
	struct event_spec_list *list;
	const char *text;    /* the argument */
	size_t at;	     /* where in it the event begins */
	const char *event;   /* the event's copy */
	size_t bytes;	     /* of it */
	const char *instead; /* where what stands nowhere in it came from: the name of an alias */
	int depth;	     /* of aliases */
	char *err;
	size_t err_bytes;
};

/* Tells what is wrong at this place of the event. Returns -EINVAL. */
int event_parser_fail(const struct event_parser *p, const char *where, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Likewise, of what some machine may have and this one has not. */
int event_parser_absent(const struct event_parser *p, const char *where, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* What stands in the argument from here to the end of the event; "" at its end. */
const char *event_parser_rest(const struct event_parser *p, const char *where, size_t *ret_bytes);

/* As perf reads numbers: decimal, or hexadecimal with 0x. */
bool event_parser_number(const char *text, uint64_t *ret);
bool event_parser_hex(const char *text, uint64_t *ret);

/* Modifiers, which stand behind everything else. */
int event_parser_modifiers(const struct event_parser *p, const char *mods, struct event_spec *s);

/*
 * Terms with commas, which are cut up. pmu "": those that every event has, and config, config1... alone.
 */
int event_parser_terms(struct event_parser *p, const char *pmu, char *terms, struct event_spec *s);

/* What stands behind "mem:", modifiers included, but no terms. */
int event_parser_breakpoint(const struct event_parser *p, char *text, struct event_spec *s);

enum event_probe {
	EVENT_PROBE_NONE, /* of another kind of event */
	EVENT_PROBE_USER,
	EVENT_PROBE_USER_RETURN,
	EVENT_PROBE_USER_STATIC,
	EVENT_PROBE_KERNEL,
	EVENT_PROBE_KERNEL_RETURN,
};

/* Likewise behind "uprobe:" and so on; s->probe and s->more are to be freed, also after an error. */
int event_parser_probe(const struct event_parser *p, enum event_probe kind, char *text,
		       struct event_spec *s);

/* One event of a PMU, by name. */
int event_parser_alias(struct event_parser *p, const char *pmu, char *name, struct event_spec *s);

#endif
