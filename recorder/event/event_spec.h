/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event_spec: what "-e" says, as the kernel understands it.
 *
 *   NAME                          cycles, page-faults, L1-dcache-load-misses, ...
 *   rHEX                          raw code of the CPU's counters
 *   TYPE:CONFIG                   numbers of the attr
 *   PMU/TERM[=VALUE],.../[MODS]   terms of /sys/bus/event_source/devices/PMU/format, events of
 *                                 PMU/events, and of a core's PMU the names above
 *   EVENT                         of /sys/bus/event_source/devices/PMU/events
 *   SUBSYSTEM:NAME                tracepoint; both may be patterns (sched:sched_*)
 *   off-cpu[/min=TIME,freq=HZ/]   waits of threads (format/record/off_cpu.h)
 *   mem:[NAME=]ADDR[/LEN][:ACCESS]   breakpoint; access r, w, rw (default) or x
 *   uprobe:PATH:[NAME=]OFFSET[(SEMAPHORE)]
 *                                 each time that place of a file is executed, and uretprobe: when its
 *                                 function returns; the kernel adds one to the semaphore at that place of the
 *                                 file, in each process that it probes
 *   usdt:PATH:PROVIDER:NAME=OFFSET[(SEMAPHORE)][+OFFSET...]
 *                                 each time that one of the places of a static probe is executed
 *   kprobe:SYMBOL[+OFFSET]        likewise in the kernel, and kretprobe:; or kprobe:ADDR
 *
 * Behind each there may be /TERM[=VALUE],.../ of those that are of every event,
 * and :MODS: u k h (only there), I (not when idle), G H (guest, host), p pp ppp P (precision), D (pinned),
 * e (exclusive), S (the group's counts in samples), W (weak group), b R (perf stat's: of no effect); as perf
 * reads them. Several with commas.
 */
#ifndef RECORDER_EVENT_EVENT_SPEC_H
#define RECORDER_EVENT_EVENT_SPEC_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recorder/event/pmu.h"
#include "recorder/ground/session_options.h"

struct buf;
struct session_filter;

#define EVENT_SPEC_NAME_BYTES 256
#define EVENT_SPEC_ERROR_BYTES 480
#define EVENT_SPECS_MAX 4096 /* syscalls:* are 700, all tracepoints 2,000 */
#define EVENT_PLACES_MAX 512 /* of one probe; the largest of OpenJDK 25 has some dozens */

/* One more place of a file that an event is at. */
struct event_place {
	uint64_t config, config2; /* of the attr */
};

struct event_spec {
	char name[EVENT_SPEC_NAME_BYTES]; /* as typed, or by the term name= */
	/*
	 * type, config*, bp_*, exclude_*, precise_ip, pinned, exclusive, sample_max_stack, branch_sample_type, and
	 * the period or frequency when the event itself says one; of sample_type RAW and BRANCH_STACK.
	 */
	struct perf_event_attr attr;
	char pmu[PMU_NAME_BYTES]; /* the one that was named; "": none was */
	struct count_unit unit;	  /* of its counts, where sysfs names the event */
	char *probe; /* of a probe's path or symbol: attr.config1 points to it where it is opened */
	struct event_place *more; /* the places of a probe behind the first one, which the attr has */
	size_t nr_more;
	char *tracepoint; /* SUBSYSTEM:NAME, whatever it is named; NULL: it is none */
	bool named;	  /* by the term name= */
	bool modified;	  /* the name ends in modifiers */
	bool precise_max; /* P: the highest precision that opens */
	bool has_rate;	  /* attr.sample_period or sample_freq is from a term */
	bool trigger;	  /* see session_options: not said by the text */
	bool each;	/* without -F and -c: a sample at each (tracepoints, breakpoints, probes) */
	bool syscalls;	/* a tracepoint that each system call of the host has to pass */
	bool numbered;	/* by TYPE:CONFIG, which tell nobody what it is */
	uint32_t group; /* 0: none; those of one number stand side by side, the leader first */
	bool sample_read; /* S: samples have the counts of the group */
	bool weak;	  /* W: opened alone where the group is refused */
	bool counts;	  /* takes no samples: it is read at intervals (event_counters.h) */
	bool wakeups;	  /* OFF_CPU_WAKEUPS, which off-cpu brings along: not said by the text */
	bool has_inherit, inherit; /* by a term */
	bool has_call_graph;	   /* by a term; stack_bytes as in session_options */
	enum session_call_graph call_graph;
	uint32_t stack_bytes;
	const struct session_filter *filter; /* of the recorder's options; NULL: none */
};

struct event_spec_list {
	struct event_spec *specs;
	size_t nr;
	/* NULL, or a text of notes: what this machine has not is left out and told there, else it is an error. */
	struct buf *skipped;
	bool absent; /* the error is that: well-formed, but not of this machine */
};

/* Where the kernel describes events; NULL members: /sys and /sys/kernel/tracing. */
struct event_spec_roots {
	const char *sysfs;
	const char *tracefs;
};

/*
 * Appends the events of one "-e" argument. 0; -EINVAL with a sentence for a person in err, which begins with the
 * argument and tells the character (from 1) that it is about; -ENOMEM.
 */
int event_spec_parse(const char *text, const struct event_spec_roots *roots,
		     struct event_spec_list *list, char *err, size_t err_bytes);
/* Of the argument those from there on, up to there. */
int event_spec_parse_part(const char *text, size_t from, size_t to,
			  const struct event_spec_roots *roots, struct event_spec_list *list,
			  char *err, size_t err_bytes);
void event_spec_done(struct event_spec *spec); /* what it owns */
void event_spec_list_done(struct event_spec_list *list);

/*
 * Length of the first event of a text, with the blanks before it: up to the end, or one of these: ',' (between
 * slashes, it is between terms), '{' and '}'. What is quoted between slashes is passed over.
 */
size_t event_spec_bytes(const char *text, const char *ends);
/* Where in a breakpoint or probe of n bytes its terms begin, at their slash; n: it has none. */
size_t event_spec_terms(const char *event, size_t n);
/* What may stand around an event, and is no part of it. */
bool event_spec_blank(char c);

#endif
