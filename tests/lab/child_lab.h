/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * child_lab: a process of the test's own that stands still, to be looked at.
 */
#ifndef TESTS_LAB_CHILD_LAB_H
#define TESTS_LAB_CHILD_LAB_H

#include <sys/types.h>

/*
 * Forks a child of this user (only root can name another than getuid()) that calls begin(arg), which
 * may be NULL, and then sleeps until it is killed. Returns when begin() has; the test fails where
 * begin() ends the child. A test that fails leaves nobody behind.
 */
pid_t child_lab_start(uid_t uid, void (*begin)(void *arg), void *arg);

/* Kills and reaps it. */
void child_lab_end(pid_t pid);

/* The rest of the life of a child that a test forked by itself: until it is killed or the test ends. */
__attribute__((noreturn)) void child_lab_sleep(void);

#endif
