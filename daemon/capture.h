/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * capture: recordings on request, beside the base stream. The calls of clients are in
 * streams.h; this is what streams.c needs to keep them going.
 */
#ifndef DAEMON_CAPTURE_H
#define DAEMON_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/streams.h"

struct capture_set;

int capture_set_new(const struct config *c, struct archive *a, int wake_fd,
		    struct capture_set **ret);
/*
 * Ends all in order, telling those who wait; each_second as of session_thread_close(). What is for a
 * client to answer is waited for a few seconds. False: threads are left, which still use what they
 * were given, until the process ends.
 */
bool capture_set_free(struct capture_set *set, bool (*each_second)(void *arg), void *arg);
void capture_set_reload(struct capture_set *set, const struct config *c);

void capture_set_dispatch(struct capture_set *set);
uint32_t capture_set_running(const struct capture_set *set);
/* Does any run, or still write its rest? */
bool capture_set_busy(const struct capture_set *set);
bool capture_set_alive(struct capture_set *set, uint64_t now_ns);

/* streams.c knows where it is. */
struct capture_set *streams_captures(struct streams *s);

#endif
