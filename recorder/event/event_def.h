/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event_def: one event as it is opened many times, for each CPU and task.
 *
 * Not every CPU counts by the same PMU: hybrid x86 and big.LITTLE have one for each kind of core,
 * and other PMUs count on some CPUs for all. The event is one all the same; what differs from CPU
 * to CPU stands in its kinds.
 */
#ifndef RECORDER_EVENT_EVENT_DEF_H
#define RECORDER_EVENT_EVENT_DEF_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recorder/event/event_spec.h"
#include "recorder/event/pmu.h"
#include "recorder/ground/cpu_list.h"

/* What the attr has on some CPUs instead of what it has in general. */
struct event_kind {
	char pmu[PMU_NAME_BYTES];
	struct cpu_list cpus;
	uint32_t type;
	uint64_t config;
	bool exclude_guest;
	unsigned precise;
};

struct event_def {
	struct perf_event_attr attr; /* as the recording has it */
	char name[EVENT_SPEC_NAME_BYTES];
	bool named, modified;	/* as in struct event_spec */
	struct count_unit unit; /* of its counts */
	bool sideband;
	/* Of the stack, copied with the registers to be unwound while it records: opened, and not recorded. */
	uint32_t unwind_bytes;
	bool unwind_open; /* no size was asked for: as much as is needed */
	bool trigger;	  /* each hit wakes the reader: see session_options */
	bool counts;	  /* takes no samples, and has no ring: it is read at intervals */
	bool wakeups;	  /* beside off-cpu: see event_wakeups.h */
	bool everybody; /* of all tasks of its CPUs, whatever the target: they do what happens to those */
	bool exclude_self; /* its filter is to leave out the recorder (event_filter.h) */
	bool filter_due;   /* and lacks that yet: the kernel takes one filter, and no second one */
	bool probe;	   /* of the PMU kprobe or uprobe: each count is a trap */
	char *place; /* its file or function, to which attr.config1 points where it is opened; NULL */
	struct event_place *more; /* as in struct event_spec: it is opened at each of them as well */
	size_t nr_more;
	uint32_t member_of; /* the leader of its group, as its index in the plan plus 1; 0: of none */
	uint64_t own_hz; /* by its own term freq=; 0: it has the session's frequency, or a period */
	bool hz_due;  /* attr.sample_freq is to be set: some of its events may have another one */
	uint32_t aux; /* enum aux_tracer, that writes into an AUX area; 0: it samples */
	bool lost;    /* read_format has PERF_FORMAT_LOST */
	unsigned left_out; /* places where it could not be opened (event_missing.h) */
	bool off; /* while others are on, by its name or as it was not named (ring_set_enable_event()) */
	bool off_told;	 /* likewise, in the file that is open */
	bool failed;	 /* somewhere it is pinned and counts nothing, and that was told */
	bool only_kinds; /* it is not opened on CPUs of no kind */
	bool for_all;	 /* each of those CPUs counts for others as well (cpumask): no tasks */
	bool per_package; /* it counts for whole CPUs, and each counts its package: one of them is enough */
	char *filter; /* as the kernel takes it; NULL: none. Its own, as format is */
	char *format; /* of a tracepoint with fields (tracepoint.h of format/); NULL: not known */
	struct event_kind *kinds;
	size_t nr_kinds; /* 0: the attr as it is, on every CPU */
};

void event_def_done(struct event_def *def);

/*
 * Finds its kinds, by sysfs (NULL: /sys): of the PMU that it names, or, where it is one of those
 * that every core PMU has, of all of them, if there are several. 0, -ENOMEM.
 */
int event_def_kinds(struct event_def *def, const char *sysfs, const char *pmu);

/* Looks again at which CPUs are of which kind: one may have come online. 0, -ENOMEM. */
int event_def_look(struct event_def *def, const char *sysfs);

/* What to open on a CPU. False: nothing there. */
bool event_def_attr(const struct event_def *def, uint32_t cpu, struct perf_event_attr *ret);

/*
 * Is it the recorder that chooses how much of a stack is copied to be unwound? Not without a frequency: samples may come
 * at any rate. Nor of what must not be closed while it samples, to be opened anew: probes, whose places are opened one by
 * one and closed slowly, and what tells of each context switch.
 */
bool event_def_sizes_stack(const struct event_def *def);
/* Samples are to have the registers of the user and so many bytes of the stack; 0: they are not. */
void event_attr_copy_stack(struct perf_event_attr *attr, uint32_t bytes);
/* Adds to an attr what is copied of a stack only to be unwound. */
void event_def_copy_stack(const struct event_def *def, struct perf_event_attr *attr);

/* Moves an attr from the first place of a probe to this one of 1 + nr_more. */
void event_def_move(const struct event_def *def, size_t place, struct perf_event_attr *attr);

/* Points an attr that is about to be opened at the place of a probe; recorded, it points nowhere. */
void event_def_point(const struct event_def *def, struct perf_event_attr *attr);

/* Puts what a kind has into an attr. */
void event_kind_apply(const struct event_kind *k, struct perf_event_attr *attr);

/* Has it samples, that end with the tasks? */
bool event_def_samples_target(const struct event_def *def);

/* Has it samples? Else it is side-band, or counts alone. */
bool event_def_samples(const struct event_def *def);

/* Does it count time? */
bool event_attr_is_clock(const struct perf_event_attr *attr);

/* Does it watch an address of the kernel? */
bool event_attr_breaks_in_kernel(const struct perf_event_attr *attr);

/* The attr's bits that the uapi header names one by one, EVENT_ATTR_* of format/. */
uint64_t event_attr_bits(const struct perf_event_attr *attr);
void event_attr_set_bits(struct perf_event_attr *attr, uint64_t bits);
/*
 * The published size that has all that is set, from Linux 5.13's on: programs that read perf.data refuse an
 * attr that is larger than theirs.
 */
uint32_t event_attr_size(const struct perf_event_attr *attr);

#endif
