/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/live/live_worker.h"

#include "format/bytes/time_text.h"
#include "recorder/host/host.h"

#define AGAIN_NS SECOND_NS

bool
live_worker_ready(struct live_worker *w, uint64_t now_ns, bool *ret_fresh)
{
	if (w->helper)
		return true;
	if (w->refused_ns && now_ns - w->refused_ns < AGAIN_NS)
		return false;
	w->refused_ns = now_ns;
	if (helper_pool_open(w->pool, w->work, &w->helper) < 0)
		return false;
	w->refused_ns = w->told = 0;
	w->heard_ns = now_ns;
	*ret_fresh = true;
	return true;
}

int
live_worker_tell(struct live_worker *w)
{
	return helper_pool_tell(w->helper, &w->told);
}

void
live_worker_lost(struct live_worker *w, bool at_once)
{
	w->helper = NULL;
	w->refused_ns = at_once ? 0 : host_now_ns();
}
