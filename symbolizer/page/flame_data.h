/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flame_data: profiles as the flame graph page has them: the stacks as one tree of frames from the
 * outermost on, and rows that say who was sampled where in it how often.
 *
 * One profile, or two that are compared (sides): frames of equal name, object and kind are one, whichever
 * profile they are from. What is drawn, which part of the rows and from which end, the page decides.
 *
 *	texts	names, escaped; the first is none
 *	keys	what of whos is known: "comm", and what samples were kept apart by
 *	frames	name, object, source file (texts), kind (FLAME_KINDS)
 *	nodes	parent (how many nodes before), frame; the root is node 0 and has none; parents come first
 *	whos	side, event, comm, cgroup, unit (texts), pid, tid, cpu
 *	rows	node (how many after the last row's), who, samples, period (in period_unit), and,
 *		with times, bucket (the column)
 */
#ifndef SYMBOLIZER_PAGE_FLAME_DATA_H
#define SYMBOLIZER_PAGE_FLAME_DATA_H

#include <stdint.h>

#include "symbolizer/page/page_json.h"
#include "symbolizer/profile/profile.h"

#define FLAME_SIDES 2

/* Of a frame, the first that holds. */
#define FLAME_KINDS(X)                                                                             \
	X(kernel)                                                                                  \
	X(inlined) /* into its caller */                                                           \
	X(jit)	   /* made at run time */                                                          \
	X(unknown) /* has no name */                                                               \
	X(user)

enum flame_kind {
#define X(name) FLAME_##name,
	FLAME_KINDS(X)
#undef X
		FLAME_KINDS_MAX
};

struct flame_data;

enum flame_kind flame_kind_of(const struct frame *f);

struct flame_data *flame_data_new(void); /* NULL: out of memory */
void flame_data_free(struct flame_data *d);

/*
 * All stacks of a profile, which has none after that: rows of them are as large, and there is not more of both
 * than it takes. side 1 is what side 0 is compared with. options: with which it was made. 0, -FMT_E_NOMEM: the
 * data is good for nothing but being freed.
 */
int flame_data_add(struct flame_data *d, unsigned int side, struct profile *profile,
		   const struct profile_options *options);

/* Columns of time: profile_stack's numbers of buckets from `from` on, so many together. */
struct flame_times {
	uint64_t from, per;
};

size_t flame_data_rows(const struct flame_data *d);
/*
 * Makes one of rows that differ in nothing but the bucket within a column: there may be fewer then. Columns of
 * later calls have to be made of whole ones of this. 0, -FMT_E_NOMEM.
 */
int flame_data_merge(struct flame_data *d, const struct flame_times *times);

/*
 * Members of the object that j is in. times: NULL where samples of side 0 were not kept apart by time.
 * 0, -FMT_E_NOMEM; failed allocations of j are kept there.
 */
int flame_data_write(const struct flame_data *d, const struct flame_times *times,
		     struct page_json *j);

#endif
