/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * object_fetch: files with names that are not on this machine, from the debuginfod servers in
 * $DEBUGINFOD_URLS, by build-id.
 *
 * A process of its own asks them, through libdebuginfod's client: this one opens no socket, and
 * loads no library of the network. What is fetched lies in that client's cache, where object_places
 * finds it, and is verified like any other file. Times and bytes are bounded, and servers that do
 * not answer are asked once. Any thread may ask; others wait meanwhile.
 */
#ifndef SYMBOLIZER_OBJECT_OBJECT_FETCH_H
#define SYMBOLIZER_OBJECT_OBJECT_FETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of a file; the largest that Debian has is a browser's, of 3 GiB. */
#define OBJECT_FETCH_FILE_MAX (UINT64_C(4) << 30)
/* Of all files of an object_fetch, those that were given up included. */
#define OBJECT_FETCH_BYTES_MAX (UINT64_C(16) << 30)
/* Requests: a recording can name any number of builds. */
#define OBJECT_FETCH_ASKED_MAX 1024
/* A file may take as long, unless DEBUGINFOD_MAXTIME says otherwise. */
#define OBJECT_FETCH_S 900

enum object_fetch_what { OBJECT_FETCH_DEBUGINFO, OBJECT_FETCH_EXECUTABLE, OBJECT_FETCH_WHATS };

enum object_fetch_outcome {
	OBJECT_FETCH_DONE,
	OBJECT_FETCH_NONE,     /* no server has it */
	OBJECT_FETCH_WRONG,    /* what came is of another build; it was removed */
	OBJECT_FETCH_TOO_BIG,  /* more than OBJECT_FETCH_FILE_MAX, or than is left of all */
	OBJECT_FETCH_LATE,     /* it took too long: nothing more is asked */
	OBJECT_FETCH_FAILED,   /* servers, or the disk: nothing more is asked */
	OBJECT_FETCH_BROKEN,   /* the process that asks ended: likewise */
	OBJECT_FETCH_TOO_MANY, /* OBJECT_FETCH_ASKED_MAX were asked */
	OBJECT_FETCH_OUTCOMES
};
/* "no server has it" */
const char *object_fetch_outcome_text(enum object_fetch_outcome outcome);

struct object_fetch_progress {
	const char *name; /* as object_fetch_get() has it */
	enum object_fetch_what what;
	uint64_t bytes, total; /* 0: not known, both 0 before something comes */
	bool ended;
};
typedef void object_fetch_progress_fn(void *arg, const struct object_fetch_progress *p);

struct object_fetch;

struct object_fetch_options {
	const char *cache; /* object_places_debuginfod_cache() */
	bool lines;	   /* also of objects that have symbols and no debug information */
	object_fetch_progress_fn *progress; /* a few times a second; NULL: nobody looks */
	void *arg;
};

/*
 * Makes the process. Before there are threads: it loads libraries. 0; -ENOENT: there is no
 * libdebuginfod; -errno.
 */
int object_fetch_start(const struct object_fetch_options *options, struct object_fetch **ret);
void object_fetch_end(struct object_fetch *f); /* NULL: nothing */

/* Is the debug information of objects that have symbols asked for? NULL: no. */
bool object_fetch_lines(const struct object_fetch *f);

/*
 * Asks for the file of a GNU build-id, each but once; name is what the object is called. True: it is
 * in the cache now. f NULL: false.
 */
bool object_fetch_get(struct object_fetch *f, enum object_fetch_what what, const uint8_t *id,
		      size_t size, const char *name);

/*
 * What went wrong, and with what: other than that no server has it. *ret_error: errno of
 * OBJECT_FETCH_FAILED. False: there are no more.
 */
bool object_fetch_trouble(const struct object_fetch *f, size_t i, const char **ret_name,
			  enum object_fetch_outcome *ret, int *ret_error);

#endif
