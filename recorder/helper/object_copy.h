/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * object_copy: a copy of somebody's ELF file, first in memory, then in a directory of ours.
 *
 * Reading waits for the file's file system and its owner, writing for our own disk: whoever looks at how
 * long it takes has to know which of both it is.
 */
#ifndef RECORDER_HELPER_OBJECT_COPY_H
#define RECORDER_HELPER_OBJECT_COPY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "format/bytes/buf.h"
#include "format/stored/stored_object.h"

/* Of one file; what is more is not stored. */
#define OBJECT_COPY_BYTES_MAX (32u << 20)
/*
 * Smaller files that every user can read by their path (file_reach) are stored whole. Of others those who may read the
 * copies must not learn what only their owners may read; names and frames are no such thing.
 */
#define OBJECT_COPY_WHOLE_MAX (1u << 20)

/* Whose file it is. One of root's that any user may write is nobody's: it says what the last one wrote. */
#define OBJECT_COPY_NOBODY ((uid_t)-1)
uid_t object_copy_owner(int fd, const struct stat *st);

/* Zeroed: none. */
struct object_copy {
	struct buf bytes;
	struct object_piece {
		uint64_t offset;
		size_t len;
	} * pieces; /* of bytes, one after another */
	size_t nr, cap;
	struct stored_mark mark;
};

/* Is called before each read of the file. Not 0: that is enough. */
typedef int object_copy_fn(void *arg);

/*
 * Reads it, which must be the build id before and after. 0; -ESTALE: it is not, or changed;
 * -ENOEXEC: no ELF file that can be reduced; -EFBIG: too large; -ETIMEDOUT: go_on() said that it is enough; -errno.
 */
int object_copy_read(struct object_copy *c, int fd, const struct buildid *id, object_copy_fn *go_on,
		     void *arg);
void object_copy_done(struct object_copy *c);

/*
 * Writes it below dir, a "spoor-objects": under another name first, so that nobody reads a part of it. dir
 * and what is in it has to be this user's, and no other's to write to; links are not followed. *ret_bytes:
 * what it takes, STORED_COUNT_MIN at least. 0, -errno.
 */
int object_copy_write(const struct object_copy *c, const char *dir, uint64_t *ret_bytes);

/*
 * Copies that an earlier recorder made by other rules (STORED_RULES) are reduced by these, in their place; what cannot be
 * is removed. One part of all of them at a time, of OBJECT_COPY_PARTS.
 */
#define OBJECT_COPY_PARTS 256
void object_copy_renew(const char *dir, unsigned int part);

/* Is there one of this build, of a file of this owner or one that goes before it? It counts as used now. */
bool object_copy_touch(const char *dir, const struct buildid *id, uid_t owner);
/* Whatever there is of this build, likewise. */
void object_copy_use(const char *dir, const struct buildid *id);

#endif
