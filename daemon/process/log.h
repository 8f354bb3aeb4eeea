/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * log: words on stderr, with "<N>" priorities when the journal reads them (JOURNAL_STREAM),
 * without when a person does. What came from outside is escaped. errno is preserved.
 *
 * Of each kind (log_limit.h) LOG_A_MINUTE lines are written in a minute. What a user can cause is said with the
 * user's id, so that it is of a kind of its own, with a limit of its own. Warnings and errors are remembered
 * (log_kept.h), each kind by itself.
 */
#ifndef DAEMON_PROCESS_LOG_H
#define DAEMON_PROCESS_LOG_H

#include <stdint.h>

#define LOG_A_MINUTE 20
#define LOG_USER_A_MINUTE 10 /* at most, of what a user can cause */
#define LOG_NO_USER UINT32_MAX

void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_notice(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * What this user can cause: so many lines of its kind and user in a minute. Of LOG_NO_USER likewise, for all. Root (0) is
 * no user here: LOG_A_MINUTE for all.
 */
void log_user_warning(uint32_t uid, unsigned int a_minute, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void log_user_notice(uint32_t uid, unsigned int a_minute, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void log_user_info(uint32_t uid, unsigned int a_minute, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Each second: writes what is due of what was left out. now_ns: CLOCK_MONOTONIC; UINT64_MAX, at the end: all of it. */
void log_tick(uint64_t now_ns);

#endif
