/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * source_window: a view that slides over a source, so that a file of any size is read front
 * to back in large pieces and little memory. Owns its buffer, borrows the source.
 */
#ifndef FORMAT_PERFDATA_SOURCE_WINDOW_H
#define FORMAT_PERFDATA_SOURCE_WINDOW_H

#include "format/bytes/io.h"
#include "format/bytes/span.h"

#define SOURCE_WINDOW_BYTES (256u << 10)

struct source_window {
	struct io_source *source;
	uint8_t *p;
	size_t len, cap;
	size_t usual;	 /* cap but for a large view; 0: not known yet */
	uint64_t offset; /* of p[0] */
};

void source_window_init(struct source_window *w, struct io_source *source);
void source_window_done(struct source_window *w);

/*
 * n bytes at offset, or as many as the source still has. They are good until the next call.
 * 0, -FMT_E_IO (errno is set), -FMT_E_NOMEM. The caller bounds n.
 */
int source_window_view(struct source_window *w, uint64_t offset, size_t n, struct span *ret);

#endif
