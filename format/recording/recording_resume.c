/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/recording/recording_resume.h"

#include <errno.h>
#include <stdlib.h>

#include "format/block/recording_index.h"
#include "format/recording/reader_internal.h"
#include "format/recording/recording_internal.h"

#define COPY_BYTES (1u << 20)

/* What the headers of the recording say: what its writer knew when it ended. */
struct resumed {
	struct recording_writer *w;
	uint64_t after; /* bytes of the END, if that is what the last header was of */
};

/* Sees each header, and wants no payload. */
static bool
resume_see(const struct block_header *h, void *arg)
{
	struct resumed *r = arg;
	struct recording_writer *w = r->w;

	r->after = h->type == BLOCK_END ? reader_extent(h) : 0;
	if (h->type == BLOCK_END)
		return false;
	if (h->seq >= w->seq)
		w->seq = h->seq + 1;
	if (h->complete > w->complete)
		w->complete = h->complete;
	if (h->lost > w->lost)
		w->lost = h->lost;
	w->raw_bytes += h->raw_length;
	if (h->type == BLOCK_RECORDS) {
		w->records += h->records;
		w->samples += h->samples;
	}
	if (h->type == BLOCK_INDEX) {
		w->last_index = h->offset;
		recording_index_begin(&w->index, h->offset);
	} else {
		recording_index_add(&w->index, h);
	}
	return false;
}

static int
copy_front(struct io_source *source, struct recording_writer *w, uint64_t bytes)
{
	struct buf chunk;
	int error = 0;

	buf_init(&chunk);
	while (!error && w->size < bytes) {
		uint64_t left = bytes - w->size;
		size_t n = left < COPY_BYTES ? (size_t)left : COPY_BYTES;
		ssize_t got = buf_reserve(&chunk, n) ? source->read(source, w->size, chunk.p, n)
						     : -ENOMEM;

		chunk.len = got > 0 ? (size_t)got : 0;
		if (got < 0)
			errno = (int)-got;
		if (got == 0)
			errno = EIO; /* it became shorter */
		if (got <= 0)
			error = w->error = fmt_fail(&w->where,
						    got == -ENOMEM ? FMT_E_NOMEM : FMT_E_IO,
						    w->size, "copy of %zu bytes", n);
		else
			error = recording_blocks_bytes(w, &chunk);
	}
	buf_done(&chunk);
	return error;
}

int
recording_resume(struct recording_reader *r, struct io_source *source, struct io_sink *sink,
		 const struct recording_writer_options *options, struct recording_writer **ret,
		 struct fmt_where *where)
{
	struct resumed resumed = { 0 };
	struct recording_writer *w;
	struct block none;
	int error = recording_writer_new(sink, reader_meta(r), options, &w, where);

	if (error)
		return error;
	resumed.w = w;
	recording_reader_rewind(r);
	error = recording_reader_next(r, resume_see, &resumed, &none, where);
	/* With the ids of all of the file. */
	w->meta = reader_meta(r);
	if (!error && buf_failed(&w->index))
		error = fmt_fail(where, FMT_E_NOMEM, 0, "index");
	if (!error && copy_front(source, w, r->end - resumed.after) != 0)
		error = recording_blocks_sticky(w, where);
	recording_reader_rewind(r);
	if (error)
		recording_writer_abandon(w);
	else
		*ret = w;
	return error;
}
