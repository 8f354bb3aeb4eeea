/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * folded: a profile as folded stacks, "comm;root;...;leaf N" a line, as FlameGraph,
 * inferno and speedscope read them.
 *
 * Lines are distinct and always in the same order. In names ';' is ':' and what is not
 * printable is escaped (escape.h). A frame without a symbol is its object in brackets
 * ("[libfoo.so]"), as in stackcollapse-perf.pl, or "[unknown]".
 */
#ifndef SYMBOLIZER_PROFILE_FOLDED_H
#define SYMBOLIZER_PROFILE_FOLDED_H

#include <stdio.h>

#include "symbolizer/profile/profile.h"

struct folded_options {
	int event;	      /* stacks of this one only */
	bool by_period;	      /* N is the period; else samples */
	bool annotate_kernel; /* "_[k]" after kernel functions */
};

/* 0, -FMT_E_NOMEM. Failed writes stay in ferror(out). */
int folded_write(const struct profile *p, const struct folded_options *o, FILE *out);

#endif
