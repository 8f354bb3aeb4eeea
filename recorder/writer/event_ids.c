/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/writer/event_ids.h"

#include <errno.h>
#include <stdlib.h>

#include "format/bytes/array.h"

void
event_ids_done(struct event_ids *e)
{
	free(e->ids);
	*e = (struct event_ids){ 0 };
}

int
event_ids_add(struct event_ids *e, uint32_t event, uint64_t id)
{
	if (array_reserve(e->ids, e->nr, e->cap, 1) < 0)
		return -ENOMEM;
	e->ids[e->nr++] = (struct event_id){ .id = id, .event = event };
	return 0;
}

int
event_ids_init(struct event_ids *e, const struct event_set *events)
{
	*e = (struct event_ids){ 0 };
	for (size_t i = 0; i < event_set_count(events); i++) {
		const struct event *event = event_set_at(events, i);

		for (size_t k = 0; k < event->nr_ids; k++)
			if (event_ids_add(e, (uint32_t)i, event->ids[k]) < 0) {
				event_ids_done(e);
				return -ENOMEM;
			}
	}
	return 0;
}

void
event_ids_close(struct event_ids *e, uint64_t id, uint64_t now_ns)
{
	for (size_t i = 0; i < e->nr; i++)
		if (e->ids[i].id == id)
			e->ids[i].closed_ns = now_ns;
}

int
event_ids_renew(struct event_ids *e, const struct event_set *events, uint64_t now_ns,
		struct event_set **ret)
{
	struct event_set *set = event_set_new();
	size_t kept = 0;
	int r = set ? 0 : -1;

	for (size_t i = 0; r == 0 && i < event_set_count(events); i++) {
		const struct event *event = event_set_at(events, i);

		r = event_set_add(set, event->attr_raw, event->name, NULL);
	}
	for (size_t i = 0; i < e->nr; i++)
		if (!e->ids[i].closed_ns || now_ns < e->ids[i].closed_ns + EVENT_ID_LINGER_NS)
			e->ids[kept++] = e->ids[i];
	e->nr = kept;
	for (size_t i = 0; r == 0 && i < e->nr; i++)
		r = event_set_add_id(set, e->ids[i].event, e->ids[i].id);
	if (r < 0) {
		event_set_free(set);
		return -ENOMEM;
	}
	*ret = set;
	return 0;
}
