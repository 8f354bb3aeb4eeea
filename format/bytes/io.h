/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * io: the seam between recordings and the disk. Everything that format/ reads or writes
 * goes through one of these two tables, so that a test can cut, tear, fail and reorder at
 * every call. The real ones retry EINTR and short transfers.
 */
#ifndef FORMAT_BYTES_IO_H
#define FORMAT_BYTES_IO_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * -ESTALE from write() or sync() (a file system of the network says it, too): the file is no more, and
 * with it all that was ever written to it.
 */
struct io_sink {
	/* Writes all n bytes at the end, or returns -errno. */
	int (*write)(struct io_sink *self, const void *p, size_t n);
	/* Data on stable storage when it returns 0; -errno. */
	int (*sync)(struct io_sink *self);
	/* Cuts the file back to size bytes after a failed write; -errno (-EINVAL: a pipe). */
	int (*cut)(struct io_sink *self, uint64_t size);
	void (*close)(struct io_sink *self); /* frees self */
};

/*
 * A sink over a descriptor (file, pipe, socket), which it closes. NULL: out of memory, and fd is
 * still the caller's.
 */
struct io_sink *io_sink_fd(int fd);

struct io_source {
	/* Reads up to n bytes at offset: bytes read, 0 at the end, -errno. */
	ssize_t (*read)(struct io_source *self, uint64_t offset, void *p, size_t n);
	/* Current size in bytes; a live file grows. -errno. */
	int64_t (*size)(struct io_source *self);
	void (*close)(struct io_source *self);
	/*
	 * The first byte at or after offset that is not in a hole, UINT64_MAX: there is none. What
	 * is passed over is zeros. NULL: nobody knows.
	 */
	uint64_t (*data)(struct io_source *self, uint64_t offset);
};

/* Writes all n bytes at this offset of a descriptor, whose position stays. 0, -errno. */
int io_write_at(int fd, const void *p, size_t n, uint64_t offset);

/* A pipe that has to be read into memory whole is not longer: nobody pipes such a recording. */
#define IO_PIPE_MAX (UINT64_C(1) << (sizeof(size_t) > 4 ? 32 : 30))
#define IO_PIPE_KEEP (12u << 20)

/*
 * Opens what is to be read, and waits for nobody: its descriptor, or -1 with errno, EISDIR, ENOTSUP (a
 * device) or ESPIPE (a FIFO: whoever made it may never write) among others. A pipe without a name, as
 * /dev/stdin and a shell's <(COMMAND) are, is taken. flags are added, O_NOFOLLOW for one.
 */
int io_open(int dirfd, const char *path, int flags);

/*
 * Up to n bytes of what comes next: bytes read, 0 at the end, -errno. Waits where a descriptor
 * came with O_NONBLOCK.
 */
ssize_t io_read(int fd, void *p, size_t n);

/*
 * A source over a regular file by pread(2) (never mmap: a cut file must not be a SIGBUS).
 * For a pipe the bytes are read to the end into memory first. Takes fd over, also on failure.
 * NULL with errno set: EISDIR, ENOTSUP (a device), EFBIG (a pipe over IO_PIPE_MAX)...
 */
struct io_source *io_source_fd(int fd);
/* Likewise over a copy of the descriptor, which stays the caller's. */
struct io_source *io_source_dup(int fd);
/*
 * So many bytes of a source from offset on, as if they were a file. The source is taken over (NULL: out of memory,
 * and it is closed).
 */
struct io_source *io_source_part(struct io_source *source, uint64_t offset, uint64_t bytes);
/* Likewise its first bytes. */
struct io_source *io_source_front(struct io_source *source, uint64_t bytes);
/*
 * A source over a pipe that is read once, front to back, and may be longer than memory: only the last
 * IO_PIPE_KEEP bytes before the furthest that was asked for can be read again, what is before them is
 * -ESPIPE. So is its size() until the end was read. Takes fd over; NULL: out of memory (fd is closed).
 */
struct io_source *io_source_pipe(int fd);
/* Of a pipe: nothing is dropped from here on, all of it is read in. 0, -errno (-EFBIG: IO_PIPE_MAX). */
int io_source_slurp(struct io_source *pipe);
/* A source over memory that the caller keeps. */
struct io_source *io_source_memory(const void *p, size_t n);

#endif
