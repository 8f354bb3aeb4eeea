/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * raw_profile: samples as distinct stacks of places, with weights, and not one symbol of a file.
 *
 * A place is an address where it lies in a file's map, whichever process maps it and wherever, so
 * that each has to be looked up once. Places of the kernel and of code that was made at run time have
 * their names already, since these change with time. Strings are the giver's, and interned: equal ones
 * are one pointer.
 */
#ifndef SYMBOLIZER_PROFILE_RAW_PROFILE_H
#define SYMBOLIZER_PROFILE_RAW_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/bytes/buf.h"
#include "format/bytes/slots.h"
#include "format/bytes/word_lists.h"
#include "format/model/task_model.h"
#include "symbolizer/object/object_store.h"
#include "symbolizer/profile/callchain.h"

/* What samples may be kept apart by, besides command and event: type, name (the sort key's). */
#define PROFILE_KEYS(X)                                                                            \
	X(const char *, cgroup)	   /* interned */                                                  \
	X(const char *, unit)	   /* likewise */                                                  \
	X(const char *, cgroup_id) /* likewise: the namespace, "DEV/INODE" */                      \
	X(const char *, waker)	   /* likewise: who ended a wait (wait_samples.h) */               \
	X(const char *, trace)	   /* likewise: fields of the tracepoint (gather.h) */             \
	X(uint32_t, pid)                                                                           \
	X(uint32_t, tid)                                                                           \
	X(uint32_t, cpu)                                                                           \
	X(uint64_t, time) /* number of the bucket of time (gather.h) */
#define PROFILE_FIELD(type, name) type name;

struct profile_weight {
	uint64_t samples, period;
};

static inline void
profile_weigh(struct profile_weight *w, const struct profile_weight *more)
{
	w->samples += more->samples;
	w->period += more->period;
}

#define RAW_LOW_END UINT64_C(0x100000000) /* maps of 32-bit processes end below it */

/* A map of an object, as it lay in the first process that was sampled in it. */
struct raw_region {
	struct task_map map; /* its object is NULL: it is the one beside it */
	struct map_object object;
};

/* An address in it is one wherever the map lies; in anything else nothing but an address. */
static inline bool
raw_region_is_file(const struct raw_region *r)
{
	return r->object.build_id.size || !map_object_anonymous(r->object.path);
}

struct raw_place {
	enum callchain_mode mode;
	bool is_return;
	bool is_data;	  /* of what the code there touched: never a return address, nor named */
	uint32_t region;  /* of CALLCHAIN_USER; RAW_NO_REGION: nothing was mapped there */
	uint64_t address; /* in the region's first process */
	/* Of the kernel, as the recording names it, and of JIT code; NULL: there is no name. */
	const char *symbol, *dso;
	uint64_t start; /* of the symbol */
};
#define RAW_NO_REGION UINT32_MAX
#define RAW_NO_PLACE UINT32_MAX

/*
 * All that tells a place from others, but for names of the kernel: most are found with one look.
 */
struct raw_place_slot {
	uint64_t address;
	uint32_t key;	 /* from the region, the mode, is_return; of the kernel from the name */
	uint32_t number; /* of the place, + 1 */
};

/* Of the first and the last sample. */
struct raw_times {
	uint64_t first_ns, last_ns;
};

/* Whose samples are counted together, and what the filter says of them. */
struct raw_who {
	const char *comm;
	PROFILE_KEYS(PROFILE_FIELD) /* 0 and NULL unless they are asked for */
	int event;
	uint32_t detail; /* number of the list of its details; 0 where none are asked for */
	bool in_scope, wanted;
	struct profile_weight seen; /* all of its samples */
	struct raw_times times;	    /* likewise */
};

struct raw_key {
	uint32_t who;
	uint32_t stack; /* its number; leaf_only: the place's */
};

/* Samples of one who, on one stack. */
struct raw_row {
	struct raw_key key;
	struct profile_weight weight;
};

/* A sample by itself: one of those that its row counts. */
struct raw_logged {
	uint64_t time_ns, period;
	size_t bytes_at; /* its kept values, in the profile's bytes */
	uint32_t row, nr_bytes;
};

struct raw_profile {
	struct raw_region *regions;
	size_t nr_regions, cap_regions;
	struct slots region_slots;
	struct raw_place *places;
	size_t nr_places, cap_places;
	struct raw_place_slot *place_slots; /* open addressing, number 0 is free */
	size_t place_mask;		    /* number of slots - 1 */
	struct raw_who *whos;
	size_t nr_whos, cap_whos;
	struct slots who_slots;
	struct word_lists details; /* sample_detail.h, with places by their numbers, RAW_NO_PLACE */
	struct word_lists stacks;  /* of numbers of places, leaf first */
	bool leaf_only;		   /* stacks are places */
	struct raw_row *rows;
	size_t nr_rows, cap_rows;
	struct slots row_slots;
	bool row_times;		 /* those of a who do not do: not all of its rows are wanted */
	struct raw_times *times; /* of the rows, then */
	size_t cap_times;
	bool logs;		/* each sample is kept, in the order in which they were counted */
	struct raw_logged *log; /* they, then */
	size_t nr_log, cap_log;
	struct buf bytes; /* of tracepoints, one sample's behind another's */
};

void raw_profile_done(struct raw_profile *p); /* all zero is an empty one */
/* Bytes that it takes. */
size_t raw_profile_bytes(const struct raw_profile *p);

/* The number of the equal one, new or known. 0, -FMT_E_NOMEM. path is interned. */
int raw_profile_region(struct raw_profile *p, const struct task_map *map,
		       const struct buildid *build_id, const char *path, uint32_t *ret);
int raw_profile_place(struct raw_profile *p, const struct raw_place *key, uint32_t *ret);
/* Where the CPU is to look for a place that is next but a few; NULL: nowhere. */
const void *raw_profile_place_slot(const struct raw_profile *p, const struct raw_place *key);
int raw_profile_who(struct raw_profile *p, const struct raw_who *key, uint32_t *ret);

/* A sample on its way to its row. */
struct raw_sample {
	struct raw_key key;
	uint32_t hash;	  /* of the key */
	uint32_t samples; /* 1; 0: a part of the period of one that is counted elsewhere */
	uint64_t period, time_ns;
};

static inline struct raw_sample
raw_sample(struct raw_key key, uint64_t period, uint64_t time_ns)
{
	return (struct raw_sample){ key, (uint32_t)slots_mix(key.who, key.stack), 1, period,
				    time_ns };
}

/* 0, -FMT_E_NOMEM. */
int raw_profile_count(struct raw_profile *p, const struct raw_sample *sample);
/* Where samples are logged: what is kept of the last one (kept_values.h). 0, -FMT_E_NOMEM. */
int raw_profile_values_of(struct raw_profile *p, const struct perf_sample *sample);
/*
 * Rows are many, and each is somewhere else: where the CPU is to look for the one of a sample that is
 * next but a few, and then, when that has come, for the row itself. Only addresses, for gcc takes a
 * function that does nothing but prefetch for one that does nothing.
 */
static inline const void *
raw_profile_row_slot(const struct raw_profile *p, const struct raw_sample *sample)
{
	return p->row_slots.v ? &p->row_slots.v[sample->hash & p->row_slots.mask] : NULL;
}

static inline const void *
raw_profile_row_maybe(const struct raw_profile *p, const struct raw_sample *sample)
{
	const struct slot *slot = raw_profile_row_slot(p, sample);

	return slot && slot->index ? &p->rows[slot->index - 1] : NULL;
}

static inline void
raw_times_add(struct raw_times *t, uint64_t time_ns)
{
	t->first_ns = time_ns < t->first_ns ? time_ns : t->first_ns;
	t->last_ns = time_ns > t->last_ns ? time_ns : t->last_ns;
}

/* Of the samples of a row, or of all of its who. */
static inline const struct raw_times *
raw_profile_times(const struct raw_profile *p, size_t row)
{
	return p->row_times ? &p->times[row] : &p->whos[p->rows[row].key.who].times;
}

/* The places of a row's stack, the sampled one first. */
static inline const uint32_t *
raw_profile_stack(const struct raw_profile *p, const struct raw_row *row, size_t *ret_n)
{
	if (!p->leaf_only)
		return word_lists_at(&p->stacks, row->key.stack, ret_n);
	*ret_n = 1;
	return &row->key.stack;
}

#endif
