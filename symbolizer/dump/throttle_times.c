/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/dump/throttle_times.h"

#include <stdlib.h>

#define THROTTLE_TIMES_MAX (1u << 20) /* streams: events by CPU or task */

void
throttle_times_done(struct throttle_times *t)
{
	free(t->v);
	slots_done(&t->slots);
	*t = (struct throttle_times){ .v = NULL };
}

static bool
throttled_same(const void *owner, uint32_t index, const void *key)
{
	return ((const struct throttle_times *)owner)->v[index].stream_id ==
		((const struct throttled *)key)->stream_id;
}

int
throttle_times_see(struct throttle_times *t, const struct perf_record *r)
{
	struct throttled key = { .stream_id = r->throttle.stream_id }, *e;
	uint32_t i;
	int err;

	if ((r->type != REC_THROTTLE && r->type != REC_UNTHROTTLE) || t->nr == THROTTLE_TIMES_MAX)
		return 0;
	err = slots_keep(&t->slots, (uint32_t)slots_mix(key.stream_id, 0), throttled_same, t, &key,
			 t->v, t->nr, t->cap, &i);
	if (err)
		return err;
	e = &t->v[i];
	if (r->type == REC_THROTTLE && e->since_ns == 0) {
		e->since_ns = r->throttle.time;
	} else if (r->type == REC_UNTHROTTLE) {
		if (e->since_ns && r->throttle.time > e->since_ns)
			t->total_ns += r->throttle.time - e->since_ns;
		e->since_ns = 0;
	}
	return 0;
}
