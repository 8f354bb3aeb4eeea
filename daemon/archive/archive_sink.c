/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files being written. The mutex is taken to ask for room and to tell what came of it, not
 * while the disk works: what has been granted meanwhile counts as taken.
 */
#include "daemon/archive/archive_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "daemon/process/log.h"
#include "format/stored/stored_object.h"

/* Of copies, by what each counts for: those that go where there is no inode. */
#define INODES_BYTES (16 * STORED_COUNT_MIN)

#define NAME_TRIES 1000

/* What the file takes now, by the file system's word. */
static void
account(struct archive_sink *s)
{
	struct stat st;

	s->reserved = 0;
	if (fstat(s->fd, &st) != 0)
		return;
	s->size = (uint64_t)st.st_size;
	s->bytes = archive_bytes(s->archive, &st);
}

/* Passes error on. */
static int
archive_sink_refuse(struct archive_sink *s, int error)
{
	if (error && s->kind == RETENTION_SEGMENT)
		s->archive->refused = -error;
	return error;
}

static int
sink_write(struct io_sink *io, const void *p, size_t n)
{
	struct archive_sink *s = (struct archive_sink *)io;
	struct archive *a = s->archive;
	uint64_t whole, growth;
	int error;

	pthread_mutex_lock(&a->lock);
	whole = (s->size + n + a->unit - 1) / a->unit * a->unit;
	growth = whole > s->bytes ? whole - s->bytes : 0;
	error = s->gone ? -ESTALE : archive_room(a, growth, s->kind == RETENTION_CAPTURE);
	if (!error)
		s->reserved = growth;
	pthread_mutex_unlock(&a->lock);
	if (error)
		return archive_sink_refuse(s, error);

	error = s->file->write(s->file, p, n);

	pthread_mutex_lock(&a->lock);
	account(s);
	if (error == -EDQUOT)
		archive_give_up(a, growth);
	pthread_mutex_unlock(&a->lock);
	return archive_sink_refuse(s, error);
}

/* Of the directory that a capture's is in. */
static int
sync_outer(struct archive *a)
{
	int fd, error;

	pthread_mutex_lock(&a->lock);
	fd = openat(a->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	error = fd < 0 ? -errno : 0;
	pthread_mutex_unlock(&a->lock);
	if (fd < 0)
		return error;
	error = fsync(fd) == 0 ? 0 : -errno;
	close(fd);
	return error;
}

/* Synced bytes of a file that no directory has are lost: with the power, or already. */
static int
sink_sync(struct io_sink *io)
{
	struct archive_sink *s = (struct archive_sink *)io;
	struct archive *a = s->archive;
	int error = s->file->sync(s->file);

	if (!error && !s->entered && fsync(s->dir_fd) != 0)
		error = -errno;
	if (!error && !s->entered && s->kind == RETENTION_CAPTURE)
		error = sync_outer(a);
	s->entered |= !error;
	pthread_mutex_lock(&a->lock);
	archive_look_at_sink(a, s);
	if (s->gone)
		error = -ESTALE;
	pthread_mutex_unlock(&a->lock);
	return archive_sink_refuse(s, error);
}

static int
sink_cut(struct io_sink *io, uint64_t size)
{
	struct archive_sink *s = (struct archive_sink *)io;
	int error = s->file->cut(s->file, size);

	pthread_mutex_lock(&s->archive->lock);
	account(s);
	pthread_mutex_unlock(&s->archive->lock);
	return error;
}

/* Gives the file its name, and it to the account. */
static void
seal(struct archive_sink *s)
{
	struct archive *a = s->archive;
	struct archive_file f = { .name = s->name, .kind = s->kind, .start_s = s->start_s };
	const char *base;
	struct stat st;
	int error;

	archive_look_at_sink(a, s);
	/* What has its name now, or has it under another one, is for a scan to find. */
	if (s->gone || s->renamed) {
		(void)archive_scan(a);
		return;
	}
	if (s->size == 0 && unlinkat(s->dir_fd, s->active, 0) == 0)
		return;
	(void)archive_dirfd(a, s->name, &base);
	error = archive_rename(s->dir_fd, s->active, base);
	if (error) {
		/* The next scan tries again, as for what a dead daemon left. */
		log_warning("%s/%s: cannot be sealed: %s", a->path, s->name, strerror(-error));
		a->scan_wanted = true;
		f.kind = RETENTION_ACTIVE;
	}
	f.bytes = s->bytes;
	f.end_s = archive_now_s();
	if (fstat(s->fd, &st) == 0) {
		f.dev = st.st_dev;
		f.ino = st.st_ino;
		f.bytes = archive_bytes(a, &st);
		f.end_s = (uint64_t)st.st_mtime;
	}
	if (f.end_s < f.start_s)
		f.end_s = f.start_s;
	archive_add(a, &f);
	s->name = NULL;
}

static void
sink_close(struct io_sink *io)
{
	struct archive_sink *s = (struct archive_sink *)io;
	struct archive *a = s->archive;

	pthread_mutex_lock(&a->lock);
	account(s);
	LIST_REMOVE(s, link);
	seal(s);
	a->nr_sinks--;
	archive_dirs(a);
	/* Before anybody may delete it: of an open file the space is not given back. */
	s->file->close(s->file);
	pthread_mutex_unlock(&a->lock);

	(void)fsync(s->dir_fd);
	close(s->dir_fd);
	free(s->name);
	free(s);
}

/* "20260102T030405.678901Z"; its length. */
static size_t
print_start(uint64_t realtime_ns, char *out, size_t size)
{
	time_t t = (time_t)(realtime_ns / 1000000000u);
	char date[32];
	struct tm tm;

	if (!gmtime_r(&t, &tm) || strftime(date, sizeof(date), "%Y%m%dT%H%M%S", &tm) == 0)
		snprintf(date, sizeof(date), "19700101T000000");
	return (size_t)snprintf(out, size, "%s.%06uZ", date,
				(unsigned int)(realtime_ns % 1000000000u / 1000));
}

/* Creates DIR/STEM-SEQ.spoor.active; names that exist are passed over. The descriptor, -errno. */
static int
create(struct archive_sink *s, mode_t mode, const char *dir, const char *stem)
{
	struct archive *a = s->archive;

	for (int i = 0; i < NAME_TRIES; i++) {
		const char *base;
		struct stat st;
		int dirfd, fd;

		free(s->name);
		if (asprintf(&s->name, "%s%s-%06" PRIu64 ARCHIVE_SUFFIX, dir, stem, a->seq++) < 0) {
			s->name = NULL;
			return -ENOMEM;
		}
		dirfd = archive_dirfd(a, s->name, &base);
		snprintf(s->active, sizeof(s->active), "%s" ARCHIVE_ACTIVE, base);
		if (fstatat(dirfd, base, &st, AT_SYMLINK_NOFOLLOW) == 0)
			continue;
		fd = openat(dirfd, s->active, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			    mode);
		if (fd >= 0)
			return fd;
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

static int
open_sink(struct archive *a, struct archive_sink *s, mode_t mode, const char *dir, const char *stem)
{
	const char *base;
	struct stat st;
	int error = archive_reserve(a, 1), dirfd;

	if (error)
		return error;
	s->fd = create(s, mode, dir, stem);
	/* Of inodes nothing is kept free: copies of programs give theirs first, which only name what is recorded. */
	if ((s->fd == -ENOSPC || s->fd == -EDQUOT) && archive_objects_drop(a, INODES_BYTES) > 0)
		s->fd = create(s, mode, dir, stem);
	/* Then the oldest file. Captures push out no segment. */
	if (s->kind == RETENTION_SEGMENT && (s->fd == -ENOSPC || s->fd == -EDQUOT)) {
		archive_give_up(a, 1);
		s->fd = create(s, mode, dir, stem);
	}
	if (s->fd < 0)
		return s->fd;
	/* Of its own: the archive's may be another one by the time it is sealed. */
	dirfd = archive_dirfd(a, s->name, &base);
	s->dir_fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	error = s->dir_fd < 0 || fstat(s->fd, &st) != 0 ? -errno : 0;
	s->file = error ? NULL : io_sink_fd(s->fd);
	if (!s->file) {
		(void)unlinkat(dirfd, s->active, 0);
		close(s->fd);
		if (s->dir_fd >= 0)
			close(s->dir_fd);
		return error ? error : -ENOMEM;
	}
	s->dev = st.st_dev;
	s->ino = st.st_ino;
	account(s);
	LIST_INSERT_HEAD(&a->sinks, s, link);
	a->nr_sinks++;
	archive_dirs(a);
	return 0;
}

static int
new_sink(struct archive *a, enum retention_kind kind, mode_t mode, const char *dir,
	 const char *stem, uint64_t realtime_ns, struct io_sink **ret, struct session_error *error)
{
	struct archive_sink *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return archive_fail(error, -ENOMEM, "a new file in %s/%s", a->path, dir);
	s->io = (struct io_sink){ sink_write, sink_sync, sink_cut, sink_close };
	s->archive = a;
	s->kind = kind;
	s->start_s = realtime_ns / 1000000000u;
	pthread_mutex_lock(&a->lock);
	r = archive_look_around(a, error);
	if (r == 0) {
		r = open_sink(a, s, mode, dir, stem);
		if (r)
			archive_fail(error, r, "a new file in %s/%s", a->path, dir);
	}
	pthread_mutex_unlock(&a->lock);
	if (r) {
		free(s->name);
		free(s);
		return r;
	}
	*ret = &s->io;
	return 0;
}

int
archive_segment(struct archive *a, uint64_t realtime_ns, const uint8_t boot_id[16], bool hidden,
		struct io_sink **ret, struct session_error *error)
{
	mode_t mode = hidden ? ARCHIVE_MODE_HIDDEN : ARCHIVE_MODE;
	char stem[128];
	size_t n = print_start(realtime_ns, stem, sizeof(stem));

	snprintf(stem + n, sizeof(stem) - n, "-%02x%02x%02x%02x", boot_id[0], boot_id[1],
		 boot_id[2], boot_id[3]);
	return new_sink(a, RETENTION_SEGMENT, mode, "", stem, realtime_ns, ret, error);
}

int
archive_capture(struct archive *a, uint64_t realtime_ns, bool hidden, struct io_sink **ret,
		char *ret_name, struct session_error *error)
{
	mode_t mode = hidden ? ARCHIVE_MODE_HIDDEN : ARCHIVE_MODE;
	char stem[64];
	int r;

	(void)print_start(realtime_ns, stem, sizeof(stem));
	r = new_sink(a, RETENTION_CAPTURE, mode, ARCHIVE_CAPTURES "/", stem, realtime_ns, ret,
		     error);
	if (r == 0)
		snprintf(ret_name, ARCHIVE_NAME_MAX, "%s", ((struct archive_sink *)*ret)->name);
	return r;
}

int
archive_show(struct archive *a, const struct io_sink *sink)
{
	const struct archive_sink *s;
	int r = -ENOENT;

	pthread_mutex_lock(&a->lock);
	LIST_FOREACH(s, &a->sinks, link)
		if (&s->io == sink)
			r = fchmod(s->fd, ARCHIVE_MODE) == 0 ? 0 : -errno;
	pthread_mutex_unlock(&a->lock);
	return r;
}
