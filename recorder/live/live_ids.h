/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * live_ids: the build-ids that the kernel did not tell, and those that the open file has been
 * given.
 *
 * A helper is asked for a file as soon as a mapping of it is seen and nothing is known of it: its
 * process may be gone a moment later. Nobody waits for the answer, which goes into the next
 * BUILDIDS block, once in each file, and into the model. Belongs to the writer thread, as live does.
 */
#ifndef RECORDER_LIVE_LIVE_IDS_H
#define RECORDER_LIVE_LIVE_IDS_H

#include <stdbool.h>
#include <stdint.h>

#include "format/record/perf_record.h"
#include "format/recording/recording_writer.h"

struct helper_pool;
struct live_ids;
struct live_objects;
struct map_object;
struct task_model;
struct task_users;

/* All are borrowed. objects NULL: no file is stored. NULL: out of memory. */
struct live_ids *live_ids_new(struct helper_pool *pool, struct task_model *model,
			      struct task_users *users, struct live_objects *objects);
void live_ids_free(struct live_ids *l);

/* Another file begins, which has been given nothing. */
void live_ids_begin_file(struct live_ids *l);

/* Gives the file the build-id of what has no inode: "[vdso]", "[module]". */
void live_ids_give(struct live_ids *l, const char *path, const struct buildid *id);

/* Gives it that of a mapped file, as it is in a snapshot: a record has no room for a surrogate. */
void live_ids_give_object(struct live_ids *l, const struct map_object *o);

/* Is this the map of a file whose build-id has to be found? */
bool live_ids_wanted(const struct perf_record *r);

/* A record goes by: gives its build-id to the recording, or asks for it. */
void live_ids_see(struct live_ids *l, const struct perf_record *r);

/* A map whose build-id the kernel told goes by: its file may have to be stored. */
void live_ids_store(struct live_ids *l, const struct perf_record *r);

/* The build-id at the time of the record, for the model. False: it is not known, or not yet. */
bool live_ids_known(struct live_ids *l, const struct perf_record *r, struct buildid *ret);

/*
 * Takes what has been answered, for the recording and the model, and leaves a helper behind that does
 * not answer. Never waits.
 */
void live_ids_answers(struct live_ids *l);

/* Waits for what was asked, but not beyond until_ns (CLOCK_MONOTONIC). */
void live_ids_finish(struct live_ids *l, uint64_t until_ns);

/* Asks at once for files that were to be stored and found no room. False: there is none. */
bool live_ids_offer_again(struct live_ids *l);

/*
 * Asks for files that were not in reach of their process through others that may see them:
 * ancestors, and those in the same mount namespace. The model has all records before model_ns: what
 * was mapped later waits.
 */
void live_ids_ask_others(struct live_ids *l, uint64_t model_ns);
/* Is there a file to ask others for? */
bool live_ids_missing(const struct live_ids *l);
/* Is an answer still to come? It shows on the descriptor. */
bool live_ids_waiting(const struct live_ids *l);
int live_ids_fd(const struct live_ids *l);

/* Writes a BUILDIDS block if there is something to give. 0, -FMT_E_*. */
int live_ids_write(struct live_ids *l, struct recording_writer *w, struct fmt_where *where);

#endif
