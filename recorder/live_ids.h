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

struct live_ids *live_ids_new(void); /* NULL: out of memory */
void live_ids_free(struct live_ids *l);

/* For a scan of /proc. */
struct buildid_cache *live_ids_cache(struct live_ids *l);

/* Another file begins, which has been given nothing. */
void live_ids_begin_file(struct live_ids *l);

/* Gives the file the build-id of what has no inode: "[vdso]", "[module]". */
void live_ids_give(struct live_ids *l, const char *path, const struct buildid *id);

/* Is this the map of a file whose build-id has to be found? */
bool live_ids_wanted(const struct perf_record *r);

/*
 * Finds it and gives it to the file. peer: as in buildid_map. 0; -EAGAIN: the time for that is
 * used up until live_ids_pass(); other -errno: it cannot be found now.
 */
int live_ids_find(struct live_ids *l, const struct perf_record *r, pid_t peer, struct buildid *ret);

/* A pass ends: files may be read again, for 50 ms, so that a slow disk holds up no samples. */
void live_ids_pass(struct live_ids *l);

/* Writes a BUILDIDS block if there is something to give. 0, -FMT_E_*. */
int live_ids_write(struct live_ids *l, struct recording_writer *w, struct fmt_where *where);

#endif
