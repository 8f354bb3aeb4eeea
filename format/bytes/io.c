/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/bytes/io.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "format/bytes/array.h"

/* More than one transfer moves at most: the kernel's own limit is just under 2 GiB. */
#define IO_CHUNK (1u << 30)
#define IO_PIPE_READ (1u << 20)

struct fd_sink {
	struct io_sink io;
	int fd;
	off_t base; /* where the recording begins in the file; -1: a pipe, nothing to cut */
};

/* A descriptor that came with O_NONBLOCK (a shell's pipe can) is waited for. */
static int
wait_for(int fd, short events)
{
	struct pollfd p = { .fd = fd, .events = events };

	while (poll(&p, 1, -1) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	return 0;
}

static int
fd_sink_write(struct io_sink *io, const void *bytes, size_t n)
{
	struct fd_sink *self = (struct fd_sink *)io;
	const uint8_t *p = bytes;

	while (n > 0) {
		ssize_t done = write(self->fd, p, n < IO_CHUNK ? n : IO_CHUNK);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0 && errno == EAGAIN) {
			int error = wait_for(self->fd, POLLOUT);

			if (error)
				return error;
			continue;
		}
		if (done < 0)
			return -errno;
		if (done == 0)
			return -EIO;
		p += done;
		n -= (size_t)done;
	}
	return 0;
}

static int
fd_sink_sync(struct io_sink *io)
{
	struct fd_sink *self = (struct fd_sink *)io;

	while (fdatasync(self->fd) != 0) {
		/* A pipe or a terminal has no stable storage to reach. */
		if (errno == EINVAL || errno == EROFS)
			return 0;
		if (errno != EINTR)
			return -errno;
	}
	return 0;
}

static int
fd_sink_cut(struct io_sink *io, uint64_t size)
{
	struct fd_sink *self = (struct fd_sink *)io;
	off_t end;

	if (self->base < 0 || size > (uint64_t)INT64_MAX - (uint64_t)self->base)
		return -EINVAL;
	end = self->base + (off_t)size;
	while (ftruncate(self->fd, end) != 0) {
		if (errno != EINTR)
			return -errno;
	}
	return lseek(self->fd, end, SEEK_SET) < 0 ? -errno : 0;
}

static void
fd_sink_close(struct io_sink *io)
{
	struct fd_sink *self = (struct fd_sink *)io;

	close(self->fd);
	free(self);
}

struct io_sink *
io_sink_fd(int fd)
{
	struct fd_sink *self = calloc(1, sizeof(*self));
	struct stat st;
	int flags;

	if (!self)
		return NULL;
	self->io = (struct io_sink){ fd_sink_write, fd_sink_sync, fd_sink_cut, fd_sink_close };
	self->fd = fd;
	self->base = -1;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
		flags = fcntl(fd, F_GETFL);
		/* With O_APPEND (">>") the position says nothing before the first write. */
		if (flags >= 0 && (flags & O_APPEND))
			self->base = st.st_size;
		else
			self->base = lseek(fd, 0, SEEK_CUR);
	}
	return &self->io;
}

int
io_write_at(int fd, const void *p, size_t n, uint64_t offset)
{
	const uint8_t *from = p;

	while (n > 0) {
		ssize_t done = pwrite(fd, from, n, (off_t)offset);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return done < 0 ? -errno : -EIO;
		from += done;
		offset += (uint64_t)done;
		n -= (size_t)done;
	}
	return 0;
}

struct fd_source {
	struct io_source io;
	int fd;
	int seek_fd; /* -1: not needed yet, or not to be had */
	bool seek_asked;
};

static ssize_t
fd_source_read(struct io_source *io, uint64_t offset, void *bytes, size_t n)
{
	struct fd_source *self = (struct fd_source *)io;
	uint8_t *p = bytes;
	size_t done = 0;

	if (offset > INT64_MAX || n > INT64_MAX - offset)
		return -EINVAL;
	while (done < n) {
		size_t want = n - done < IO_CHUNK ? n - done : IO_CHUNK;
		ssize_t got = pread(self->fd, p + done, want, (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			break;
		done += (size_t)got;
	}
	return (ssize_t)done;
}

static int64_t
fd_source_size(struct io_source *io)
{
	struct fd_source *self = (struct fd_source *)io;
	struct stat st;

	if (fstat(self->fd, &st) != 0)
		return -errno;
	return st.st_size;
}

static uint64_t
fd_source_data(struct io_source *io, uint64_t offset)
{
	struct fd_source *self = (struct fd_source *)io;
	char path[32];
	off_t at;

	/* With a position of its own: who gave us fd may write at that one's. */
	if (!self->seek_asked) {
		(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", self->fd);
		self->seek_fd = open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
		self->seek_asked = true;
	}
	if (self->seek_fd < 0)
		return offset;
	at = lseek(self->seek_fd, (off_t)offset, SEEK_DATA);
	if (at >= 0)
		return (uint64_t)at;
	return errno == ENXIO ? UINT64_MAX : offset;
}

static void
fd_source_close(struct io_source *io)
{
	struct fd_source *self = (struct fd_source *)io;

	close(self->fd);
	if (self->seek_fd >= 0)
		close(self->seek_fd);
	free(self);
}

struct part_source {
	struct io_source io;
	struct io_source *whole;
	uint64_t offset, bytes;
};

static ssize_t
part_source_read(struct io_source *io, uint64_t offset, void *p, size_t n)
{
	struct part_source *self = (struct part_source *)io;

	if (offset >= self->bytes)
		return 0;
	if (n > self->bytes - offset)
		n = (size_t)(self->bytes - offset);
	return self->whole->read(self->whole, self->offset + offset, p, n);
}

static int64_t
part_source_size(struct io_source *io)
{
	struct part_source *self = (struct part_source *)io;
	int64_t size = self->whole->size(self->whole);
	uint64_t there;

	if (size < 0)
		return size;
	there = (uint64_t)size > self->offset ? (uint64_t)size - self->offset : 0;
	return (int64_t)(there < self->bytes ? there : self->bytes);
}

static uint64_t
part_source_data(struct io_source *io, uint64_t offset)
{
	struct part_source *self = (struct part_source *)io;
	uint64_t at;

	if (!self->whole->data || offset >= self->bytes)
		return offset;
	at = self->whole->data(self->whole, self->offset + offset);
	return at == UINT64_MAX ? at : at - self->offset;
}

static void
part_source_close(struct io_source *io)
{
	struct part_source *self = (struct part_source *)io;

	self->whole->close(self->whole);
	free(self);
}

struct io_source *
io_source_part(struct io_source *source, uint64_t offset, uint64_t bytes)
{
	struct part_source *self = calloc(1, sizeof(*self));

	if (!self) {
		source->close(source);
		return NULL;
	}
	self->io = (struct io_source){ part_source_read, part_source_size, part_source_close,
				       part_source_data };
	self->whole = source;
	self->offset = offset;
	self->bytes = bytes < UINT64_MAX - offset ? bytes : UINT64_MAX - offset;
	return &self->io;
}

struct io_source *
io_source_front(struct io_source *source, uint64_t bytes)
{
	return io_source_part(source, 0, bytes);
}

struct memory_source {
	struct io_source io;
	const uint8_t *p;
	size_t n;
};

static ssize_t
memory_source_read(struct io_source *io, uint64_t offset, void *p, size_t n)
{
	struct memory_source *self = (struct memory_source *)io;

	if (offset >= self->n)
		return 0;
	if (n > self->n - offset)
		n = self->n - (size_t)offset;
	if (n > 0)
		memcpy(p, self->p + offset, n);
	return (ssize_t)n;
}

static int64_t
memory_source_size(struct io_source *io)
{
	return (int64_t)((struct memory_source *)io)->n;
}

static void
memory_source_close(struct io_source *io)
{
	free(io);
}

struct io_source *
io_source_memory(const void *p, size_t n)
{
	struct memory_source *self = calloc(1, sizeof(*self));

	if (!self)
		return NULL;
	self->io = (struct io_source){ memory_source_read, memory_source_size, memory_source_close,
				       NULL };
	self->p = p;
	self->n = n;
	return &self->io;
}

/* 0, or what is wrong with a descriptor that was opened by name. */
static int
unreadable(int fd)
{
	struct statfs fs;
	struct stat st;

	if (fstat(fd, &st) != 0)
		return errno;
	if (S_ISREG(st.st_mode))
		return 0;
	if (S_ISDIR(st.st_mode))
		return EISDIR;
	if (!S_ISFIFO(st.st_mode))
		return ENOTSUP;
	return fstatfs(fd, &fs) == 0 && fs.f_type == PIPEFS_MAGIC ? 0 : ESPIPE;
}

int
io_open(int dirfd, const char *path, int flags)
{
	int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | flags);
	int error = fd < 0 ? errno : unreadable(fd);

	if (!error)
		return fd;
	if (fd >= 0)
		close(fd);
	errno = error;
	return -1;
}

ssize_t
io_read(int fd, void *p, size_t n)
{
	for (;;) {
		ssize_t got = read(fd, p, n < IO_CHUNK ? n : IO_CHUNK);
		int error = 0;

		if (got >= 0)
			return got;
		if (errno == EAGAIN)
			error = wait_for(fd, POLLIN);
		else if (errno != EINTR)
			error = -errno;
		if (error)
			return error;
	}
}

struct pipe_source {
	struct io_source io;
	int fd;
	bool ended, keep_all;
	uint8_t *p;
	size_t len, cap;
	uint64_t offset; /* of p[0] in what came */
};

/* Drops what is far behind, when it is as much as what stays. */
static void
pipe_source_drop(struct pipe_source *s)
{
	size_t gone;

	if (s->keep_all || s->len < 2 * (size_t)IO_PIPE_KEEP)
		return;
	gone = s->len - IO_PIPE_KEEP;
	memmove(s->p, s->p + gone, IO_PIPE_KEEP);
	s->offset += gone;
	s->len = IO_PIPE_KEEP;
}

/* Reads on: 0, also at the end; -errno. */
static int
pipe_source_fill(struct pipe_source *s)
{
	ssize_t got;

	pipe_source_drop(s);
	if (array_reserve(s->p, s->len, s->cap, IO_PIPE_READ) < 0)
		return -ENOMEM;
	got = io_read(s->fd, s->p + s->len, IO_PIPE_READ);
	if (got < 0)
		return (int)got;
	s->len += (size_t)got;
	s->ended = got == 0;
	return 0;
}

static ssize_t
pipe_source_read(struct io_source *io, uint64_t offset, void *p, size_t n)
{
	struct pipe_source *s = (struct pipe_source *)io;
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
			error = pipe_source_fill(s);
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
pipe_source_size(struct io_source *io)
{
	const struct pipe_source *s = (struct pipe_source *)io;

	return s->ended ? (int64_t)(s->offset + s->len) : -ESPIPE;
}

static void
pipe_source_close(struct io_source *io)
{
	struct pipe_source *s = (struct pipe_source *)io;

	close(s->fd);
	free(s->p);
	free(s);
}

struct io_source *
io_source_pipe(int fd)
{
	struct pipe_source *s = calloc(1, sizeof(*s));

	if (!s) {
		close(fd);
		return NULL;
	}
	s->io = (struct io_source){ pipe_source_read, pipe_source_size, pipe_source_close, NULL };
	s->fd = fd;
	return &s->io;
}

int
io_source_slurp(struct io_source *io)
{
	struct pipe_source *s = (struct pipe_source *)io;
	int error = 0;

	s->keep_all = true;
	while (!error && !s->ended) {
		if (s->len > IO_PIPE_MAX)
			return -EFBIG;
		error = pipe_source_fill(s);
	}
	return error;
}

/* One that has to be read in any order. */
static struct io_source *
pipe_source_whole(int fd)
{
	struct io_source *source = io_source_pipe(fd);
	int error = source ? io_source_slurp(source) : 0;

	if (!error)
		return source;
	source->close(source);
	errno = -error;
	return NULL;
}

struct io_source *
io_source_fd(int fd)
{
	struct fd_source *self;
	struct stat st;
	int saved_errno;

	if (fstat(fd, &st) != 0)
		goto fail;
	if (S_ISDIR(st.st_mode)) {
		errno = EISDIR;
		goto fail;
	}
	/* One without an end would fill the memory. */
	if (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode)) {
		errno = ENOTSUP;
		goto fail;
	}
	if (!S_ISREG(st.st_mode))
		return pipe_source_whole(fd);
	self = calloc(1, sizeof(*self));
	if (!self)
		goto fail;
	self->io = (struct io_source){ fd_source_read, fd_source_size, fd_source_close,
				       fd_source_data };
	self->fd = fd;
	self->seek_fd = -1;
	return &self->io;

fail:
	saved_errno = errno;
	close(fd);
	errno = saved_errno;
	return NULL;
}

struct io_source *
io_source_dup(int fd)
{
	const int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);

	return copy < 0 ? NULL : io_source_fd(copy);
}
