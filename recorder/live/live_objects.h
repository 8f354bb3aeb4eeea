/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * live_objects: mapped files are copied beside the recording while somebody has them.
 *
 * The worker that live_ids asks for files passes them on to another one, which stores them
 * (helper_objects); this looks after that one. Belongs to the writer thread, and waits for nobody but in
 * live_objects_finish().
 */
#ifndef RECORDER_LIVE_LIVE_OBJECTS_H
#define RECORDER_LIVE_LIVE_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>

#include "format/bytes/buildid.h"
#include "recorder/ground/news.h"
#include "recorder/ground/session_options.h"

struct helper;
struct helper_pool;
struct live_objects;
struct live_wanted;

/* pool is borrowed; what o names is copied. NULL: out of memory. */
struct live_objects *live_objects_new(struct helper_pool *pool, const struct session_objects *o);
void live_objects_free(struct live_objects *o);

/* Another file begins: each build that is mapped from now on is looked at again. */
void live_objects_begin_file(struct live_objects *o);

/*
 * Tells the worker that finds files where to pass them on, as often as that is due: fresh, when it was
 * started just now. 0, -errno.
 */
int live_objects_connect(struct live_objects *o, struct helper *files, bool fresh);

/* Was this one asked for since the file began? Files of several owners may have one id, and in a namespace one path. */
struct live_object_file {
	const struct buildid *id;
	const char *path;
	uint32_t uid; /* whose process has it mapped; TASK_USER_UNKNOWN */
};
bool live_objects_asked(const struct live_objects *o, const struct live_object_file *f);
void live_objects_note(struct live_objects *o, const struct live_object_file *f);
/*
 * A file of that build was found, and passed on to be stored, or found no room. Its path may be taken over.
 */
void live_objects_offered(struct live_objects *o, struct live_wanted *w, const struct buildid *id,
			  bool passed);
/*
 * One of those that were not stored, the caller's, to be asked for again; hurry: at once. False: none, or not
 * yet.
 */
bool live_objects_again(struct live_objects *o, bool hurry, struct live_wanted *ret);
/* A build that is in use, as the state of a file has it. */
void live_objects_used(struct live_objects *o, const struct buildid *id);

/* Takes what the worker has to say; leaves it behind when it does not. */
void live_objects_take(struct live_objects *o);
/* Bytes that were stored, as far as live_objects_take() knows. */
uint64_t live_objects_stored(const struct live_objects *o);
/* So many may have been stored in all. */
void live_objects_allow(struct live_objects *o, uint64_t bytes);

/* Waits until what was passed on is stored, but not beyond until_ns (CLOCK_MONOTONIC). */
void live_objects_finish(struct live_objects *o, uint64_t until_ns);

/* What there is to tell since the last call. False: nothing. */
bool live_objects_news(struct live_objects *o, struct news_line *ret);

#endif
