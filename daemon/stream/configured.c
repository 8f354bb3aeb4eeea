/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/stream/configured.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/string.h>

#include "recorder/event/event_group_spec.h"
#include "recorder/event/event_refusal.h"
#include "recorder/session/session.h"

int
configured_apply(struct configured *k, const struct config *c, struct session_options *options,
		 struct session_error *error)
{
	k->events = strdup(c->events);
	if (!k->events)
		return session_fail(error, -ENOMEM, "out of memory");
	k->event_list[0] = k->events;
	if (k->events[0]) {
		options->events = k->event_list;
		options->nr_events = 1;
	}
	if (session_call_graph_parse(c->call_graph, options) < 0)
		return session_usage(error,
				     "call_graph = %s: fp, auto[,BYTES], none or dwarf[,BYTES]",
				     c->call_graph);
	/* It was checked when it was read. */
	(void)session_build_ids_parse(c->build_ids, &options->build_ids);
	return 0;
}

int
configured_count(struct configured *k, const struct config *c, struct session_options *options,
		 struct session_error *error)
{
	if (!c->counters[0])
		return 0;
	options->counter_interval_ns = c->counter_interval;
	if (strcmp(c->counters, "auto") == 0)
		return 0;
	k->counters = strdup(c->counters);
	if (!k->counters)
		return session_fail(error, -ENOMEM, "out of memory");
	options->counters = k->counters;
	return 0;
}

static bool
is_counted(const char *key, const char *value)
{
	return strcmp(key, "counters") == 0 && strcmp(value, "auto") != 0;
}

/* ret_absent: what is wrong is that this machine has not got it now. */
static int
parse_events(const char *key, const char *value, bool *ret_absent, char *why, size_t size)
{
	struct event_spec_list list = { 0 };
	char err[EVENT_SPEC_ERROR_BYTES];
	int r = 0;

	*ret_absent = false;
	if (strcmp(key, "counters") == 0 && !is_counted(key, value))
		return 0;
	r = event_group_spec_parse(value, NULL, &list, err, sizeof(err));
	*ret_absent = list.absent;
	if (r == -EINVAL)
		(void)strlcpy(why, err, size);
	for (size_t i = 0; r == 0 && is_counted(key, value) && i < list.nr; i++)
		if (list.specs[i].attr.context_switch) {
			(void)strlcpy(why, "off-cpu has samples, and no count", size);
			r = -EINVAL;
		}
	event_spec_list_done(&list);
	return r;
}

int
configured_check_events(const char *key, const char *value, char *why, size_t size)
{
	bool absent;
	int r = parse_events(key, value, &absent, why, size);

	return absent ? 0 : r;
}

static bool
see_no_attr(void *arg, const struct session_attr *attr)
{
	(void)arg, (void)attr;
	return false;
}

int
configured_try_events(const char *key, const char *value, char *why, size_t size)
{
	const struct event_rights rights = event_rights_now();
	const char *list[] = { value };
	struct session_options o = { .target = SESSION_ALL, .out_fd = -1 };
	struct session_error error = { .text = "" };
	char *notes = NULL;
	bool absent;
	int r = parse_events(key, value, &absent, why, size);

	if (r < 0 || !rights.capable || rights.user_namespace)
		return r;
	if (strcmp(key, "counters") == 0) {
		o.counter_interval_ns = 1;
		o.counters = is_counted(key, value) ? value : NULL;
	} else {
		o.events = list;
		o.nr_events = 1;
	}
	r = session_dry_run(&o, see_no_attr, NULL, &notes, &error);
	free(notes);
	if (r == 0 || r == -ENOMEM)
		return r;
	(void)strlcpy(why, error.text, size);
	return -EINVAL;
}

void
configured_done(struct configured *k)
{
	free(k->events);
	free(k->counters);
	*k = (struct configured){ .events = NULL };
}
