/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * report_header: how a recording was made, as comment lines in the words of perf report --header.
 */
#ifndef SYMBOLIZER_VIEW_REPORT_HEADER_H
#define SYMBOLIZER_VIEW_REPORT_HEADER_H

#include "symbolizer/input/input.h"

/* On stdout, through the pager. */
void report_header_print(const struct input *in);

#endif
