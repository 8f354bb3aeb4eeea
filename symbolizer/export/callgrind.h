/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * callgrind: a profile as callgrind_annotate and KCachegrind read it.
 * Source: valgrind.org/docs/manual/cl-format.html.
 *
 * The cost of a function is what was sampled in it, by line; that of a call, what was sampled in and
 * below it. The outermost functions are called by their command, since callgrind_annotate takes for a
 * function's cost what its callers pay. What recurs in a stack is counted once. Samples do not
 * count calls: a call is told as made as often as it was sampled.
 */
#ifndef SYMBOLIZER_EXPORT_CALLGRIND_H
#define SYMBOLIZER_EXPORT_CALLGRIND_H

#include "symbolizer/export/stack_export.h"

/* The profile is by line. */
stack_export_fn callgrind_write;

#endif
