/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * screen: a terminal that is drawn on again and again, and its keys.
 *
 * What was on the terminal before is there again after screen_close(), and after every signal that ends or
 * stops the process but SIGKILL and SIGSTOP. One at a time.
 */
#ifndef SYMBOLIZER_CLI_SCREEN_H
#define SYMBOLIZER_CLI_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

/* Takes the terminal that is both stdin and stdout. 0; -1: they are none. */
int screen_open(void);
void screen_close(void);

/* Lines and columns of it, now. */
void screen_size(int *ret_lines, int *ret_columns);

/* Shows lines of text, from the top, cut to what there is room for. Names in them have to be escaped. */
void screen_draw(const char *text);

#define SCREEN_TIMEOUT (-1)
#define SCREEN_REDRAW (-2) /* its size has changed, or something else was on it */
#define SCREEN_ENDED (-3)  /* it is gone, or a signal asks to end */
/* The next key, a byte; waits so many ms at most. Keys that are several bytes are left out. */
int screen_key(int timeout_ms);

#endif
