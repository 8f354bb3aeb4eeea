/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/event/event_shared.h"

#include <errno.h>
#include <string.h>

#include "format/record/event_attr.h"
#include "recorder/event/event_spec.h"
#include "recorder/ground/session_error.h"

static bool
is_shared(const struct event_spec *s)
{
	return !s->counts && !s->trigger && event_attr_is_shared(s->attr.type, s->attr.config);
}

/* b is one of them. */
static int
check_pair(const struct event_spec *a, const struct event_spec *b, struct buf *notes,
	   struct session_error *error)
{
	if (!is_shared(a) || a->attr.config != b->attr.config)
		return 0;
	if (a->attr.context_switch || b->attr.context_switch)
		return session_usage(error,
				     "%s and %s both sample context switches, and Linux gives "
				     "the samples of both to one of them: make two recordings",
				     a->name, b->name);
	session_note(notes,
		     "%s and %s count the same, and Linux takes the samples of both for those of "
		     "one: record them apart",
		     a->name, b->name);
	return 0;
}

static int
leave_out(struct event_spec_list *list, struct buf *notes, struct session_error *error)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->nr; i++)
		if (is_shared(&list->specs[i]) && list->specs[i].group)
			return session_usage(error,
					     "%s is in a group, and of another session, too: Linux "
					     "takes the samples of both for those of one",
					     list->specs[i].name);
	for (size_t i = 0; i < list->nr; i++) {
		struct event_spec *s = &list->specs[i];

		if (!is_shared(s)) {
			list->specs[kept++] = *s;
			continue;
		}
		session_note(
			notes,
			"%s is left out: Linux gives the samples of several sessions to one of "
			"them, and those of two such events cannot be told apart",
			s->name);
		event_spec_done(s);
	}
	list->nr = kept;
	return kept ? 0 : session_usage(error, "no event is left");
}

int
event_shared_check(struct event_spec_list *list, bool spare, struct buf *notes,
		   struct session_error *error)
{
	size_t nr = 0;
	int r = 0;

	for (size_t i = 0; i < list->nr; i++) {
		if (!is_shared(&list->specs[i]))
			continue;
		nr++;
		for (size_t k = 0; k < i && r == 0; k++)
			r = check_pair(&list->specs[k], &list->specs[i], notes, error);
	}
	if (r == 0 && spare && nr > 1)
		r = leave_out(list, notes, error);
	return r;
}
