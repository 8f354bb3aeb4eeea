/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/cli/record_output.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "format/block/recording_header.h"
#include "format/bytes/out_path.h"
#include "format/stored/stored_object.h"
#include "symbolizer/cli/cli.h"
#include "symbolizer/cli/output.h"
#include "symbolizer/text/screen_text.h"

int
record_output_take(const char *path, int *ret_fd)
{
	struct stat mine, there;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	*ret_fd = fd;
	if (fd < 0)
		return 0;
	if (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) {
		if (fstat(fd, &mine) == 0 && stat(path, &there) == 0 &&
		    mine.st_ino == there.st_ino && mine.st_dev == there.st_dev)
			return 0;
	}
	close(fd);
	return -EWOULDBLOCK;
}

static int
written_by_another(const char *path)
{
	screen_text_warn("%s: another recorder is writing it: give another name with -o", path);
	return EXIT_FAILED;
}

/* A link is followed, so that neither it nor /dev/stdout is what is renamed. */
static int
open_beside(struct record_output *o)
{
	o->older = strncmp(o->resolved, "/proc/", 6) == 0 ? realpath(o->resolved, NULL)
							  : strdup(o->resolved);
	if (!o->older)
		return -1;
	if (asprintf(&o->temporary, "%s.XXXXXX", o->older) < 0) {
		o->temporary = NULL;
		return -1;
	}
	o->fd = mkostemp(o->temporary, O_CLOEXEC);
	return o->fd;
}

/* What is there already is ours to write to, a device for one, but not to take away. */
static int
open_in_place(struct record_output *o)
{
	o->fd = out_path_open(o->resolved, O_RDWR | O_CREAT | O_EXCL, 0600);
	o->made = o->fd >= 0;
	if (o->fd < 0 && errno == EEXIST)
		o->fd = out_path_open(o->resolved, O_WRONLY | O_CREAT, 0600);
	return o->fd;
}

/* 0, or EXIT_FAILED: somebody else has the lock. */
static int
lock(struct record_output *o)
{
	struct stat st;

	if (fstat(o->fd, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	o->nameless = st.st_nlink == 0;
	/* A file system without locks is no reason not to record. */
	if (flock(o->fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK)
		return written_by_another(o->path);
	o->lock_fd = fcntl(o->fd, F_DUPFD_CLOEXEC, 3);
	return 0;
}

static int
open_stdout(struct record_output *o)
{
	if (isatty(STDOUT_FILENO)) {
		screen_text_warn("a recording does not belong on a terminal: use -o FILE");
		return EXIT_FAILED;
	}
	o->path = "standard output";
	o->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	if (o->fd >= 0)
		return EXIT_DONE;
	warn("%s", o->path);
	return EXIT_FAILED;
}

int
record_output_open(struct record_output *o, const char *path)
{
	struct stat st;
	bool older;
	int fd;

	*o = (struct record_output){ .path = path, .fd = -1, .lock_fd = -1 };
	if (strcmp(path, "-") == 0)
		return open_stdout(o);
	o->resolved = out_path_resolve(path);
	if (!o->resolved)
		return output_failed(path);
	older = stat(o->resolved, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0;
	if (older) {
		if (record_output_take(o->resolved, &fd) < 0)
			return written_by_another(path);
		if (fd >= 0)
			close(fd);
	}
	if ((older ? open_beside(o) : open_in_place(o)) >= 0)
		return lock(o) ? EXIT_FAILED : EXIT_DONE;
	if (older)
		warn("%s: a new recording cannot be made beside it", path);
	else
		(void)output_failed(path);
	return EXIT_FAILED;
}

int
record_output_objects(const struct record_output *o, char **ret)
{
	const char *path = o->older ? o->older : o->resolved,
		   *slash = path ? strrchr(path, '/') : NULL;
	struct stat st;
	char *dir;

	if (o->lock_fd < 0 || !slash) {
		screen_text_warn("%s: is not a regular file: objects cannot be stored beside it",
				 o->path);
		return EXIT_FAILED;
	}
	if (asprintf(&dir, "%.*s" STORED_DIRECTORY, (int)(slash + 1 - path), path) < 0)
		return cli_no_memory();
	if (mkdir(dir, 0700) < 0 && errno != EEXIST) {
		warn("%s", dir);
	} else if (lstat(dir, &st) < 0 || !S_ISDIR(st.st_mode) || st.st_uid != geteuid() ||
		   st.st_mode & (S_IWGRP | S_IWOTH)) {
		screen_text_warn(
			"%s: has to be a directory of this user that no other may write to", dir);
	} else {
		*ret = dir;
		return EXIT_DONE;
	}
	free(dir);
	return EXIT_FAILED;
}

int
record_output_settle(struct record_output *o)
{
	int status = EXIT_DONE, fd;
	char *old;

	if (!o->temporary)
		return EXIT_DONE;
	/* Somebody else may have settled there since, or be about to. */
	if (record_output_take(o->older, &fd) < 0)
		return written_by_another(o->path);
	if (asprintf(&old, "%s.old", o->older) < 0) {
		status = EXIT_FAILED;
		goto out;
	}
	if (rename(o->older, old) < 0) {
		warn("%s: cannot be set aside", o->older);
		status = EXIT_FAILED;
	} else if (rename(o->temporary, o->older) < 0) {
		warn("%s: cannot be put in its place", o->older);
		(void)rename(old, o->older);
		status = EXIT_FAILED;
	} else {
		free(o->temporary);
		o->temporary = NULL;
	}
	free(old);
out:
	if (fd >= 0)
		close(fd);
	return status;
}

void
record_output_undo(const struct record_output *o)
{
	if (o->temporary)
		unlink(o->temporary);
	else if (o->made)
		unlink(o->resolved);
	/* A regular file that is no older recording was empty. */
	else if (!o->older && o->lock_fd >= 0 && ftruncate(o->lock_fd, 0) < 0)
		warn("%s", o->path);
}

static const char *
record_output_file(const struct record_output *o)
{
	return o->older ? o->older : o->resolved;
}

/* Local time to a hundredth of a second, as perf has it. */
static char *
stamped_name(const char *path)
{
	struct timespec now;
	char stamp[32], *name;
	struct tm tm;

	clock_gettime(CLOCK_REALTIME, &now);
	if (!localtime_r(&now.tv_sec, &tm) ||
	    !strftime(stamp, sizeof(stamp), "%Y%m%d%H%M%S", &tm) ||
	    asprintf(&name, "%s.%s%02d", path, stamp, (int)(now.tv_nsec / 10000000)) < 0)
		return NULL;
	return name;
}

/* Gives the file such a name that nobody has. NULL: that failed, and was said. */
static char *
rename_stamped(const char *path)
{
	const struct timespec hundredth = { 0, 10000000 };
	char *name;
	int r;

	while ((name = stamped_name(path))) {
		r = renameat2(AT_FDCWD, path, AT_FDCWD, name, RENAME_NOREPLACE);
		/* A file system that cannot do without replacing. */
		if (r < 0 && errno == EINVAL)
			r = rename(path, name);
		if (r == 0)
			return name;
		free(name);
		if (errno != EEXIST)
			break;
		nanosleep(&hundredth, NULL);
	}
	warn("%s: cannot be renamed by its time", path);
	return NULL;
}

int
record_output_begin(const struct record_output *o, struct record_output_next *next)
{
	const char *path = record_output_file(o);

	*next = (struct record_output_next){ .fd = -1, .lock_fd = -1 };
	next->aside = rename_stamped(path);
	if (!next->aside)
		return EXIT_FAILED;
	next->fd = out_path_open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
	if (next->fd >= 0) {
		(void)flock(next->fd, LOCK_EX | LOCK_NB);
		next->lock_fd = fcntl(next->fd, F_DUPFD_CLOEXEC, 3);
	}
	if (next->lock_fd >= 0)
		return EXIT_DONE;
	warn("%s: the next file cannot be made", path);
	if (next->fd >= 0)
		close(next->fd);
	record_output_undo_next(o, next);
	return EXIT_FAILED;
}

char *
record_output_take_next(struct record_output *o, struct record_output_next *next)
{
	close(o->lock_fd);
	o->lock_fd = next->lock_fd;
	return next->aside;
}

void
record_output_undo_next(const struct record_output *o, struct record_output_next *next)
{
	if (next->lock_fd >= 0)
		close(next->lock_fd);
	if (rename(next->aside, record_output_file(o)) < 0)
		warn("%s: cannot get its name back", next->aside);
	free(next->aside);
}

void
record_output_stamp(struct record_output *o)
{
	o->stamped = rename_stamped(record_output_file(o));
	if (o->stamped)
		o->path = o->stamped;
}

/* Whoever cuts a file that is being written leaves zeros where its beginning was. */
static bool
begins_as_written(int fd)
{
	char magic[RECORDING_MAGIC_BYTES];

	return pread(fd, magic, sizeof(magic), 0) != (ssize_t)sizeof(magic) ||
		memcmp(magic, RECORDING_MAGIC, sizeof(magic)) == 0;
}

enum record_output_left
record_output_left(const struct record_output *o, uint64_t bytes)
{
	struct stat mine, there;

	if (o->lock_fd < 0 || fstat(o->lock_fd, &mine) < 0)
		return RECORD_OUTPUT_THERE;
	if (mine.st_nlink == 0 && !o->nameless) {
		screen_text_warn(
			"%s: was removed while it was being written: what was recorded is gone",
			o->path);
		return RECORD_OUTPUT_GONE;
	}
	if ((uint64_t)mine.st_size < bytes || !begins_as_written(o->lock_fd)) {
		screen_text_warn(
			"%s: was cut while it was being written: what stood before that is gone",
			o->path);
		return RECORD_OUTPUT_GONE;
	}
	if (stat(o->path, &there) == 0 && mine.st_ino == there.st_ino &&
	    mine.st_dev == there.st_dev)
		return RECORD_OUTPUT_THERE;
	screen_text_warn("%s: was moved away while it was being written", o->path);
	return RECORD_OUTPUT_MOVED;
}

void
record_output_done(struct record_output *o)
{
	free(o->older);
	free(o->resolved);
	free(o->temporary);
	free(o->stamped);
	if (o->lock_fd >= 0)
		close(o->lock_fd);
}
