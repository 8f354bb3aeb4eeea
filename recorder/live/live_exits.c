/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/live/live_exits.h"

#include <errno.h>
#include <stdlib.h>

#include "format/bytes/array.h"
#include "format/record/record_build.h"

void
live_exits_done(struct live_exits *e)
{
	free(e->tids);
	*e = (struct live_exits){ 0 };
}

int
live_exits_see(struct live_exits *e, const struct event_set *events, struct span records)
{
	struct perf_record r;
	struct span raw;

	while (perf_record_next(&records, &raw) == 1) {
		if (event_set_parse(events, raw, &r, NULL) ||
		    (r.type != REC_FORK && r.type != REC_COMM))
			continue;
		if (array_reserve(e->tids, e->nr, e->cap, 1) < 0)
			return -ENOMEM;
		/* One that is left alone has its name only. */
		e->tids[e->nr++] = r.type == REC_FORK ? r.task.tid : r.comm.tid;
	}
	return 0;
}

static int
tid_cmp(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

int
live_exits_add(struct live_exits *e, const struct task_model *model, const struct event_attr *attr,
	       uint64_t id, struct buf *out)
{
	struct perf_sample_id sid = { .time = e->began_ns, .id = id, .cpu = UINT32_MAX };
	const struct task *t = NULL;
	int rc = 0;

	if (e->nr)
		qsort(e->tids, e->nr, sizeof(*e->tids), tid_cmp);
	while (!rc && (t = task_model_next(model, t))) {
		if (t->exited || t->start_ns >= e->began_ns ||
		    (e->nr && bsearch(&t->tid, e->tids, e->nr, sizeof(*e->tids), tid_cmp)))
			continue;
		sid.pid = t->pid;
		sid.tid = t->tid;
		if (record_build_exit(out, attr, &sid, t->pid, t->pid, t->tid, t->pid, e->began_ns))
			rc = -ENOMEM;
	}
	return rc;
}
