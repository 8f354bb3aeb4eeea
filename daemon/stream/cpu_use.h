/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cpu_use: who takes how much of the CPU time that the daemon and its helpers use, in windows of some seconds, and
 * since when that has been more than cpu_budget. A pure account, which lowers nothing: that is governor's.
 *
 * Captures and the daemon's own chores are in it, which the governor does not judge. The kernel's interrupts, in which
 * samples are taken, are not: they are charged to whatever they interrupt.
 */
#ifndef DAEMON_STREAM_CPU_USE_H
#define DAEMON_STREAM_CPU_USE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/stream/capture.h"

#define CPU_USE_WINDOW_NS (5 * UINT64_C(1000000000))
#define CPU_USE_OVER                                                                               \
	1.1 /* budgets: less is the daemon's own loop, beside a governor that keeps to one */

enum cpu_use_part {
	CPU_USE_SAMPLES,  /* the base stream: from the rings to the file */
	CPU_USE_SIDEBAND, /* likewise, of records of processes and maps */
	CPU_USE_HELPERS,
	CPU_USE_FLIGHT,
	CPU_USE_CAPTURES, /* of all users */
	CPU_USE_REST,	  /* clients, chores, the archive, the loop */
	CPU_USE_PARTS
};

/* "samples": as the status has it. */
const char *cpu_use_name(enum cpu_use_part part);

/* Counters since the start of the process. */
struct cpu_use_reading {
	uint64_t now_ns;
	uint64_t cpu_ns;		  /* of all */
	uint64_t parts_ns[CPU_USE_PARTS]; /* REST is what they leave */
	struct capture_cpu users[CAPTURE_CPU_USERS];
};

/* All zero to begin with. */
struct cpu_use {
	struct cpu_use_reading at; /* where the window began */
	/* Of the last whole window, in percent of one CPU. */
	double percent, parts[CPU_USE_PARTS];
	struct cpu_use_of {
		uint32_t uid; /* UINT32_MAX: of users for whom there was no room */
		double percent;
	} users[CAPTURE_CPU_USERS];	  /* whose captures; 0 percent: none */
	unsigned int windows, over, calm; /* over, calm: in a row */
	uint64_t over_ns;		  /* where the first of those over began */
	bool exceeded;
};

/* Call it about once a second. budget_milli_percent: of one CPU; 0: none, and so nothing is exceeded. */
void cpu_use_take(struct cpu_use *u, const struct cpu_use_reading *now,
		  uint64_t budget_milli_percent);
/* The budget is another one. */
void cpu_use_forget(struct cpu_use *u);

#endif
