/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session_error: filling in why a session could not start or go on.
 */
#ifndef RECORDER_GROUND_SESSION_ERROR_H
#define RECORDER_GROUND_SESSION_ERROR_H

#include <stdbool.h>

struct buf;

/* Why a session could not start or go on. text is a whole message for a person. */
struct session_error {
	int exit_status; /* what a program should exit with: 1; 2 usage; 127, 126 the command */
	bool of_file;	 /* that is written: who named it says its name before the text */
	char text[512];
};

/* err is negative and is returned; exit_status becomes 1. error may be NULL. */
int session_fail(struct session_error *error, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The same, with exit_status 2: what was asked for makes no sense. Returns -EINVAL. */
int session_usage(struct session_error *error, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Appends a line to a text of notes. */
void session_note(struct buf *notes, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A number in a file below /proc or /sys, such as a sysctl; 0, -errno. */
int session_sysctl(const char *path, long long *ret);

#endif
