/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * live_ids: the build-ids that the kernel did not tell, and those that the open file has been
 * given.
 *
 * A file is read as soon as a mapping of it is seen and nothing is known of it: its process may be
 * gone a moment later. What was read goes into the next BUILDIDS block, once in each file.
 * Belongs to the writer thread, as live does.
 */
#ifndef RECORDER_LIVE_IDS_H
#define RECORDER_LIVE_IDS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "format/perf_record.h"
#include "format/recording_writer.h"

struct buildid_cache;
struct live_ids;
struct map_object;

struct live_ids *live_ids_new(void); /* NULL: out of memory */
void live_ids_free(struct live_ids *l);

/* For a scan of /proc. */
struct buildid_cache *live_ids_cache(struct live_ids *l);

/* Another file begins, which has been given nothing. */
void live_ids_begin_file(struct live_ids *l);

/* Gives the file the build-id of what has no inode: "[vdso]", "[module]". */
void live_ids_give(struct live_ids *l, const char *path, const struct buildid *id);

/* Gives it that of a mapped file, as it is in a snapshot: a record has no room for a surrogate. */
void live_ids_give_object(struct live_ids *l, const struct map_object *o);

/* Is this the map of a file whose build-id has to be found? */
bool live_ids_wanted(const struct perf_record *r);

/*
 * A record goes by: reads its file if nothing is known of that, and gives the build-id to the
 * recording. False: live_ids_find() should be asked soon, since there was no time left until
 * live_ids_pass(), or since other processes may reach the file.
 */
bool live_ids_see(struct live_ids *l, const struct perf_record *r);

/*
 * The build-id at the time of the record, for the model; looks again at a file that may have
 * changed. peer: as in buildid_map. 0; -EAGAIN: the time is used up; other -errno: it cannot be
 * found.
 */
int live_ids_find(struct live_ids *l, const struct perf_record *r, pid_t peer, struct buildid *ret);

/* A pass ends: files may be read again, for 50 ms, so that a slow disk holds up no samples. */
void live_ids_pass(struct live_ids *l);

/* Writes a BUILDIDS block if there is something to give. 0, -FMT_E_*. */
int live_ids_write(struct live_ids *l, struct recording_writer *w, struct fmt_where *where);

#endif
