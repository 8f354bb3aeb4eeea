/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * log_limit: how many lines of a kind are written in a minute. What is left out is counted, and its last line is written
 * with the number when the minute is over. Bounded whatever happens: kinds and users that find no place share one.
 * Thread-safe. Writes nothing itself.
 */
#ifndef DAEMON_PROCESS_LOG_LIMIT_H
#define DAEMON_PROCESS_LOG_LIMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOG_LIMIT_BYTES 512 /* of the last line that is left out */

/* What is of one kind. */
struct log_kind {
	uint64_t key;
	uint32_t uid; /* who can cause it, LOG_NO_USER: no one user */
};

/* The kind of a line: its format, or its text without numbers where the format has no words of its own. */
struct log_kind log_kind_of(uint32_t uid, const char *format, const char *text);
bool log_kind_same(const struct log_kind *a, const struct log_kind *b);

/* Is this line to be written? Else it is counted. */
bool log_limit_take(const struct log_kind *kind, unsigned int a_minute, int priority,
		    const char *text, uint64_t now_ns);
/* A line that is due by now for what was left out, and its priority. False: there is no more. */
bool log_limit_due(uint64_t now_ns, int *ret_priority, char *line, size_t size);

#endif
