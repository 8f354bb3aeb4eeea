/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * log_kept: warnings and errors for who asks later: of each kind the last, how often there were such, and since when. A user
 * has LOG_KEPT_EACH places, all users together half of them. Thread-safe.
 */
#ifndef DAEMON_PROCESS_LOG_KEPT_H
#define DAEMON_PROCESS_LOG_KEPT_H

#include <stdbool.h>
#include <stddef.h>

#include "daemon/process/log_limit.h"
#include "format/bytes/time_text.h"

#define LOG_KEPT 16
#define LOG_KEPT_EACH 2
#define LOG_KEPT_TEXT 240 /* with its '\0' */
#define LOG_KEPT_TIMES 72 /* " (N times since T)", with its '\0' */
#define LOG_KEPT_BYTES (TIME_TEXT_UTC_BYTES + LOG_KEPT_TEXT + LOG_KEPT_TIMES)

/* text: escaped. */
void log_kept_put(const struct log_kind *kind, const char *text);

/*
 * i from 0, that whose last time is the oldest first. Each begins with its last time (UTC); "(3 times since
 * 2026-11-22T12:03:10Z)" ends one that was more than once. False: there are no more.
 */
bool log_kept(size_t i, char line[LOG_KEPT_BYTES]);

#endif
