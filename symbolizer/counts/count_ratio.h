/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * count_ratio: what a count says beside the counts of other events of the same time: instructions
 * per cycle, misses of so many, CPUs in use. As perf stat has them, by what the attrs count.
 */
#ifndef SYMBOLIZER_COUNTS_COUNT_RATIO_H
#define SYMBOLIZER_COUNTS_COUNT_RATIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/bytes/slots.h"
#include "format/record/event_attr.h"
#include "format/record/count_unit.h"
#include "format/record/read_counts.h"

/* An event and what it counted in a time. */
struct counted {
	const char *name;
	const struct event_attr *attr;
	struct read_total total;
	struct count_unit unit;
};

/* Those of one time, in an order, found by what they count. All zero is an empty one. */
struct counted_list {
	struct counted *v;
	size_t nr, cap;
	struct slots
		slots; /* of hardware events that have counted something, the first of each kind */
};

void counted_list_done(struct counted_list *l);
void counted_list_clear(struct counted_list *l); /* the memory stays */
/* The name and the attr are borrowed. 0, -FMT_E_NOMEM. */
int counted_list_add(struct counted_list *l, const struct counted *counted);

#define COUNT_RATIOS_MAX 2

struct count_ratio {
	double value;
	const char *unit; /* static: "per cycle", "% of all branches" */
	/* The unit of what is counted: "Joules"; "": none. The event's, and hostile. */
	char of[COUNT_UNIT_NAME_BYTES];
};

/* Both: "Joules a second". */
#define COUNT_RATIO_UNIT_BYTES (COUNT_UNIT_NAME_BYTES + 32)
void count_ratio_unit(const struct count_ratio *ratio, char text[static COUNT_RATIO_UNIT_BYTES]);

/* Does it count ns? */
bool counted_is_time(const struct counted *c);

/*
 * Those of all->v[which] in a time of ns, by scaled counts: at most COUNT_RATIOS_MAX, the number of which is
 * returned. Only events that count the same sides (user, kernel) of the same CPUs are held against each
 * other; an event that goes with no other has its rate by the second, in its unit. A level has none.
 */
size_t count_ratios(const struct counted_list *all, size_t which, uint64_t ns,
		    struct count_ratio ret[static COUNT_RATIOS_MAX]);

#endif
