/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * io_shared: one source as several, each of which is closed by itself: for several readers of one file, on whatever
 * thread each is.
 */
#ifndef FORMAT_BYTES_IO_SHARED_H
#define FORMAT_BYTES_IO_SHARED_H

#include "format/bytes/io.h"

/*
 * Takes source over; reads of it may come from several threads at once, so it is no pipe. *ret_other is the
 * second one. NULL: out of memory, and source is closed.
 */
struct io_source *io_source_share(struct io_source *source, struct io_source **ret_other);
/* One more of those; half stays the caller's. NULL: out of memory. */
struct io_source *io_source_another(const struct io_source *half);

#endif
