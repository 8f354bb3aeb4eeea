/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stored_object: copies of mapped files beside a recording, for when the files are gone.
 *
 *   DIRECTORY/spoor-objects/.build-id/ab/cdef0123....debug
 *
 * ab cdef... is the build-id in hex, GNU's or a surrogate, as recordings have it. gdb takes
 * spoor-objects for a debug-file-directory. Anybody can give his program the build-id of another one: this is the place of
 * files of root, and of who records. That of another user's file is cdef0123....UID.debug, so that it takes no other
 * user's place, and readers take it where there is no such copy. Behind the ELF file, which no tool reads past, comes a
 * mark of STORED_MARK_BYTES: which build it is, and whose file it was. A copy without it is
 * one that was cut off, or is not ours.
 */
#ifndef FORMAT_STORED_STORED_OBJECT_H
#define FORMAT_STORED_STORED_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "format/bytes/buildid.h"
#include "format/bytes/io.h"

#define STORED_DIRECTORY "spoor-objects"
#define STORED_BY_ID ".build-id"
#define STORED_NAME_BYTES (2 * BUILDID_MAX + 19) /* with a user */
#define STORED_MARK_BYTES 64
/* What a copy counts for at least: it takes an inode, too, of which a file system has one for as many bytes. */
#define STORED_COUNT_MIN (16u << 10)

static inline uint64_t
stored_object_count(uint64_t bytes)
{
	return bytes > STORED_COUNT_MIN ? bytes : STORED_COUNT_MIN;
}

/* "ab" and "cdef....debug", with their NULs. An id of less than two bytes has no name: false. */
bool stored_object_name(const struct buildid *id, char ret_dir[3],
			char ret_name[STORED_NAME_BYTES]);

/* The same for the file of another user. */
bool stored_object_name_of(const struct buildid *id, uint32_t uid, char ret_dir[3],
			   char ret_name[STORED_NAME_BYTES]);
/* Is it the name of such a one, of the build whose first name is that? */
bool stored_object_is_user(const char *name, const char *first, uint32_t *ret_uid);

struct stored_mark {
	struct buildid id;
	bool whole;	   /* every byte of the file; else what stored_reduce() keeps */
	uint32_t uid;	   /* its owner */
	uint64_t elf_size; /* of what is before the mark */
	uint16_t rules; /* STORED_RULES of the recorder that made it; 0: of one before there were any */
};

/* What may be in a copy. 1: whole only what every user can reach and read, reduced without code and data. */
#define STORED_RULES 1

void stored_mark_put(const struct stored_mark *m, uint8_t ret[STORED_MARK_BYTES]);
/* 0; -FMT_E_CORRUPT: there is none, or it is not that of a file of this length; -FMT_E_IO. */
int stored_mark_read(struct io_source *file, struct stored_mark *ret);

#endif
