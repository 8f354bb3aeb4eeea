/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event_aux: events whose PMU traces into an AUX area (Intel PT, Arm SPE...): which they are, what they have
 * by default, and what a decoder has to know of this machine.
 *
 * The defaults and the words are those of perf record, for its decoders read them.
 */
#ifndef RECORDER_EVENT_EVENT_AUX_H
#define RECORDER_EVENT_EVENT_AUX_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include "format/block/aux_trace.h"
#include "recorder/event/event_def.h"
#include "recorder/event/event_spec.h"
#include "recorder/event/target.h"
#include "recorder/ground/session_error.h"
#include "recorder/ground/session_options.h"

/* enum aux_tracer of a PMU; 0: it has no AUX area, or none that is recorded. */
uint32_t event_aux_tracer(const char *pmu);

/* What its terms are before some are given: those that sysfs has. */
void event_aux_defaults(const char *sysfs, const char *pmu, struct perf_event_attr *attr);

/*
 * Of an event that traces, what its attr has and has not: no sample is taken, and so no call chain. has_rate: its
 * period was given.
 */
void event_aux_attr(const char *sysfs, const char *pmu, bool has_rate,
		    struct perf_event_attr *attr);

/* What of a session's event that traces is told with the trace. */
struct event_aux {
	uint32_t tracer;
	char pmu[PMU_NAME_BYTES];
	struct aux_trace about; /* its words are those of bytes */
	struct buf bytes;
};

/*
 * An event that is to be recorded: if it traces, *aux is made, of which there is one in a session. 0, -errno with
 * *error filled.
 */
int event_aux_plan(const struct session_options *o, const struct event_spec *spec,
		   struct event_aux **aux, struct session_error *error);

/*
 * When all events are as they will be opened: a is described by the one of defs that traces. a NULL: there is
 * none, which is an error when something is asked of it.
 */
int event_aux_settle(struct event_aux *a, const struct event_def *defs,
		     const struct session_options *o, const struct target *target,
		     struct session_error *error);
void event_aux_free(struct event_aux *a); /* may be NULL */

/* What is traced, and how: all that runs on whole CPUs, by areas of CPUs and not of threads, of a kernel's release. */
struct event_aux_scope {
	const struct cpu_list *cpus;
	const char *release;
	bool cpu_wide, per_cpu, snapshot;
};

/* The words for a decoder, of an event with this attr. 0, -errno with *error filled. */
int event_aux_describe(struct event_aux *a, const char *sysfs, const struct perf_event_attr *attr,
		       const struct event_aux_scope *scope, struct session_error *error);

/* The clock of a tracer, cycles, is ns of another one at the same time: time_zero of what mult and shift say. */
uint64_t event_aux_time_zero(uint32_t shift, uint32_t mult, uint64_t cycles, uint64_t ns);

#endif
