/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stored_window: the bytes of a file that is looked through, some of them at a time. */
#ifndef FORMAT_STORED_STORED_WINDOW_H
#define FORMAT_STORED_STORED_WINDOW_H

#include <stddef.h>
#include <stdint.h>

#include "format/bytes/io.h"

#define STORED_WINDOW_BYTES 16384u

/* Zeroed but for file and end: nothing has been read. */
struct stored_window {
	struct io_source *file; /* borrowed */
	uint64_t end;		/* nothing behind it is looked at */
	uint64_t at;
	size_t len;
	int error; /* of the last read: as of stored_elf_bytes() */
	uint8_t bytes[STORED_WINDOW_BYTES];
};

/* NULL: out of memory. free() frees it. */
struct stored_window *stored_window_new(struct io_source *file, uint64_t end);

/* The n bytes at this place of the file, until the next call; NULL: they are not all before the end, or error. */
const uint8_t *stored_window_get(struct stored_window *w, uint64_t at, size_t n);

#endif
