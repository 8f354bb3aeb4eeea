/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/event/event_wakeups.h"

#include <errno.h>
#include <stdint.h>

#include <bsd/string.h>

#include "format/bytes/buf.h"
#include "format/record/off_cpu.h"
#include "recorder/ground/session_error.h"
#include "recorder/host/host.h"

/* Does off-cpu, if it is there, ask for them? *ret_waker: they have to be there. */
static bool
are_wanted(const struct event_spec_list *list, bool *ret_waker)
{
	struct off_cpu_terms terms = { .no_wakeups = true };
	const char *bad;
	size_t len;

	for (size_t i = 0; i < list->nr; i++)
		if (list->specs[i].attr.context_switch)
			(void)off_cpu_parse(list->specs[i].name, &terms, &bad, &len);
	*ret_waker = terms.waker;
	return terms.waker || (!terms.no_wakeups && !terms.freq_hz);
}

/* NULL: nothing is known that is in the way. */
static const char *
obstacle(const struct session_options *o, bool denied)
{
	uint64_t pid_namespace;

	if (o->extra.per_thread)
		return "no CPU has a ring with --per-thread";
	if (denied)
		return "the fields of tracepoints are for root";
	if (host_pid_namespace(&pid_namespace) == 0 && pid_namespace)
		return "tracepoints tell pids of the host's PID namespace";
	return NULL;
}

/* Or why not, in *ret_why. 0, -ENOMEM. */
static int
event_wakeups_append(struct event_spec_list *list, char text[static EVENT_SPEC_ERROR_BYTES],
		     const char **ret_why)
{
	struct buf *skipped = list->skipped;
	struct event_spec *s;
	int r;

	list->skipped = NULL;
	r = event_spec_parse("sched:sched_waking", NULL, list, text, EVENT_SPEC_ERROR_BYTES);
	list->skipped = skipped;
	if (r == -EINVAL)
		*ret_why = text;
	if (r < 0)
		return r == -EINVAL ? 0 : r;
	s = &list->specs[list->nr - 1];
	(void)strlcpy(s->name, OFF_CPU_WAKEUPS, sizeof(s->name));
	s->named = s->wakeups = s->has_rate = s->has_call_graph = true;
	s->attr.sample_period = 1;
	s->call_graph = SESSION_CALL_GRAPH_NONE;
	return 0;
}

int
event_wakeups_add(const struct session_options *o, bool denied, struct event_spec_list *list,
		  struct buf *notes, struct session_error *error)
{
	char text[EVENT_SPEC_ERROR_BYTES];
	const char *why;
	bool waker;
	int r = 0;

	if (o->extra.no_samples || !are_wanted(list, &waker))
		return 0;
	why = obstacle(o, denied);
	if (!why)
		r = event_wakeups_append(list, text, &why);
	if (r < 0)
		return session_fail(error, r, "out of memory");
	if (why && waker)
		return session_fail(error, -EACCES, "off-cpu: who wakes threads is not told: %s",
				    why);
	if (why)
		session_note(notes,
			     "off-cpu: how long threads waited for a CPU after they were woken is "
			     "not told apart: %s",
			     why);
	return 0;
}

/*
 * Who wakes a thread of the target need not be of it, and Linux 6.18 gives no such hit to an event of the thread that is
 * woken: so it is one of everybody on the CPU. The exec of a command enables the events of its task alone.
 */
void
event_wakeups_def(const struct session_options *o, struct event_def *def)
{
	def->wakeups = def->everybody = true;
	def->attr.inherit = 0;
	def->attr.enable_on_exec = 0;
	def->attr.disabled = o->target != SESSION_COMMAND || o->starts_disabled;
}
