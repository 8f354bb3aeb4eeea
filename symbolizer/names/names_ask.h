/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * names_ask: asks many processes, several at a time, each by a process of its own with a deadline.
 *
 * Whatever a process does that is asked costs its own answer. A program that was executed for it has ended when that is told.
 * A user of whom NAMES_LATE_MAX processes did not answer has no other one asked in this round: they would take its time from
 * others. Nor has one, other than root, whose processes took all places for a whole deadline, or as much time in fewer of them:
 * what answers just in time takes as much.
 */
#ifndef SYMBOLIZER_NAMES_NAMES_ASK_H
#define SYMBOLIZER_NAMES_NAMES_ASK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "symbolizer/names/names_answer.h"

#define NAMES_AT_ONCE 8
#define NAMES_LATE_MAX 4

/* tell() gets an answer of each, as they come. timeout_ns: of each process. */
void names_ask_all(const pid_t *pids, size_t nr, uint64_t timeout_ns,
		   void (*tell)(void *arg, const struct names_answer *a), void *arg);

#endif
