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
			const struct session_attr one = {
				.name = def->name,
				.pmu = def->nr_kinds ? def->kinds[k].pmu : "",
				.sideband = def->sideband,
				.member = def->member_of > 0,
				.attr = &attr,
			};

			if (def->nr_kinds)
				event_kind_apply(&def->kinds[k], &attr);
			if (!see(arg, &one))
				return;
		}
	}
}

void
session_attrs(const struct session *s, session_see_attr_fn *see, void *arg)
{
	session_see_attrs(&s->plan, see, arg);
}

struct attrs_call {
	const struct session *session;
	session_see_attr_fn *see;
	void *arg;
};

static void
call_attrs(void *arg)
{
	const struct attrs_call *call = arg;

	session_attrs(call->session, call->see, call->arg);
}

int
session_attrs_now(struct session *s, session_see_attr_fn *see, void *arg,
		  struct session_error *error)
{
	struct attrs_call call = { s, see, arg };
	struct session_request rq = { .kind = REQUEST_CALL, .call = call_attrs, .arg = &call };

	return session_request_wait(s->requests, &rq, error);
}
