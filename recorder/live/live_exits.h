/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * live_exits: who is gone, after side-band records were lost: the tasks that the model holds for
 * living and a scan of /proc did not find.
 */
#ifndef RECORDER_LIVE_LIVE_EXITS_H
#define RECORDER_LIVE_LIVE_EXITS_H

#include <stdint.h>

#include "format/bytes/buf.h"
#include "format/model/task_model.h"
#include "format/record/event_set.h"

struct live_exits {
	uint64_t began_ns; /* when the scan began; 0: nobody is looked for */
	uint32_t *tids;	   /* that were found */
	size_t nr, cap;
};

/* Forgets all. */
void live_exits_done(struct live_exits *e);

/* The scan found the tasks of these records. 0, -ENOMEM. */
int live_exits_see(struct live_exits *e, const struct event_set *events, struct span records);

/*
 * It found all: appends an EXIT record, of the time when it began, for each task that is older and
 * was not found. 0, -ENOMEM.
 */
int live_exits_add(struct live_exits *e, const struct task_model *model,
		   const struct event_attr *attr, uint64_t id, struct buf *out);

#endif
