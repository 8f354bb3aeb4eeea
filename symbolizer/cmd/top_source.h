/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * top_source: a recording of spoor top's own, which a child that is a spoor record makes. The file has no name, and the
 * kernel ends the recorder when spoor top is gone: nothing is left, whatever ends it.
 */
#ifndef SYMBOLIZER_CMD_TOP_SOURCE_H
#define SYMBOLIZER_CMD_TOP_SOURCE_H

#include <stdbool.h>
#include <sys/types.h>

#define TOP_SOURCE_NONE ((struct top_source){ .file = -1, .words = -1 })

struct top_source {
	char *path;	/* of the file, by its descriptor; NULL: there is none */
	int file;	/* -1 */
	pid_t recorder; /* 0: none, or it has ended */
	bool failed;	/* it has recorded nothing */
	int words;	/* what it says, and what its command says; -1 */
};

/* What its own recording is of. */
struct top_record {
	const char *frequency; /* NULL: 99 */
	const char *pids;      /* NULL: all CPUs, or the command */
	char **command;	       /* NULL: none */
};

/*
 * Starts a recorder. 0, or an exit status after a message, which tells what to do where there are no rights.
 * top_source_stop() in any case.
 */
int top_source_record(struct top_source *s, const struct top_record *what);
/* Has it ended? Then failed says how. */
bool top_source_ended(struct top_source *s);
/* What a recorder that failed said, on stderr. */
void top_source_tell(const struct top_source *s);
/* Ends the recorder alone; what it has recorded can still be read. */
void top_source_kill(struct top_source *s);
void top_source_stop(struct top_source *s);

#endif
