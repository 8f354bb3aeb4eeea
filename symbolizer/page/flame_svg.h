/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flame_svg: a flame graph as a picture that does not move, for documents: the boxes of the page as it
 * opens, one graph below the other for each event.
 */
#ifndef SYMBOLIZER_PAGE_FLAME_SVG_H
#define SYMBOLIZER_PAGE_FLAME_SVG_H

#include <stdio.h>

#include "format/bytes/buf.h"
#include "symbolizer/profile/profile.h"

struct flame_svg {
	const struct profile *profile;
	const char *title;
	const struct buf *facts; /* lines below it, each with a NUL at its end */
	bool inverted;		 /* from the sampled functions down to their callers */
};

/* 0, -FMT_E_NOMEM. Failed writes stay in ferror(out). */
int flame_svg_write(const struct flame_svg *s, FILE *out);

#endif
