/* SPDX-License-Identifier: GPL-2.0-or-later */
/* branch_line: a line of a tree on stdout: branches, and a name behind them. */
#ifndef SYMBOLIZER_VIEW_BRANCH_LINE_H
#define SYMBOLIZER_VIEW_BRANCH_LINE_H

#include "format/bytes/buf.h"
#include "symbolizer/resolve/resolve.h"

/*
 * columns: that a terminal has left; 0: it is none, and the line is whole. Of many branches the
 * outer ones are drawn, of a long name the ends. Both are escaped. 0, -FMT_E_NOMEM.
 */
int branch_line_print(const char *branches, const char *name, int columns);

/* Appends what a frame is called in a tree, escaped, with a NUL. */
void branch_line_name(const struct frame *f, struct buf *out);

#endif
