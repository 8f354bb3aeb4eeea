/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * folded: a profile as folded stacks, "comm;root;...;leaf N" a line, as FlameGraph,
 * inferno and speedscope read them.
 *
 * Lines are distinct and always in the same order. In names ';' is ':' and what is not
 * printable is escaped (escape.h). A frame without a symbol is its object in brackets
 * ("[libfoo.so]"), as in stackcollapse-perf.pl, or "[unknown]".
 */
#ifndef SYMBOLIZER_EXPORT_FOLDED_H
#define SYMBOLIZER_EXPORT_FOLDED_H

#include "symbolizer/export/stack_export.h"

stack_export_fn folded_write;

#endif
