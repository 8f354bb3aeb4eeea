/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event_ids: which ids the events of a session have had, and which of them are gone.
 *
 * Each descriptor has an id of its own, and each time a CPU comes back there are new ones.
 * So that a recorder that lives for ever does not remember all it ever saw, those that were
 * closed a while ago are left out when the next file begins. No locks: the writer thread's.
 */
#ifndef RECORDER_WRITER_EVENT_IDS_H
#define RECORDER_WRITER_EVENT_IDS_H

#include <stddef.h>
#include <stdint.h>

#include "format/record/event_set.h"

/* Records of a closed descriptor are not on their way any longer than this. */
#define EVENT_ID_LINGER_NS UINT64_C(60000000000)

struct event_id {
	uint64_t id;
	uint32_t event;	    /* index in the set */
	uint64_t closed_ns; /* 0: open */
};

struct event_ids {
	struct event_id *ids;
	size_t nr, cap;
};

void event_ids_done(struct event_ids *e);

/* All ids of a set; 0, -ENOMEM. */
int event_ids_init(struct event_ids *e, const struct event_set *events);

int event_ids_add(struct event_ids *e, uint32_t event, uint64_t id);
void event_ids_close(struct event_ids *e, uint64_t id, uint64_t now_ns);

/*
 * Forgets what was closed long before now_ns, and makes a set with the events of another and
 * the ids that are left. 0, -ENOMEM.
 */
int event_ids_renew(struct event_ids *e, const struct event_set *events, uint64_t now_ns,
		    struct event_set **ret);

#endif
