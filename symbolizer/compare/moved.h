/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * moved: functions whose object has another name on either side (a library's number, a program's version), so that
 * they do not compare.
 */
#ifndef SYMBOLIZER_COMPARE_MOVED_H
#define SYMBOLIZER_COMPARE_MOVED_H

#include "symbolizer/compare/comparison.h"

struct moved {
	size_t functions; /* that are on one side alone, and on the other in another object */
	uint64_t samples[COMPARISON_SIDES];
	const char *objects[COMPARISON_SIDES]; /* of the one with most samples */
};

/* Of an event's rows, by keys; without both object and symbol among these there are none. 0, -FMT_E_NOMEM. */
int moved_find(const struct comparison *c, const struct comparison_event *e,
	       const struct report_list *keys, struct moved *ret);

#endif
