/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/stream/configured.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
		return session_usage(error, "call_graph = %s: fp, none or dwarf[,BYTES]",
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

void
configured_done(struct configured *k)
{
	free(k->events);
	free(k->counters);
	*k = (struct configured){ .events = NULL };
}
