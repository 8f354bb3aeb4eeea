/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event: the attrs that are opened on each CPU, from what was asked and what the kernel has.
 *
 * Nothing is concluded from a kernel version: each optional bit is tried on a scratch event
 * and left out when it is refused. What was asked for and not got is said in notes.
 */
#ifndef RECORDER_EVENT_H
#define RECORDER_EVENT_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "recorder/event_spec.h"
#include "recorder/session.h"

struct buf;

/* One event as it will be opened many times: per CPU, per task. */
struct event_def {
	struct perf_event_attr attr;
	char name[EVENT_SPEC_NAME_BYTES];
	bool sideband;
	bool lost; /* read_format has PERF_FORMAT_LOST */
};

/* The sampling events in the order given, then the side-band event. */
struct event_plan {
	struct event_def *defs;
	size_t nr;
	size_t sideband;       /* index of the last */
	uint64_t frequency_hz; /* asked for; 0: a fixed period */
	uint64_t frequency_hz_effective;
};

/*
 * Makes the plan. notes: a buf of text that gets a line for each thing not got. 0, or
 * -errno with *error filled.
 */
int event_plan_make(const struct session_options *options, struct event_plan *ret,
		    struct buf *notes, struct session_error *error);
void event_plan_done(struct event_plan *plan);

/* The kernel's limit of the frequency, now: a sysctl that it lowers by itself. 0, -errno. */
int event_max_frequency(long long *ret);

/*
 * When the kernel wakes the reader, of rings of so many bytes: at three eighths of them for samples,
 * at a quarter or, of a large ring, a half for side-band.
 */
void event_plan_rings(struct event_plan *plan, uint64_t sample_bytes, uint64_t sideband_bytes);

/* perf_event_open(2), close-on-exec; raises the soft limit of descriptors when it is hit. */
int event_open(const struct perf_event_attr *attr, pid_t pid, int cpu, unsigned long flags);

/* Says in *error what a failed event_open() of def means. Returns err. */
int event_open_error(const struct event_def *def, pid_t pid, int cpu, int err,
		     struct session_error *error);

/* The attr's bits that the uapi header names one by one, EVENT_ATTR_* of format/. */
uint64_t event_attr_bits(const struct perf_event_attr *attr);
void event_attr_set_bits(struct perf_event_attr *attr, uint64_t bits);

#endif
