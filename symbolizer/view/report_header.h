/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_header: what a report is of; and how a recording was made, in the words of perf report --header.
 */
#ifndef SYMBOLIZER_VIEW_REPORT_HEADER_H
#define SYMBOLIZER_VIEW_REPORT_HEADER_H

#include "symbolizer/input/input_set.h"

/* What a report is of, in a line: which file was found, of which host, when. 0, -FMT_E_NOMEM. */
int report_header_recording(const struct input_set *set);
/* The same without "# " before it; the caller frees it. NULL: out of memory. */
char *report_header_text(const struct input_set *set);

/* On stdout, through the pager. */
void report_header_print(void *unused, const struct input *in);

#endif
