/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The attrs of a session, for whoever lists them. */
#include "recorder/session/session_internal.h"

void
session_see_attrs(const struct event_plan *plan, session_see_attr_fn *see, void *arg)
{
	for (size_t i = 0; i < plan->nr; i++) {
		const struct event_def *def = &plan->defs[i];

		for (size_t k = 0; k < (def->nr_kinds ? def->nr_kinds : 1); k++) {
			struct perf_event_attr attr = def->attr;

			if (def->nr_kinds)
				event_kind_apply(&def->kinds[k], &attr);
			if (!see(arg, def->name, def->nr_kinds ? def->kinds[k].pmu : "",
				 def->sideband, &attr))
				return;
		}
	}
}

void
session_attrs(const struct session *s, session_see_attr_fn *see, void *arg)
{
	session_see_attrs(&s->plan, see, arg);
}
