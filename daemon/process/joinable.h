/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * joinable: a thread whose end is waited for, but not for ever.
 */
#ifndef DAEMON_PROCESS_JOINABLE_H
#define DAEMON_PROCESS_JOINABLE_H

#include <pthread.h>
#include <stdbool.h>

struct joinable {
	pthread_t thread;
	int end_fd; /* eventfd: it has come to its end */
	bool joined;
};

/* 0, -errno. */
int joinable_start(struct joinable *j, const char *name, void *(*body)(void *arg), void *arg);
/* By the thread, as the last that it does. */
void joinable_end(struct joinable *j);
/*
 * Waits for the end. each_second(arg) is called meanwhile (NULL: waits as long as it takes):
 * false gives up. False: given up. By one thread at a time; when it has been, at once.
 */
bool joinable_join(struct joinable *j, bool (*each_second)(void *arg), void *arg);

#endif
