/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record_output: the file that spoor record writes. Messages about it go to stderr.
 *
 * An older recording stays untouched until there is something to keep: the new one begins under
 * another name beside it. A regular file is locked (flock(2)) as long as it is written, so that a
 * second recorder neither writes into it nor sets it aside.
 */
#ifndef SYMBOLIZER_CLI_RECORD_OUTPUT_H
#define SYMBOLIZER_CLI_RECORD_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

struct record_output {
	const char *path; /* for people */
	int fd;		  /* for the session, which closes it; -1 */
	int lock_fd;	  /* the same file; -1: it is no regular one */
	bool made;	  /* nothing was at path before */
	bool nameless;	  /* it had no name before: /dev/fd/N of a file that was removed */
	char *resolved;	  /* path without symbolic links; NULL: standard output */
	char *older;	  /* the recording at path, links followed; NULL: none */
	char *stamped;	  /* path, once it has a time in it; NULL: it has none */
	char *temporary;  /* beside it: where the new one is until there is something to keep */
};

/* path "-" is the standard output. EXIT_DONE or EXIT_FAILED; record_output_done() in any case. */
int record_output_open(struct record_output *o, const char *path);

/*
 * Makes the directory for objects beside it (format/stored), where there is none, for this user alone.
 * EXIT_DONE with its path, to be freed; EXIT_FAILED, which was said.
 */
int record_output_objects(const struct record_output *o, char **ret);

/* There is something to keep: an older recording becomes PATH.old, as with perf. EXIT_*. */
int record_output_settle(struct record_output *o);

/* Nothing was recorded: all is as it was. */
void record_output_undo(const struct record_output *o);

/*
 * A recording in several files: each gets its time in its name when the next one begins at the path.
 * First record_output_begin(), then one of the other two.
 */
struct record_output_next {
	int fd; /* for the session, which closes it */
	int lock_fd;
	char *aside; /* PATH.TIME, what the file before it is called from here on */
};
/* EXIT_DONE, or EXIT_FAILED, which was said: all is as before. */
int record_output_begin(const struct record_output *o, struct record_output_next *next);
/* The session writes it. Returns the name of the one before it, to be freed. */
char *record_output_take_next(struct record_output *o, struct record_output_next *next);
void record_output_undo_next(const struct record_output *o, struct record_output_next *next);

/* Gives the file its time in its name; what fails is said. */
void record_output_stamp(struct record_output *o);

enum record_output_left {
	RECORD_OUTPUT_THERE,
	RECORD_OUTPUT_MOVED, /* whole, by another name */
	RECORD_OUTPUT_GONE,  /* removed, or cut */
};

/* What has become of the file, into which so many bytes were written; said when not THERE. */
enum record_output_left record_output_left(const struct record_output *o, uint64_t bytes);

void record_output_done(struct record_output *o);

/*
 * Takes the recording at this path: 0 with *ret_fd, which holds its lock until it is closed, or
 * -EWOULDBLOCK: a recorder is writing it, or has put another there. *ret_fd is -1 where it cannot be opened.
 */
int record_output_take(const char *path, int *ret_fd);

#endif
