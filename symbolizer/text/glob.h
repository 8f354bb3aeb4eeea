/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * glob: patterns of names. '*' is any text, '?' any one character, and a backslash takes the
 * meaning from what follows it. Brackets are ordinary, since names have them ("[unknown]",
 * "operator[]", "f[abi:cxx11]"), and '*' passes over slashes.
 */
#ifndef SYMBOLIZER_TEXT_GLOB_H
#define SYMBOLIZER_TEXT_GLOB_H

#include <stdbool.h>

bool glob_match(const char *pattern, const char *name);
/* Also when what matches is followed by a '/': of path names, what is below. */
bool glob_match_above(const char *pattern, const char *path);

#endif
