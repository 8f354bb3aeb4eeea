/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/record/size_sink.h"

#include <stdbool.h>
#include <stdlib.h>

#include "format/bytes/io.h"

struct size_sink {
	struct io_sink sink; /* first: it is what others see */
	struct io_sink *file;
	uint64_t written, bytes;
	void (*full)(void *arg);
	void *arg;
};

static int
size_sink_write(struct io_sink *self, const void *p, size_t n)
{
	struct size_sink *s = (struct size_sink *)self;
	int r = s->file->write(s->file, p, n);

	if (r < 0)
		return r;
	s->written += n;
	/* Each time: who was busy with the file before may have missed it. */
	if (s->written >= s->bytes)
		s->full(s->arg);
	return r;
}

static int
size_sink_sync(struct io_sink *self)
{
	struct size_sink *s = (struct size_sink *)self;

	return s->file->sync(s->file);
}

static int
size_sink_cut(struct io_sink *self, uint64_t size)
{
	struct size_sink *s = (struct size_sink *)self;
	int r = s->file->cut(s->file, size);

	if (r >= 0)
		s->written = size;
	return r;
}

static void
size_sink_close(struct io_sink *self)
{
	struct size_sink *s = (struct size_sink *)self;

	s->file->close(s->file);
	free(s);
}

struct io_sink *
size_sink_new(int fd, uint64_t bytes, void (*full)(void *arg), void *arg)
{
	struct size_sink *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->file = io_sink_fd(fd);
	if (!s->file) {
		free(s);
		return NULL;
	}
	s->sink = (struct io_sink){ .write = size_sink_write,
				    .sync = size_sink_sync,
				    .cut = size_sink_cut,
				    .close = size_sink_close };
	s->bytes = bytes;
	s->full = full;
	s->arg = arg;
	return &s->sink;
}
