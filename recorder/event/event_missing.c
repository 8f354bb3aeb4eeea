/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/event/event_missing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What is short is short for the other events, too: which of them fails is chance. */
static bool
is_of_event(int err)
{
	return err != -ENOMEM && err != -EMFILE && err != -ENFILE && err != -EINTR;
}

/* Without one of them, does any other take samples of its own? */
static bool
samples_without(const struct event_spec_list *specs, size_t index)
{
	for (size_t i = 0; i < specs->nr; i++)
		if (i != index && !specs->specs[i].counts && !specs->specs[i].trigger)
			return true;
	return false;
}

/* Who leads a group from now on; NULL: the event leads none, or nobody else is in it. */
static struct event_spec *
next_leader(const struct event_spec_list *specs, size_t index)
{
	struct event_spec *s = &specs->specs[index];

	if (!s->group || (index > 0 && s[-1].group == s->group))
		return NULL;
	return index + 1 < specs->nr && s[1].group == s->group ? &s[1] : NULL;
}

/* What only a leader can have, and so was taken from the other members: group_close(). */
static void
inherit_lead(struct event_plan *plan, const struct event_spec_list *specs, size_t index)
{
	const struct perf_event_attr *from = &specs->specs[index].attr;
	struct event_spec *next = next_leader(specs, index);

	if (!next)
		return;
	next->attr.pinned |= from->pinned;
	next->attr.exclusive |= from->exclusive;
	if (index + 1 >= plan->nr)
		return;
	plan->defs[index + 1].attr.pinned = next->attr.pinned;
	plan->defs[index + 1].attr.exclusive = next->attr.exclusive;
}

int
event_missing_leave_out(struct event_plan *plan, struct event_spec_list *specs, size_t index,
			int err, const struct session_error *error, struct buf *notes)
{
	if (!is_of_event(err) || !samples_without(specs, index))
		return err;
	session_note(notes, "left out: %s", error->text);
	inherit_lead(plan, specs, index);
	event_def_done(&plan->defs[index]);
	memmove(&plan->defs[index], &plan->defs[index + 1],
		(plan->nr - index - 1) * sizeof(*plan->defs));
	plan->defs[--plan->nr] = (struct event_def){ 0 };
	event_spec_done(&specs->specs[index]);
	memmove(&specs->specs[index], &specs->specs[index + 1],
		(specs->nr - index - 1) * sizeof(*specs->specs));
	specs->nr--;
	return 0;
}

bool
event_missing_here(struct event_def *def, int err, const struct session_error *error,
		   struct buf *notes)
{
	if (!is_of_event(err))
		return false;
	if (def->left_out++ == 0 && notes && error)
		session_note(notes, "left out: %s", error->text);
	return true;
}

void
event_missing_sum(struct event_plan *plan, struct buf *notes)
{
	for (size_t i = 0; i < plan->nr; i++) {
		struct event_def *def = &plan->defs[i];

		if (def->left_out > 1 && notes)
			session_note(notes, "%s is left out on %u more CPUs or tasks", def->name,
				     def->left_out - 1);
		def->left_out = 0;
	}
}
