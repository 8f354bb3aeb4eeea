/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The directories themselves: opened at start, and again when what is found under their names is
 * something else. What is gone is made again, with the owner and mode that it had.
 */
#include "daemon/archive/archive_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include <bsd/string.h>

#include "daemon/process/log.h"

static void
close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

int
archive_fail(struct session_error *error, int negative_errno, const char *format, ...)
{
	char text[sizeof(error->text)];
	va_list ap;

	va_start(ap, format);
	(void)vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	return session_fail(error, negative_errno, "%s: %s", text, strerror(-negative_errno));
}

/* As archive_fail(), and what to do about it. */
static int
fail_directory(const struct archive *a, const char *what, int negative_errno,
	       struct session_error *error)
{
	char hint[80] = "";

	archive_fail(error, negative_errno, "archive_directory %s%s", a->path, what);
	if (negative_errno == -ENOENT)
		snprintf(hint, sizeof(hint), ": create its parent directory, or what it links to");
	else if (negative_errno == -EACCES || negative_errno == -EPERM)
		snprintf(hint, sizeof(hint), ": it has to be writable for uid %u",
			 (unsigned int)geteuid());
	else if (negative_errno == -EROFS && a->dir_fd >= 0)
		snprintf(hint, sizeof(hint), ": a restart of the service makes it");
	(void)strlcat(error->text, hint, sizeof(error->text));
	return negative_errno;
}

bool
archive_is_at(int dirfd, const char *name, int flags, const struct stat *st)
{
	struct stat at;

	if (fstatat(dirfd, name, &at, flags) != 0)
		return errno != ENOENT && errno != ENOTDIR;
	return at.st_dev == st->st_dev && at.st_ino == st->st_ino;
}

static bool
is_there(int dirfd, const char *name, int flags, int fd)
{
	struct stat st;

	return fd >= 0 && (fstat(fd, &st) != 0 || archive_is_at(dirfd, name, flags, &st));
}

/* Gives a directory that was made again what the one before had. */
static void
make_like(const struct archive *a, const char *name, int fd, int before_fd)
{
	struct stat now, before;

	if (before_fd < 0 || fstat(before_fd, &before) != 0 || fstat(fd, &now) != 0)
		return;
	if (((now.st_uid != before.st_uid || now.st_gid != before.st_gid) &&
	     fchown(fd, before.st_uid, before.st_gid) != 0) ||
	    ((now.st_mode ^ before.st_mode) & 07777 && fchmod(fd, before.st_mode & 07777) != 0))
		log_warning("%s%s: its owner and mode are not what they were: %s", a->path, name,
			    strerror(errno));
}

static void
tell_new(const struct archive *a, const char *name, bool made)
{
	log_warning("%s%s was %s", a->path, name,
		    made ? "removed or moved away: it is made again"
			 : "replaced: what is there now is used from here on");
}

/* name: with the slash before it. tell: the directory that it is in is the same still. */
static int
settle_subdir(struct archive *a, const char *slash_name, int *fd, bool tell,
	      struct session_error *error)
{
	const char *name = slash_name + 1;
	bool made;
	int new_fd;

	if (is_there(a->dir_fd, name, AT_SYMLINK_NOFOLLOW, *fd))
		return 0;
	made = mkdirat(a->dir_fd, name, ARCHIVE_DIR_MODE) == 0;
	if (!made && errno != EEXIST)
		return archive_fail(error, -errno, "%s/%s", a->path, name);
	new_fd = openat(a->dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (new_fd < 0)
		return archive_fail(error, -errno, "%s/%s", a->path, name);
	if (made)
		make_like(a, slash_name, new_fd, *fd);
	if (tell && *fd >= 0)
		tell_new(a, slash_name, made);
	close_fd(*fd);
	*fd = new_fd;
	return 1;
}

/* What came of asking for a lock. */
static int
fail_lock(const struct archive *a, int r, pid_t holder, struct session_error *error)
{
	if (r == -EBUSY && holder)
		archive_fail(error, r,
			     "archive_directory %s: another spoord writes here, process %d",
			     a->path, (int)holder);
	else if (r == -EBUSY)
		archive_fail(error, r, "archive_directory %s: another spoord writes here", a->path);
	else if (r < 0)
		fail_directory(a, ": its lock", r, error);
	return r;
}

/* Nothing is changed before the one that is there now is locked. */
static int
settle_directory(struct archive *a, struct session_error *error)
{
	struct archive_lock new_lock;
	pid_t holder;
	bool made;
	int fd, r;

	if (is_there(AT_FDCWD, a->path, 0, a->dir_fd)) {
		r = archive_lock_settle(&a->dir_lock, a->dir_fd, a->path, &holder);
		return fail_lock(a, r, holder, error);
	}
	made = mkdir(a->path, ARCHIVE_DIR_MODE) == 0;
	if (!made && errno != EEXIST)
		return fail_directory(a, "", -errno, error);
	fd = open(a->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return fail_directory(a, "", -errno, error);
	r = archive_lock(fd, a->path, &new_lock, &holder);
	if (r < 0) {
		close(fd);
		return fail_lock(a, r, holder, error);
	}
	if (made)
		make_like(a, "", fd, a->dir_fd);
	if (a->dir_fd >= 0) {
		tell_new(a, "", made);
		archive_lock_done(&a->dir_lock, a->dir_fd);
		close(a->dir_fd);
	}
	a->dir_fd = fd;
	a->dir_lock = new_lock;
	return 1;
}

int
archive_settle(struct archive *a, struct session_error *error)
{
	int directory = settle_directory(a, error), captures, kept;

	if (directory < 0)
		return directory;
	captures = settle_subdir(a, "/" ARCHIVE_CAPTURES, &a->captures_fd, !directory, error);
	if (captures < 0)
		return captures;
	kept = settle_subdir(a, "/" ARCHIVE_KEPT, &a->kept_fd, !directory, error);
	if (kept < 0)
		return kept;
	return directory || captures || kept;
}

void
archive_leave(struct archive *a)
{
	close_fd(a->kept_fd);
	close_fd(a->captures_fd);
	if (a->dir_fd < 0)
		return;
	archive_lock_done(&a->dir_lock, a->dir_fd);
	close(a->dir_fd);
}
