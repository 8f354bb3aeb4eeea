/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * covered_span: from when to when a recording looked, and at how many CPUs. Not from its first sample to its
 * last: an idle machine has none.
 */
#ifndef SYMBOLIZER_INPUT_COVERED_SPAN_H
#define SYMBOLIZER_INPUT_COVERED_SPAN_H

#include <stdbool.h>
#include <stdint.h>

#include "symbolizer/input/input.h"

struct covered_span {
	uint64_t from_ns, until_ns;
	/* That the filter asks for; 1 of a recording of tasks, which run on any of them. */
	uint32_t cpus;
	bool tasks;
};

/*
 * Of an open recording, inside the filter's window (NULL: everything); percent times need their
 * range (time_choice_range()) before. shift_ns is added. Rewinds the reader. False: it has none.
 */
bool covered_span_find(struct input *in, const struct filter *filter, uint64_t shift_ns,
		       struct covered_span *ret);

#endif
