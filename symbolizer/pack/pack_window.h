/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pack_window: the recordings of a window of an archive, to be put into one file (format/block/recording_parts.h).
 */
#ifndef SYMBOLIZER_PACK_PACK_WINDOW_H
#define SYMBOLIZER_PACK_PACK_WINDOW_H

#include "format/block/recording_meta.h"
#include "format/bytes/buf.h"
#include "format/bytes/io.h"
#include "symbolizer/input/input_set.h"

struct pack_window {
	struct recording_meta *meta; /* of the cover: where the first one was made, and the parts */
	struct io_source **parts;    /* their bytes */
	uint64_t *bytes;
	size_t nr, cap, cap_bytes;
	struct input_access access;	/* what all of them let others do */
	struct clock_triple last_start; /* of the last one, monotonic by the first one's clock */
};

/*
 * Opens the recordings of an archive again that was read to its end: since then the times of its filter are times of
 * day. The window ends with the last sample that was read: the archive may have grown. 0, or an exit status after a
 * message; pack_window_done() in any case.
 */
int pack_window_open(struct pack_window *w, struct input_set *set);
void pack_window_done(struct pack_window *w);

/* Copies their bytes, one after another, as many as there were. 0, -FMT_E_IO, -FMT_E_NOMEM. */
int pack_window_copy(const struct pack_window *w, struct io_sink *sink, struct fmt_where *where);

#endif
