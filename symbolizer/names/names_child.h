/* SPDX-License-Identifier: GPL-2.0-or-later */
/* names_child: the process that asks one other process: looks at it with the caller's rights, then asks it as its user. */
#ifndef SYMBOLIZER_NAMES_NAMES_CHILD_H
#define SYMBOLIZER_NAMES_NAMES_CHILD_H

#include <stdint.h>
#include <sys/types.h>

/*
 * In a process that was forked for it by parent: writes a struct names_answer to fd, and ends. What it has executed in the
 * meantime is *started, in memory that the parent shares: a program of the process's user, who may end this process and stay.
 */
void __attribute__((noreturn))
names_child_run(pid_t parent, pid_t pid, int fd, volatile pid_t *started, int64_t deadline_ns);

#endif
