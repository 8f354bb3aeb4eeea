/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * coverage: in words, when the samples of an input were taken, and why none is left of them.
 */
#ifndef SYMBOLIZER_INPUT_COVERAGE_H
#define SYMBOLIZER_INPUT_COVERAGE_H

#include <stddef.h>
#include <stdint.h>

#include "symbolizer/input/input_set.h"

#define COVERAGE_BYTES 160

/*
 * "2026-11-22 07:15:01 to 07:15:02 CET", or, where the recording does not know the time of day,
 * "12.250000 s to 13.000000 s", as dump prints times. first_ns and last_ns are of its clock, which
 * start is one instant of.
 */
void coverage_text(const struct clock_triple *start, uint64_t first_ns, uint64_t last_ns,
		   char out[COVERAGE_BYTES]);

/*
 * A sentence that begins with a small letter and has no full stop: of what was asked for there is
 * nothing, but what there is. After the last recording was read; opens those of an archive again.
 */
void coverage_nothing(struct input_set *s, char *out, size_t size);
/* The same on stderr. */
void coverage_warn_nothing(struct input_set *s);

#endif
