/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * archive_list: the recordings of an archive directory, in the order in which they were made.
 *
 * Of spoord's segments ("<UTC start>-<boot>-<seq>.spoor[.active]") the name tells when each
 * began; that is what a window is looked for by, before any of them is opened. Other
 * recordings ("*.spoor") are taken too, behind them, by name. captures/ and kept/ are
 * archives of their own; a directory below another one (kept/LABEL/) belongs to it. A
 * recording with several names is there once. What the daemon deletes or renames while we
 * read is the reader's to find out; so is what cannot be opened: symbolic links, which are not
 * followed, and directories that may not be read.
 */
#ifndef SYMBOLIZER_INPUT_ARCHIVE_LIST_H
#define SYMBOLIZER_INPUT_ARCHIVE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "format/recording/segment_name.h"

struct archive_segment {
	char *name;		/* relative to the directory */
	struct segment_name is; /* all of it or nothing */
	dev_t dev;
	ino_t ino;
	uint64_t offset, bytes; /* of a part of one file (input_parts): where it lies there */
	bool failed;		/* it cannot be read, which was said */
};

struct archive_list {
	struct archive_segment *segments;
	size_t nr, cap;
};

/* Reads a directory, which stays open and the caller's. 0, or -1 with errno. */
int archive_list_read(int dirfd, struct archive_list *ret);
/* One more, in a file and not in a directory; name need not end with a NUL. 0, or -1 with errno. */
int archive_list_add_part(struct archive_list *l, const char *name, size_t len, uint64_t offset,
			  uint64_t bytes);
void archive_list_done(struct archive_list *l);

/* Is the file one of them? */
bool archive_list_has(const struct archive_list *l, dev_t dev, ino_t ino);

/*
 * Can the i-th have anything of [from, until), ns since 1970? By the names, with a minute to
 * spare; true when they do not tell.
 */
bool archive_list_reaches(const struct archive_list *l, size_t i, uint64_t from_ns,
			  uint64_t until_ns);

#endif
