/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * frame_filter: regular expressions that choose stacks and frames, with the meaning that pprof has
 * given its options: --focus, --ignore, --hide, --show, --show-from.
 */
#ifndef SYMBOLIZER_PROFILE_FRAME_FILTER_H
#define SYMBOLIZER_PROFILE_FRAME_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolizer/text/bounded_regex.h"

enum frame_filter_kind {
	FRAME_FOCUS,	 /* stacks with such a frame */
	FRAME_IGNORE,	 /* none of those */
	FRAME_HIDE,	 /* without these frames */
	FRAME_SHOW,	 /* only these frames */
	FRAME_SHOW_FROM, /* the outermost such frame, and what it called */
	FRAME_FILTER_KINDS
};

/* All zero asks for nothing. */
struct frame_filter {
	struct frame_pattern {
		enum frame_filter_kind kind;
		char *text;
		regex_t compiled;
		bool met;
	} * v;
	size_t n;
	unsigned given; /* 1 << kind */
	char why[BOUNDED_REGEX_WHY_MAX];
};

/*
 * Adds an extended regular expression (regex(7)), found anywhere in a name; several of a kind are
 * alternatives. 0, or -1 with a message in *reterr, which lives as long as f.
 */
int frame_filter_add(struct frame_filter *f, enum frame_filter_kind kind, const char *text,
		     const char **reterr);
void frame_filter_done(struct frame_filter *f);

#endif
