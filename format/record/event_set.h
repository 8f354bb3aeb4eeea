/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event_set: the events of a recording, and which of them wrote a record.
 *
 * Owns attrs, names and ids. Finds an event by the id in a record: at the position that
 * PERF_SAMPLE_IDENTIFIER fixes (first word of a SAMPLE, last word of anything else), or,
 * for files of others, where ID stands in samples whose events agree on the position.
 */
#ifndef FORMAT_RECORD_EVENT_SET_H
#define FORMAT_RECORD_EVENT_SET_H

#include <stddef.h>
#include <stdint.h>

#include "format/record/event_attr.h"
#include "format/record/count_unit.h"
#include "format/record/perf_record.h"
#include "format/record/sample_layout.h"

struct event_set;

struct event {
	struct event_attr attr;
	struct sample_layout layout; /* of its samples */
	struct span attr_raw;	     /* the attr as the kernel or the file gave it */
	const char *name;	     /* "cpu-clock"; owned by the set */
	const char *format;	/* of a tracepoint, see tracepoint.h; NULL: not known; likewise */
	struct count_unit unit; /* of its counts */
	const uint64_t *ids;	/* owned by the set */
	size_t nr_ids;
};

struct event_set *event_set_new(void); /* NULL: out of memory */
void event_set_free(struct event_set *set);

/*
 * Adds an event; attr_raw is copied and decoded. ret_index may be NULL. -FMT_E_NOMEM, or
 * what event_attr_parse() says. An id that is there already is -FMT_E_CORRUPT.
 */
int event_set_add(struct event_set *set, struct span attr_raw, const char *name, size_t *ret_index);

/* Gives an event one more id (one per CPU: each descriptor has its own). */
int event_set_add_id(struct event_set *set, size_t index, uint64_t id);

/* Gives an event another name. -FMT_E_NOMEM. */
int event_set_rename(struct event_set *set, size_t index, const char *name);

/*
 * Gives a tracepoint that has none its format, of which a copy is kept. NULL, one that is too long,
 * or too much together with the others: it stays without. -FMT_E_NOMEM.
 */
#define EVENT_FORMAT_BYTES_MAX (64u << 10) /* the kernel's longest has 6 KiB */
#define EVENT_FORMATS_BYTES_MAX (4u << 20) /* all of a kernel, 2300 formats, have 2 MB */
int event_set_format(struct event_set *set, size_t index, const char *format);

/* Tells what its counts mean. One that is not valid is passed over. */
void event_set_unit(struct event_set *set, size_t index, const struct count_unit *unit);

/*
 * Adds what another set has of an event: attr, name, format and unit, but no ids. As event_set_add().
 */
int event_set_copy(struct event_set *set, const struct event *event, size_t *ret_index);

size_t event_set_count(const struct event_set *set);
/* index < event_set_count(); the pointer is good until the next event_set_add*(). */
const struct event *event_set_at(const struct event_set *set, size_t index);
#define EVENT_SET_NO_ID (-1)	  /* the events put no id there */
#define EVENT_SET_ID_DIFFERS (-2) /* not all at the same place: no place to look at */
/* Which word of a sample, from 0, is the id of its event; or one of those. */
int event_set_id_word(const struct event_set *set);
/* Index of the event with this id, or -1. */
int event_set_find(const struct event_set *set, uint64_t id);
/*
 * Likewise of a sample, by the id in it. Linux (6.18, ___perf_sw_event()) fills in one struct
 * perf_sample_data for all software events that count the same thing on a CPU, whosever they are: the second one's
 * samples have the id of the first. So an id that nobody here has is that of the one such event, if
 * there is but one.
 */
int event_set_of_sample(const struct event_set *set, uint64_t id);

/*
 * Parses a record by the event that its id names. *ret_event (may be NULL) gets the event's
 * index, or -1 when the record carries no id. Rules, in order:
 * - the id is read at its fixed position, of records with bytes behind it as perf_record_filled()
 *   says; an id that no event has is -FMT_E_UNKNOWN_ID;
 * - id 0 marks a record that a tool synthesized: the first event's shape;
 * - a set of one event without ids needs none;
 * - types from REC_USER_FIRST up have no trailer.
 */
int event_set_parse(const struct event_set *set, struct span record, struct perf_record *ret,
		    int *ret_event);

/* What most users of a sample need of it. */
struct sample_glance {
	int event;	       /* index; -1: no id */
	uint16_t misc;	       /* of the record's header */
	uint64_t ip;	       /* 0: none */
	uint64_t time;	       /* 0: none */
	uint32_t pid;	       /* 0: none, or the idle task */
	struct span callchain; /* words, context markers included */
};

/*
 * The same of a plain sample, at a tenth of the price: true for a record that event_set_parse()
 * takes as well, and for which it would say the same. False tells nothing: ask it.
 */
bool event_set_glance(const struct event_set *set, struct span record, struct sample_glance *ret);
/* What event_set_parse() said of a sample. */
void sample_glance_of(const struct perf_record *sample, int event, struct sample_glance *ret);

#endif
