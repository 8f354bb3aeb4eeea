/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * short_names: names for a column of a terminal that is too narrow for them. What does not fit has
 * ".." in the place of its middle, since names of one program begin alike. Names that differ are
 * shown so: by the part in which they do, or with a number in the middle ("..2..").
 */
#ifndef SYMBOLIZER_TEXT_SHORT_NAMES_H
#define SYMBOLIZER_TEXT_SHORT_NAMES_H

#include <stddef.h>

struct short_names;

/* For n names (borrowed until it is freed), which may recur. NULL: out of memory. */
struct short_names *short_names_new(const char *const *names, size_t n, int columns);
void short_names_free(struct short_names *s);

/* As the i-th one is shown. */
const char *short_names_at(const struct short_names *s, size_t i);

#endif
