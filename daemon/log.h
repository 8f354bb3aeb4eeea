/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * log: words on stderr, with "<N>" priorities when the journal reads them (JOURNAL_STREAM),
 * without when a person does. What came from outside is escaped. errno is preserved.
 */
#ifndef DAEMON_LOG_H
#define DAEMON_LOG_H

void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_notice(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
