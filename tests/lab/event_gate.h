/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event_gate: perf_event_open(2) of this program can be held, so that a session stays in its
 * opening, or refused. Defines syscall() itself, and so is included by one source of a program.
 */
#ifndef TESTS_LAB_EVENT_GATE_H
#define TESTS_LAB_EVENT_GATE_H

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <time.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct event_gate {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	/* Under lock: */
	bool shut;
	unsigned int waiting; /* threads before the shut gate */
	int error;	      /* what the call fails with; 0: it is the kernel's */
} event_gate = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

static inline void
event_gate_set(bool shut, int error)
{
	pthread_mutex_lock(&event_gate.lock);
	event_gate.shut = shut;
	event_gate.error = error;
	pthread_cond_broadcast(&event_gate.changed);
	pthread_mutex_unlock(&event_gate.lock);
}

static inline bool
event_gate_reached(void)
{
	bool reached;

	pthread_mutex_lock(&event_gate.lock);
	reached = event_gate.waiting > 0;
	pthread_mutex_unlock(&event_gate.lock);
	return reached;
}

static inline int
event_gate_pass(void)
{
	struct timespec until;
	int error;

	/* A test that failed while it was shut leaves it so for those that follow. */
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 30;
	pthread_mutex_lock(&event_gate.lock);
	event_gate.waiting++;
	while (event_gate.shut &&
	       pthread_cond_timedwait(&event_gate.changed, &event_gate.lock, &until) == 0)
		;
	event_gate.waiting--;
	error = event_gate.error;
	pthread_mutex_unlock(&event_gate.lock);
	return error;
}

long
syscall(long number, ...)
{
	long (*real)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	long a[5]; /* more nobody passes here, and what was not passed is not to be read */
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 5; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_perf_event_open) {
		int error = event_gate_pass();

		if (error) {
			errno = error;
			return -1;
		}
	}
	return real(number, a[0], a[1], a[2], a[3], a[4], 0L);
}

#endif
