/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heading: what stands on top of an answer: of what it is, what is lost, and how many samples.
 */
#ifndef SYMBOLIZER_VIEW_HEADING_H
#define SYMBOLIZER_VIEW_HEADING_H

#include "symbolizer/load/load.h"

/* On stdout, in lines that begin with "#". 0, -FMT_E_NOMEM. */
int heading_print(struct load *l);

/*
 * Line by line, without an end: escaped, as for a terminal. indent: of further lines, where one is too
 * long for a screen. An empty line parts what is of a kind. 0, -FMT_E_NOMEM.
 */
typedef void heading_line_fn(void *arg, const char *indent, const char *line);
int heading_tell(struct load *l, heading_line_fn *tell, void *arg);
/*
 * Likewise the lines, but for empty ones, each with a NUL at its end, and for a page, which is read where the
 * recording is not: by what command, of which events, how often and on what host it was made.
 */
int heading_keep(struct load *l, struct buf *lines);

#endif
