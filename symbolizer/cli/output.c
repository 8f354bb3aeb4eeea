/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/cli/output.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bsd/stdlib.h>

#include "format/bytes/out_path.h"
#include "symbolizer/cli/cli.h"
#include "symbolizer/input/input.h"
#include "symbolizer/text/screen_text.h"

#define DIGITS "XXXXXX" /* of a temporary name, as mkstemp() has */

/* "/dev/stdout" is what the shell opened, at the place where it stands. */
static bool
names_descriptor(const char *path)
{
	return strncmp(path, "/dev/", 5) == 0 || strncmp(path, "/proc/", 6) == 0;
}

/*
 * The name of the regular file that is, or will be there: a symbolic link was followed, and is not
 * replaced. NULL with errno set; ENOTSUP: it is something to be written as it is.
 */
static char *
final_name(const char *resolved)
{
	struct stat st;

	if (lstat(resolved, &st) < 0 ? errno == ENOENT
				     : S_ISREG(st.st_mode) && !names_descriptor(resolved))
		return strdup(resolved);
	errno = ENOTSUP;
	return NULL;
}

/* What is written as it is. */
static FILE *
open_in_place(const char *resolved)
{
	int fd = out_path_open(resolved, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
	int error = errno;

	if (fd >= 0 && !f)
		close(fd);
	errno = error;
	return f;
}

/*
 * A file without a name in a directory ("" or with its '/'): whatever ends us leaves
 * nothing there. -1: not here.
 */
static int
open_nameless(const char *directory)
{
	char link[sizeof("/proc/self/fd/") + 10];
	int fd = open(*directory ? directory : ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd < 0)
		return -1;
	/* By it the file gets its name. */
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (access(link, F_OK) == 0)
		return fd;
	close(fd);
	return -1;
}

/* Its name has a length of its own: the final one may be as long as names may be. */
static void
open_temporary(struct output *o)
{
	const char *slash = strrchr(o->final, '/');
	const int directory = slash ? (int)(slash + 1 - o->final) : 0;
	mode_t mask = umask(077);
	int fd;

	umask(mask);
	o->mode = 0666 & ~mask;
	if (asprintf(&o->temporary, "%.*s.spoor." DIGITS, directory, o->final) < 0) {
		o->temporary = NULL;
		return;
	}
	o->temporary[directory] = '\0';
	fd = open_nameless(o->temporary);
	o->temporary[directory] = '.';
	o->nameless = fd >= 0;
	if (!o->nameless)
		fd = mkstemp(o->temporary);
	o->file = fd < 0 ? NULL : fdopen(fd, "w");
	if (fd >= 0 && !o->file) {
		close(fd);
		if (!o->nameless)
			unlink(o->temporary);
	}
}

/* The name that a file without one is renamed from: nobody's, so that it can be made. */
static int
give_name(struct output *o)
{
	char *digits = o->temporary + strlen(o->temporary) - strlen(DIGITS);
	char link[sizeof("/proc/self/fd/") + 10];
	int error;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fileno(o->file));
	do {
		snprintf(digits, sizeof(DIGITS), "%06x", arc4random() & 0xffffff);
		error = linkat(AT_FDCWD, link, AT_FDCWD, o->temporary, AT_SYMLINK_FOLLOW);
	} while (error < 0 && errno == EEXIST);
	o->nameless = error < 0;
	return error;
}

int
output_failed(const char *path)
{
	if (errno == OUT_PATH_E_REFUSED)
		screen_text_warn("%s: " OUT_PATH_REFUSED, path);
	else
		warn("%s", path);
	return EXIT_FAILED;
}

int
output_open(struct output *o, const char *path, const struct input_access *access)
{
	char *resolved;
	int error;

	*o = (struct output){ .access = access };
	if (!path || strcmp(path, "-") == 0) {
		o->file = stdout;
		return 0;
	}
	o->path = path;
	resolved = out_path_resolve(path);
	o->final = resolved ? final_name(resolved) : NULL;
	if (o->final)
		open_temporary(o);
	else if (resolved && errno == ENOTSUP)
		o->file = open_in_place(resolved);
	error = errno;
	free(resolved);
	if (o->file)
		return 0;
	free(o->temporary);
	free(o->final);
	errno = error;
	return output_failed(path);
}

/* Until now it was its owner's alone. */
static int
set_mode(const struct output *o)
{
	struct input_access mine, all = *o->access;
	int fd = fileno(o->file);

	/* Its group may be another one. */
	input_access_of(fd, &mine);
	mine.mode = o->mode;
	input_access_add(&all, &mine);
	return fchmod(fd, all.mode);
}

static int
finish(struct output *o)
{
	int failed = ferror(o->file);

	errno = 0;
	/* What failed before has forgotten why: it fails again, and says so. */
	if (failed)
		(void)!write(fileno(o->file), "\n", 1);
	/* fclose() frees in any case; errno of the first failure is the one to tell. */
	if (failed || fflush(o->file) != 0 || (o->temporary && set_mode(o) < 0) ||
	    (o->nameless && give_name(o) < 0))
		failed = 1;
	if (!failed) {
		failed = fclose(o->file) != 0;
	} else {
		int saved = errno;

		fclose(o->file);
		errno = saved;
	}
	if (!failed && o->temporary)
		failed = rename(o->temporary, o->final) != 0;
	return failed ? -1 : 0;
}

int
output_close(struct output *o, int status)
{
	if (!o->path)
		return status; /* main looks after stdout */
	if (status == 0 && finish(o) < 0) {
		screen_text_warn("%s: %s", o->path, strerror(errno ? errno : EIO));
		status = EXIT_FAILED;
	} else if (status != 0) {
		fclose(o->file);
	}
	if (status != 0 && o->temporary && !o->nameless)
		unlink(o->temporary);
	free(o->temporary);
	free(o->final);
	*o = (struct output){ 0 };
	return status;
}
