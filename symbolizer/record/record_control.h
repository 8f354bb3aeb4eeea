/* SPDX-License-Identifier: GPL-2.0-or-later */
/* record_control: commands to spoor record by --control, as lines of a FIFO or a descriptor, and their answers. */
#ifndef SYMBOLIZER_RECORD_RECORD_CONTROL_H
#define SYMBOLIZER_RECORD_RECORD_CONTROL_H

#include <stdbool.h>
#include <stddef.h>

#define RECORD_CONTROL_BYTES 512 /* names of events are shorter */

struct record_control {
	int fd, ack_fd; /* the owner's to poll; -1: none, or nobody is at the other end any more */
	bool owned;	/* else they are whoever's started us */
	char line[RECORD_CONTROL_BYTES];
	size_t bytes;
	bool skipping; /* the rest of a line that was too long */
};

/* Of descriptors that are -1: fd:N[,N] or fifo:PATH[,PATH]. CLI_GO_ON, or the status to end with: it was told. */
int record_control_open(struct record_control *c, const char *how);
void record_control_done(struct record_control *c);

/* A command; true: it was done, which is answered. */
typedef bool record_control_fn(void *arg, const char *command);
/* What came, once fd is readable. */
void record_control_take(struct record_control *c, record_control_fn *obey, void *arg);

#endif
