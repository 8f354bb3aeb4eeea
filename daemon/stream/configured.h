/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * configured: what of the configuration all of the daemon's own sessions take: which events, and what their
 * samples have.
 */
#ifndef DAEMON_STREAM_CONFIGURED_H
#define DAEMON_STREAM_CONFIGURED_H

#include <stddef.h>

#include "daemon/config/config.h"
#include "recorder/ground/session_error.h"
#include "recorder/ground/session_options.h"

/* All zero is an empty one. */
struct configured {
	char *events, *counters;
	const char *event_list[1];
};

/* options point into it. 0, -ENOMEM, -EINVAL with *error. */
int configured_apply(struct configured *k, const struct config *c, struct session_options *options,
		     struct session_error *error);
/* What is counted beside, for the one of them that does. Likewise. */
int configured_count(struct configured *k, const struct config *c, struct session_options *options,
		     struct session_error *error);
/*
 * For config_error.events: may a session have these events, as far as their text tells? configured_try_events() also
 * refuses what is not on this machine, and has the kernel try them where this process may have events of every CPU.
 */
int configured_check_events(const char *key, const char *value, char *why, size_t size);
int configured_try_events(const char *key, const char *value, char *why, size_t size);
void configured_done(struct configured *k);

#endif
