/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * log: words on stderr, with "<N>" priorities when the journal reads them (JOURNAL_STREAM),
 * without when a person does. What came from outside is escaped. errno is preserved.
 */
#ifndef DAEMON_PROCESS_LOG_H
#define DAEMON_PROCESS_LOG_H

#include <stdbool.h>
#include <stddef.h>

#define LOG_KEPT 8
#define LOG_KEPT_BYTES 256

void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_notice(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * The last warnings and errors, for who asks later: i from 0, the oldest one first. Each is
 * escaped and begins with its time (UTC), and is cut to LOG_KEPT_BYTES. False: there are no more.
 */
bool log_kept(size_t i, char line[LOG_KEPT_BYTES]);

#endif
