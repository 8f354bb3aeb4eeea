/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/bytes/out_path.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bsd/string.h>

#define LINKS_MAX 40 /* on one way, as in Linux */

/* A way: what of it has no links any more, and the rest. */
struct way {
	char done[PATH_MAX], rest[PATH_MAX];
	int links;
};

static bool
may_use(const struct stat *dir, const struct stat *st)
{
	return !(dir->st_mode & S_IWOTH) || st->st_uid == geteuid() || st->st_uid == dir->st_uid;
}

/* /proc/PID/fd/N and of a thread: the link is a descriptor, and what it says need not be a path. */
static bool
at_descriptor(const struct way *w)
{
	const char *p = w->rest + strspn(w->rest, "/");
	const int flags = FNM_PATHNAME | FNM_PERIOD;

	return strcmp(w->done, "/proc") == 0 &&
		(fnmatch("*/fd/[0-9]*", p, flags) == 0 ||
		 fnmatch("*/task/*/fd/[0-9]*", p, flags) == 0);
}

/* Takes the first part of the rest: 1; 0: there is none; -ENAMETOOLONG. */
static int
next_part(struct way *w, char part[NAME_MAX + 1])
{
	const char *p = w->rest + strspn(w->rest, "/");
	size_t n = strcspn(p, "/");

	if (n == 0)
		return 0;
	if (n > NAME_MAX)
		return -ENAMETOOLONG;
	memcpy(part, p, n);
	part[n] = '\0';
	memmove(w->rest, p + n, strlen(p + n) + 1);
	return 1;
}

static int
add_part(struct way *w, const char *part)
{
	const bool root = strcmp(w->done, "/") == 0;

	if ((!root && strlcat(w->done, "/", sizeof(w->done)) >= sizeof(w->done)) ||
	    strlcat(w->done, part, sizeof(w->done)) >= sizeof(w->done))
		return -ENAMETOOLONG;
	return 0;
}

static void
leave_part(struct way *w)
{
	char *slash = strrchr(w->done, '/');

	slash[slash == w->done] = '\0';
}

/* Puts what the link says in its place. */
static int
out_path_follow(struct way *w)
{
	char target[2 * PATH_MAX];
	ssize_t n = readlink(w->done, target, PATH_MAX);

	if (n < 0)
		return -errno;
	if (n == PATH_MAX || ++w->links > LINKS_MAX)
		return -ELOOP;
	target[n] = '\0';
	if (*w->rest &&
	    (strlcat(target, "/", sizeof(target)) >= sizeof(target) ||
	     strlcat(target, w->rest + strspn(w->rest, "/"), sizeof(target)) >= sizeof(target)))
		return -ENAMETOOLONG;
	if (strlcpy(w->rest, target, sizeof(w->rest)) >= sizeof(w->rest))
		return -ENAMETOOLONG;
	leave_part(w);
	if (*target == '/')
		strlcpy(w->done, "/", sizeof(w->done));
	return 0;
}

/* One part further: 0, or -errno. */
static int
step(struct way *w, const char *part)
{
	struct stat dir, st;
	int error;

	if (strcmp(part, ".") == 0)
		return 0;
	if (strcmp(part, "..") == 0) {
		leave_part(w);
		return 0;
	}
	if (stat(w->done, &dir) < 0)
		return -errno;
	error = add_part(w, part);
	if (error)
		return error;
	if (lstat(w->done, &st) < 0)
		return errno == ENOENT && !*w->rest ? 0 : -errno;
	if (!S_ISLNK(st.st_mode))
		return 0;
	return may_use(&dir, &st) ? out_path_follow(w) : -OUT_PATH_E_REFUSED;
}

char *
out_path_resolve(const char *path)
{
	struct way *w = calloc(1, sizeof(*w));
	char part[NAME_MAX + 1], *found = NULL;
	int error = 0, more = 1;

	if (!w)
		return NULL;
	if (*path == '/')
		strlcpy(w->done, "/", sizeof(w->done));
	else if (!getcwd(w->done, sizeof(w->done)))
		error = -errno;
	if (!error && !*path)
		error = -ENOENT;
	if (!error && strlcpy(w->rest, path, sizeof(w->rest)) >= sizeof(w->rest))
		error = -ENAMETOOLONG;
	while (!error && more && !at_descriptor(w)) {
		more = next_part(w, part);
		if (more)
			error = more < 0 ? more : step(w, part);
	}
	if (!error && *w->rest)
		error = add_part(w, w->rest + strspn(w->rest, "/"));
	if (!error)
		found = strdup(w->done);
	free(w);
	if (error)
		errno = -error;
	return found;
}

/* May what was opened (fd < 0: what is there) be written to, lying where it lies? 0, or an errno. */
static int
check(const char *resolved, int fd)
{
	char *directory = strdup(resolved), *slash;
	struct stat dir, st;
	int error = directory ? 0 : ENOMEM;

	slash = directory ? strrchr(directory, '/') : NULL;
	if (slash)
		slash[slash == directory] = '\0';
	if (!error &&
	    ((fd < 0 ? lstat(resolved, &st) : fstat(fd, &st)) < 0 ||
	     stat(slash ? directory : ".", &dir) < 0))
		error = errno;
	if (!error && !S_ISCHR(st.st_mode) && strncmp(resolved, "/proc/", 6) != 0 &&
	    !may_use(&dir, &st))
		error = OUT_PATH_E_REFUSED;
	free(directory);
	return error;
}

int
out_path_open(const char *resolved, int flags, mode_t mode)
{
	/* What /proc calls links are descriptors. */
	const int nofollow = strncmp(resolved, "/proc/", 6) == 0 ? 0 : O_NOFOLLOW;
	int fd = open(resolved, (flags & ~O_TRUNC) | nofollow | O_CLOEXEC, mode), error;

	if (fd < 0) {
		/* The kernel's own protection says EACCES. */
		error = errno;
		if (error == ELOOP ||
		    (error == EACCES && check(resolved, fd) == OUT_PATH_E_REFUSED))
			error = OUT_PATH_E_REFUSED;
		errno = error;
		return -1;
	}
	error = check(resolved, fd);
	if (!error && (flags & O_TRUNC) && ftruncate(fd, 0) < 0 && errno != EINVAL)
		error = errno;
	if (!error)
		return fd;
	close(fd);
	errno = error;
	return -1;
}
