/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record_output: the file that spoor record writes. Messages about it go to stderr.
 *
 * An older recording stays untouched until there is something to keep: the new one begins under
 * another name beside it. A regular file is locked (flock(2)) as long as it is written, so that a
 * second recorder neither writes into it nor sets it aside.
 */
#ifndef SYMBOLIZER_CMD_RECORD_OUTPUT_H
#define SYMBOLIZER_CMD_RECORD_OUTPUT_H

#include <stdbool.h>

struct record_output {
	const char *path; /* for people */
	int fd;		  /* for the session, which closes it; -1 */
	int lock_fd;	  /* the same file; -1: it is no regular one */
	bool made;	  /* nothing was at path before */
	char *older;	  /* the recording at path, links followed; NULL: none */
	char *temporary;  /* beside it: where the new one is until there is something to keep */
};

/* path "-" is the standard output. EXIT_DONE or EXIT_FAILED; record_output_done() in any case. */
int record_output_open(struct record_output *o, const char *path);

/* There is something to keep: an older recording becomes PATH.old, as with perf. EXIT_*. */
int record_output_settle(struct record_output *o);

/* Nothing was recorded: all is as it was. */
void record_output_undo(const struct record_output *o);

/* Is the file still there, to be found by somebody? False, and said: it was removed. */
bool record_output_there(const struct record_output *o);

void record_output_done(struct record_output *o);

#endif
