/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shifted_clock: CLOCK_MONOTONIC of the thread that shifts it is ahead of that of all others, so
 * that a main loop sees a deadline pass at once while its sessions live in real time. Defines
 * clock_gettime() itself, and so is included by one source of a program.
 */
#ifndef TESTS_LAB_SHIFTED_CLOCK_H
#define TESTS_LAB_SHIFTED_CLOCK_H

#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static _Thread_local unsigned int clock_shift_s;

int
clock_gettime(clockid_t clock, struct timespec *ret)
{
	int r = (int)syscall(SYS_clock_gettime, clock, ret);

	if (r == 0 && clock == CLOCK_MONOTONIC)
		ret->tv_sec += clock_shift_s;
	return r;
}

#endif
