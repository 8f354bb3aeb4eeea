/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/perfdata/stream_source.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/bytes/array.h"

#define READ_BYTES (1u << 20)

struct stream_source {
	struct io_source io;
	int fd;
	bool ended, keep_all;
	uint8_t *p;
	size_t len, cap;
	uint64_t offset; /* of p[0] in the stream */
};

/* Drops what is far behind, when it is as much as what stays. */
static void
stream_source_drop(struct stream_source *s)
{
	size_t gone;

	if (s->keep_all || s->len < 2 * (size_t)STREAM_SOURCE_KEEP)
		return;
	gone = s->len - STREAM_SOURCE_KEEP;
	memmove(s->p, s->p + gone, STREAM_SOURCE_KEEP);
	s->offset += gone;
	s->len = STREAM_SOURCE_KEEP;
}

static int
stream_source_reserve(struct stream_source *s, size_t more)
{
	return array_reserve(s->p, s->len, s->cap, more) < 0 ? -ENOMEM : 0;
}

/* Reads on: 0, also at the end; -errno. */
static int
read_more(struct stream_source *s)
{
	ssize_t got;
	int error;

	stream_source_drop(s);
	error = stream_source_reserve(s, READ_BYTES);
	if (error)
		return error;
	got = io_read(s->fd, s->p + s->len, READ_BYTES);
	if (got < 0)
		return (int)got;
	s->len += (size_t)got;
	s->ended = got == 0;
	return 0;
}

static ssize_t
stream_read(struct io_source *io, uint64_t offset, void *p, size_t n)
{
	struct stream_source *s = (struct stream_source *)io;
	size_t done = 0;
	int error;

	while (done < n) {
		uint64_t at = offset + done, end = s->offset + s->len;
		size_t have;

		if (at < s->offset)
			return -ESPIPE;
		if (at >= end) {
			if (s->ended)
				break;
			error = read_more(s);
			if (error)
				return error;
			continue;
		}
		have = (size_t)(end - at) < n - done ? (size_t)(end - at) : n - done;
		memcpy((uint8_t *)p + done, s->p + (at - s->offset), have);
		done += have;
	}
	return (ssize_t)done;
}

static int64_t
stream_size(struct io_source *io)
{
	const struct stream_source *s = (struct stream_source *)io;

	return s->ended ? (int64_t)(s->offset + s->len) : -ESPIPE;
}

static void
stream_close(struct io_source *io)
{
	struct stream_source *s = (struct stream_source *)io;

	close(s->fd);
	free(s->p);
	free(s);
}

struct io_source *
stream_source_fd(int fd)
{
	struct stream_source *s = calloc(1, sizeof(*s));

	if (!s) {
		close(fd);
		return NULL;
	}
	s->io = (struct io_source){ stream_read, stream_size, stream_close, NULL };
	s->fd = fd;
	return &s->io;
}

int
stream_source_slurp(struct io_source *io)
{
	struct stream_source *s = (struct stream_source *)io;
	int error = 0;

	s->keep_all = true;
	while (!error && !s->ended) {
		if (s->len > IO_PIPE_MAX)
			return -EFBIG;
		error = read_more(s);
	}
	return error;
}
