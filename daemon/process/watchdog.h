/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * watchdog: the service manager is told that we live only while every thread does.
 *
 * A ping is sent from the main loop, so the main loop turns; and only when all counters
 * that the threads move have moved. When one stands still, pings stop, and the manager ends
 * and restarts the service once WatchdogSec is over.
 */
#ifndef DAEMON_PROCESS_WATCHDOG_H
#define DAEMON_PROCESS_WATCHDOG_H

#include <stdbool.h>
#include <stdint.h>

/* A thread that comes round each second and does not for so long is stuck. */
#define WATCHDOG_STUCK_NS (15 * UINT64_C(1000000000))

/* One thread's counter as it was last seen; all zero to begin with. */
struct watchdog_counter {
	uint64_t value;
	uint64_t since_ns; /* when it was first seen with this value */
};

/* Remembers value. False: it has not changed for WATCHDOG_STUCK_NS. */
bool watchdog_moves(struct watchdog_counter *c, uint64_t value, uint64_t now_ns);

struct watchdog {
	uint64_t interval_ns; /* between pings; 0: nobody listens */
	uint64_t pinged_ns;
	bool silent; /* said so already */
};

void watchdog_init(struct watchdog *w);
/* Pings when it is time and all is well. Call it each second. */
void watchdog_tick(struct watchdog *w, bool alive, uint64_t now_ns);

#endif
