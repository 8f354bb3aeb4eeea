/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * live_worker: a worker of the pool as it is asked: started when there is something to ask, again a
 * while later where there was none to be had, and questions in a ring, since it answers in order.
 */
#ifndef RECORDER_LIVE_LIVE_WORKER_H
#define RECORDER_LIVE_LIVE_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recorder/helper/helper_pool.h"

/* Zeroed but for the first three. */
struct live_worker {
	struct helper_pool *pool;
	const struct helper_work *work;
	size_t max;	       /* questions that the caller has room for */
	struct helper *helper; /* NULL: none, or not yet */
	uint64_t heard_ns;     /* when it last answered, or was first asked */
	uint64_t told;	       /* as of helper_pool_tell() */
	uint64_t refused_ns;   /* when there was none to be had; 0: there was */
	size_t first, nr;      /* the ring */
};

/* Is there one? It is asked for, but not twice in a second. Where it was started now, *ret_fresh is set. */
bool live_worker_ready(struct live_worker *w, uint64_t now_ns, bool *ret_fresh);
/* Tells it whom to shun, as helper_pool_tell(). There is one. */
int live_worker_tell(struct live_worker *w);

/* It was closed, or left behind: another one may be had at once, or in a second. */
void live_worker_lost(struct live_worker *w, bool at_once);

/* Where in the caller's room the i-th question is, the oldest being 0. */
static inline size_t
live_worker_at(const struct live_worker *w, size_t i)
{
	return (w->first + i) % w->max;
}

/* Takes the oldest question off the ring: where it was. */
static inline size_t
live_worker_take(struct live_worker *w)
{
	const size_t at = w->first;

	w->first = (at + 1) % w->max;
	w->nr--;
	return at;
}

#endif
