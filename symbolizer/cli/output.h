/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * output: where an export goes: standard output, or a file that appears only when it is
 * whole (written beside it, without a name where the file system can do that, and renamed; a
 * device or a pipe is written as it is). So the recording that is read can be where the output
 * goes, by whatever name, and who is killed leaves neither a part of it nor anything else.
 */
#ifndef SYMBOLIZER_CLI_OUTPUT_H
#define SYMBOLIZER_CLI_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

struct input_access;

struct output {
	FILE *file;
	const char *path; /* NULL: standard output */
	char *final;	  /* behind symbolic links */
	char *temporary;  /* beside final; NULL: written in place */
	bool nameless;	  /* the file has that name only when it is whole */
	mode_t mode;	  /* of a new file, by the umask */
	const struct input_access *access;
};

/*
 * path NULL or "-": standard output. A file gets no more permissions than access has when it is
 * closed: that of what it is made of. 0, or an exit status after a message.
 */
int output_open(struct output *o, const char *path, const struct input_access *access);

/* Says what errno has against writing to path; EXIT_FAILED. */
int output_failed(const char *path);

/*
 * status 0: what was written is to be kept. Returns the exit status, after a message when
 * something could not be written; then, and with another status, no file is left behind.
 */
int output_close(struct output *o, int status);

#endif
