/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * numbered_files: the files that the recorder has offered and numbered, and the call frame information of those that
 * were needed. Of descriptors and of memory there is a bound, above which what was not used for longest goes.
 *
 * A file is opened and freed between two walks: so no walk meets call frame information that is gone. Walks read FDEs and
 * code of open files. What was read
 * is kept no longer than its descriptor: as long as that is open, no other file gets its inode, nor its file system's
 * number.
 *
 * Where there is not enough memory, it is the user with most of it whose files go: one user cannot take it from all.
 */
#ifndef SYMBOLIZER_UNWINDER_NUMBERED_FILES_H
#define SYMBOLIZER_UNWINDER_NUMBERED_FILES_H

#include "format/unwind/unwind_ring.h"
#include "symbolizer/unwind/code_file.h"

#define NUMBERED_FILES_DESCRIPTORS_MAX 1024
#define NUMBERED_FILES_BYTES_MAX (24u << 20)
/* Call frame information of one file may take so much (code_file_open()). */
#define NUMBERED_FILES_ONE_MAX (NUMBERED_FILES_BYTES_MAX / 2)
/* Of tables, that are read of one file. They are freed when it was read. */
#define NUMBERED_FILES_READ_MAX (24u << 20)

/* Of all files, that are read during one walk. One that reads nothing but new FDEs takes 1 MiB for 1,000 frames. */
#define NUMBERED_FILES_WALK_MAX (4u << 20)

struct numbered_files;

/* u forgets what is freed. NULL: out of memory. */
struct numbered_files *numbered_files_new(struct unwinder *u, size_t descriptors_max);
void numbered_files_free(struct numbered_files *f);

/* fd is owned from here on. */
void numbered_files_offer(struct numbered_files *f, const struct unwind_offer *o, int fd);
/* From here on a number means the file that was offered so, or no file; not while a walk goes on. */
void numbered_files_claim(struct numbered_files *f, const struct unwind_file *file);

enum numbered_code {
	NUMBERED_FOUND,	 /* or there is none */
	NUMBERED_UNREAD, /* the file has to be read first */
	NUMBERED_GONE,	 /* it has to be offered again */
};

/* Before each walk. */
void numbered_files_begin(struct numbered_files *f);
/* Would it have read more than NUMBERED_FILES_WALK_MAX? Then its frames may be wrong. */
bool numbered_files_refused(const struct numbered_files *f);
/* What is at an offset of a file. */
enum numbered_code numbered_files_code(struct numbered_files *f, uint32_t number, uint64_t offset,
				       struct unwind_code *ret);
/* Between two walks. Where memory is short others are freed for it; a file for which that is not enough has nothing. */
void numbered_files_read(struct numbered_files *f, uint32_t number);
/* After a walk: counts what it added, and frees what is above the bound. */
void numbered_files_settle(struct numbered_files *f);
/* Frees all call frame information; it is read again where it is needed. */
void numbered_files_drop(struct numbered_files *f);

#endif
