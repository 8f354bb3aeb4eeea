/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/process/watchdog.h"

#include "daemon/process/log.h"
#include "daemon/process/notify.h"

bool
watchdog_moves(struct watchdog_counter *c, uint64_t value, uint64_t now_ns)
{
	if (c->since_ns == 0 || c->value != value) {
		c->value = value;
		c->since_ns = now_ns;
		return true;
	}
	return now_ns - c->since_ns < WATCHDOG_STUCK_NS;
}

void
watchdog_init(struct watchdog *w)
{
	*w = (struct watchdog){ .interval_ns = notify_watchdog_ns() / 3 };
}

void
watchdog_tick(struct watchdog *w, bool alive, uint64_t now_ns)
{
	if (!alive) {
		if (!w->silent)
			log_error(
				"a thread is stuck: the service manager's watchdog is not notified any more");
		w->silent = true;
		return;
	}
	if (w->silent)
		log_notice("all threads run again: the watchdog is notified");
	w->silent = false;
	if (w->interval_ns == 0 || now_ns - w->pinged_ns < w->interval_ns)
		return;
	w->pinged_ns = now_ns;
	(void)notify_send("WATCHDOG=1");
}
