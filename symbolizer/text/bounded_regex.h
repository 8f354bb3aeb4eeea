/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bounded_regex: regcomp(3) for expressions that anybody may write. glibc copies what is repeated, as often as
 * the repeat says, so that a few nested ones take all time and memory there are: they are refused before.
 */
#ifndef SYMBOLIZER_TEXT_BOUNDED_REGEX_H
#define SYMBOLIZER_TEXT_BOUNDED_REGEX_H

#include <regex.h>

#define BOUNDED_REGEX_WHY_MAX 128

/*
 * text: an extended regular expression (regex(7)), compiled with REG_NOSUB. 0: ret is the caller's, to
 * regfree(); else an error of regcomp(), and why says it in words (REG_ESPACE: out of memory;
 * REG_BADBR: also too much repeated, or over 200 groups in each other).
 */
int bounded_regex_compile(regex_t *ret, const char *text, char why[static BOUNDED_REGEX_WHY_MAX]);

#endif
