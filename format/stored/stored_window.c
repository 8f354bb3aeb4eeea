/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/stored/stored_window.h"

#include <stdlib.h>

#include "format/stored/stored_elf.h"

struct stored_window *
stored_window_new(struct io_source *file, uint64_t end)
{
	struct stored_window *w = calloc(1, sizeof(*w));

	if (w) {
		w->file = file;
		w->end = end;
	}
	return w;
}

const uint8_t *
stored_window_get(struct stored_window *w, uint64_t at, size_t n)
{
	uint64_t left;

	if (at > w->end || n > w->end - at || n > sizeof(w->bytes))
		return NULL;
	if (at >= w->at && at - w->at <= w->len && n <= w->len - (size_t)(at - w->at))
		return w->bytes + (at - w->at);
	left = w->end - at;
	w->at = at;
	w->len = left < sizeof(w->bytes) ? (size_t)left : sizeof(w->bytes);
	w->error = stored_elf_bytes(w->file, at, w->bytes, w->len);
	if (w->error)
		w->len = 0;
	return w->error ? NULL : w->bytes;
}
