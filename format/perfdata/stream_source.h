/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stream_source: a source over a pipe that is read once, front to back, and may be longer
 * than memory: only the last STREAM_SOURCE_KEEP bytes before the furthest that was asked for
 * can be read again. io_source_fd() is for what has to be read in any order.
 */
#ifndef FORMAT_PERFDATA_STREAM_SOURCE_H
#define FORMAT_PERFDATA_STREAM_SOURCE_H

#include "format/bytes/io.h"

#define STREAM_SOURCE_KEEP (12u << 20)

/*
 * Takes fd over. Its size() is -ESPIPE until the end was read; reading what is no longer
 * there is -ESPIPE. NULL: out of memory (fd is closed).
 */
struct io_source *stream_source_fd(int fd);

/* From here on nothing is dropped, and all of it is read in: 0, -errno (-EFBIG: IO_PIPE_MAX). */
int stream_source_slurp(struct io_source *source);

#endif
