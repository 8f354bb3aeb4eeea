/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event_spec: what "-e" says, as the kernel understands it.
 *
 *   NAME[:MODS]                  cycles, page-faults, L1-dcache-load-misses, ...
 *   rHEX[:MODS]                  raw code of the CPU's counters
 *   PMU/TERM[=VALUE],.../[MODS]  terms of /sys/bus/event_source/devices/PMU/format
 *   SUBSYSTEM:NAME[:MODS]        tracepoint
 *   EVENT[:MODS]                 of /sys/bus/event_source/devices/PMU/events
 *   mem:ADDR[/LEN][:ACCESS][:MODS]  breakpoint; access r, w, rw (default) or x
 *
 * with modifiers u k h (only there), I (not when idle), G H (guest, host), p pp ppp P
 * (precision), D (pinned), e (exclusive); as perf reads them. Several with commas.
 */
#ifndef RECORDER_EVENT_EVENT_SPEC_H
#define RECORDER_EVENT_EVENT_SPEC_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recorder/event/pmu.h"

#define EVENT_SPEC_NAME_BYTES 128
#define EVENT_SPECS_MAX 64

struct event_spec {
	char name[EVENT_SPEC_NAME_BYTES]; /* as typed, or by the term name= */
	/* type, config*, bp_*, exclude_*, precise_ip, pinned, exclusive, and the period or
	 * frequency when the event itself says one; nothing else. */
	struct perf_event_attr attr;
	char pmu[PMU_NAME_BYTES]; /* the one that was named; "": none was */
	bool named;		  /* by the term name= */
	bool modified;		  /* the name ends in modifiers */
	bool precise_max;	  /* P: the highest precision that opens */
	bool has_rate;		  /* attr.sample_period or sample_freq is from a term */
	bool each;	  /* without -F and -c: a sample at each (tracepoints, breakpoints) */
	uint32_t group;	  /* 0: none; those of one number stand side by side, the leader first */
	bool sample_read; /* S: samples have the counts of the group */
	bool weak;	  /* W: opened alone where the group is refused */
};

struct event_spec_list {
	struct event_spec *specs;
	size_t nr;
};

/* Where the kernel describes events; NULL members: /sys and /sys/kernel/tracing. */
struct event_spec_roots {
	const char *sysfs;
	const char *tracefs;
};

/*
 * Appends the events of one "-e" argument. 0; -EINVAL with a sentence for a person in err;
 * -ENOMEM.
 */
int event_spec_parse(const char *text, const struct event_spec_roots *roots,
		     struct event_spec_list *list, char *err, size_t err_bytes);
void event_spec_list_done(struct event_spec_list *list);

/* Length of the first event of a text: up to a comma that is not between the slashes of a PMU. */
size_t event_spec_bytes(const char *text);

#endif
