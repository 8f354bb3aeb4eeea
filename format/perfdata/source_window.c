/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/perfdata/source_window.h"

#include <errno.h>
#include <stdlib.h>

#include "format/bytes/fmt_error.h"

void
source_window_init(struct source_window *w, struct io_source *source)
{
	*w = (struct source_window){ .source = source };
}

void
source_window_done(struct source_window *w)
{
	free(w->p);
	w->p = NULL;
	w->len = w->cap = 0;
}

static bool
holds(const struct source_window *w, uint64_t offset, size_t n)
{
	return offset >= w->offset && offset - w->offset <= w->len &&
		n <= w->len - (size_t)(offset - w->offset);
}

/* Not more than a small source has. */
static size_t
usual_size(const struct source_window *w)
{
	int64_t size = w->source->size(w->source);

	return size >= 0 && size < (int64_t)SOURCE_WINDOW_BYTES ? (size_t)size + 1
								: SOURCE_WINDOW_BYTES;
}

static int
source_window_reserve(struct source_window *w, size_t n)
{
	size_t usual = w->usual ? w->usual : usual_size(w), cap = n > usual ? n : usual;
	uint8_t *p;

	w->usual = usual;
	/* What one large record took is not kept for all that follow it. */
	if (w->cap >= n && (w->cap == usual || n > usual))
		return 0;
	p = realloc(w->p, cap);
	if (!p)
		return -FMT_E_NOMEM;
	w->p = p;
	w->cap = cap;
	if (w->len > cap)
		w->len = cap;
	return 0;
}

/* Moves the window to offset, keeping what it has from there on, and fills it up. */
static int
slide(struct source_window *w, uint64_t offset, size_t n)
{
	size_t keep = 0;
	ssize_t got;
	int error;

	if (holds(w, offset, 0)) {
		keep = w->len - (size_t)(offset - w->offset);
		if (keep > 0)
			memmove(w->p, w->p + (offset - w->offset), keep);
	}
	w->offset = offset;
	w->len = keep;
	error = source_window_reserve(w, n);
	if (error)
		return error;
	if (keep > 0 && offset > UINT64_MAX - keep)
		return 0;
	got = w->source->read(w->source, offset + keep, w->p + w->len, w->cap - w->len);
	if (got < 0) {
		errno = (int)-got;
		return -FMT_E_IO;
	}
	w->len += (size_t)got;
	return 0;
}

/* Of n bytes at offset, how many the source has. */
static size_t
there_is(const struct source_window *w, uint64_t offset, size_t n)
{
	int64_t size = w->source->size(w->source);
	uint64_t left = size > 0 && (uint64_t)size > offset ? (uint64_t)size - offset : 0;

	return size < 0 || n < left ? n : (size_t)left;
}

int
source_window_view(struct source_window *w, uint64_t offset, size_t n, struct span *ret)
{
	size_t at, have;
	int error = 0;

	if (offset > INT64_MAX - SOURCE_WINDOW_BYTES || n > INT64_MAX - offset) {
		*ret = span_of(NULL, 0);
		return 0;
	}
	/* A length that lies does not cost its memory. */
	if (n > SOURCE_WINDOW_BYTES)
		n = there_is(w, offset, n);
	if (!holds(w, offset, n))
		error = slide(w, offset, n);
	if (error)
		return error;
	at = (size_t)(offset - w->offset);
	have = w->len - at;
	*ret = span_of(w->p + at, have < n ? have : n);
	return 0;
}
