/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * read_counts: what each event counted in a recording, of the READ records at its end, and how
 * much of the time it had a counter.
 *
 * An id is one event on one CPU, of all that runs there or of one task. Its counts only grow, so
 * that the last READ has all of it; those that are levels change, and the last READ has what there is.
 * Where a file follows another one, the first READ of an id tells what was counted before it, and so
 * says its misc; where events without samples are read at intervals, their first READ of any file does.
 */
#ifndef FORMAT_RECORD_READ_COUNTS_H
#define FORMAT_RECORD_READ_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/bytes/slots.h"
#include "format/record/event_set.h"

/*
 * PERF_RECORD_MISC_* of a READ: what was counted before this file, which follows another one. A file that was to end
 * there, and goes on, has such a READ as well: behind another one of the same id and time.
 */
#define READ_MISC_BEFORE (1u << 13)

struct read_count {
	uint64_t id;
	uint32_t event, task; /* task: UINT32_MAX: all on the CPU */
	uint32_t cpu;	      /* UINT32_MAX: of no CPU */
	uint64_t value, enabled_ns, running_ns;
	uint64_t first_ns; /* time of its first READ */
	bool level; /* value is what there was then (count_unit.snapshot), and never a sum of two */
	struct {
		uint64_t value, enabled_ns, running_ns;
	} before;	  /* of them, what is not of this file, as the first READ tells it */
	bool before_only; /* no READ told more */
};

/* All zero is an empty one. */
struct read_counts {
	struct read_count *of; /* by id, as they came; settled: by event and task */
	size_t nr, cap;
	struct slots slots;
	bool at_intervals; /* the owner's to set: meta.counter_interval_ns */
};

void read_counts_done(struct read_counts *c);

/*
 * The i-th value of a READ record, which finds its event in the set by its id; nothing before it. False: that has
 * none of that id.
 */
bool read_count_at(const struct event_set *events, const struct perf_record *record, uint64_t i,
		   struct read_count *ret);
/*
 * Does it tell counts so far? Those that the kernel makes of tasks that end (attr.inherit_stat) do not: the last
 * one of the event has them.
 */
bool read_counts_are_in(const struct perf_record *record);

/*
 * Is an event one that is counted alone, and read at intervals? Not one with samples, nor who counts in the group of
 * such a one, whose counts stand in those.
 */
bool read_counts_alone(const struct event_attr *attr);

/*
 * A READ record of an event, each of whose values finds its event in the set by its id. Others
 * than read_counts_are_in() are passed over. 0, -FMT_E_NOMEM.
 */
int read_counts_add(struct read_counts *c, const struct event_set *events,
		    const struct perf_record *record);

struct read_total {
	bool known; /* some READ told it, and not what was before the file alone */
	bool level; /* as in struct read_count: what the last READ told */
	uint64_t value;
	uint64_t enabled_ns; /* that it should have counted */
	uint64_t running_ns; /* that it did */
};

/* One more count, of an id that is not there. 0, -FMT_E_NOMEM. */
int read_counts_push(struct read_counts *c, const struct read_count *count);

/* After the last one was added, and before totals are asked for. */
void read_counts_settle(struct read_counts *c);

/* Of an event, as its index in the set. */
struct read_total read_counts_total(const struct read_counts *c, size_t event);

/* value × enabled / running: what it would have counted had it always had a counter. A level is what it is. */
uint64_t read_total_scaled(const struct read_total *t);
/*
 * Had it to share the counters? The kernel counts the two times at slightly other moments; a
 * hundredth of the time is no sign of it.
 */
bool read_total_shared(const struct read_total *t);
/* Of the time, in percent; 100 when it is not known. */
double read_total_percent(const struct read_total *t);

#endif
