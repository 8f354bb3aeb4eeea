/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pager: stdout through less(1) when a person looks at it on a terminal.
 */
#ifndef SYMBOLIZER_CLI_PAGER_H
#define SYMBOLIZER_CLI_PAGER_H

/* --no-pager: pager_start() does nothing from now on. */
void pager_disable(void);

/*
 * Call when the first line is about to be printed. Does nothing unless stdout is a terminal.
 * $SPOOR_PAGER, else $PAGER, else less; "" and "cat" mean none.
 */
void pager_start(void);

/* Ends stdout and waits until the reader has seen enough. 0, or 1 when there was no pager. */
int pager_finish(void);

#endif
