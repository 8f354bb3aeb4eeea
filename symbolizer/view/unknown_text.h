/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unknown_text: what an answer says below its rows of samples without a symbol, a name or lines: how many they are, of
 * which objects and processes, and what would help. Comment lines, which begin with "#".
 */
#ifndef SYMBOLIZER_VIEW_UNKNOWN_TEXT_H
#define SYMBOLIZER_VIEW_UNKNOWN_TEXT_H

#include "symbolizer/load/load.h"
#include "symbolizer/profile/report.h"

/* What is told of samples in one paragraph: id, its title, what the samples lack. */
#define UNKNOWN_KINDS(X)                                                                           \
	X(SYMBOL, "[unknown]", "have no symbol")                                                   \
	X(NAME, "No names",                                                                        \
	  "are in functions without one, shown by where they begin in their file")                 \
	X(LINES, "No source lines", "are in objects without debug information")

enum unknown_kind {
#define X(id, ...) UNKNOWN_##id,
	UNKNOWN_KINDS(X)
#undef X
		UNKNOWN_KINDS_NR
};

/* "No names: 5 of 10 samples (50.00%) are in functions ...", and end. */
void unknown_text_sum(enum unknown_kind kind, uint64_t missing, uint64_t samples, const char *end);

/* What would help against a miss of an object; NULL: nothing that is known. Good for the load's life. */
const char *unknown_text_help(const struct load *l, enum resolve_miss miss, bool has_build_id);

/* The paragraphs of a report, by object, and of code made at run time, by process. 0, -FMT_E_NOMEM. */
int unknown_text_print(const struct load *l, const struct report *r);

#endif
