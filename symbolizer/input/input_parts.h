/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * input_parts: the recordings of a window of an archive in one file (format/block/recording_parts.h), behind one
 * that tells of them and has what names their samples: the cover.
 */
#ifndef SYMBOLIZER_INPUT_INPUT_PARTS_H
#define SYMBOLIZER_INPUT_INPUT_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "format/bytes/io.h"
#include "symbolizer/input/archive_list.h"
#include "symbolizer/input/input.h"

struct input_parts {
	struct io_source *file;	     /* all of it, one of io_source_share() */
	struct input_access access;  /* its own */
	uint64_t cover_bytes, bytes; /* of the cover, and of all of the file */
	uint64_t since_ns,
		until_ns; /* the window, since 1970; 0 and UINT64_MAX: it has no such end */
	bool whole;	  /* the file ends where the last part does */
};

/*
 * Of an input that has parts, whose source is taken; they are added to the list. 0, -1 after a message;
 * input_parts_close() in any case.
 */
int input_parts_open(struct input_parts *p, struct input *in, struct archive_list *list);
void input_parts_close(struct input_parts *p);

/* The bytes of a part, and those of the cover, each for a reader that closes them. NULL: out of memory. */
struct io_source *input_parts_source(const struct input_parts *p,
				     const struct archive_segment *part);
struct io_source *input_parts_cover(const struct input_parts *p);

#endif
