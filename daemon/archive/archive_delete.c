/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Deletion that gives the space back. Members may open what is here, and unlink(2) gives back no space of an open file:
 * the file is emptied as well. As long as deleted files are few, their readers may read them to the end.
 */
#include "daemon/archive/archive_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* The part of max_use that deleted files may take while they are read. */
#define GONE_PARTS 8

static void
forget_gone(struct archive *a, size_t i)
{
	struct archive_gone *g = &a->gone[i];

	(void)!ftruncate(g->fd, 0);
	close(g->fd);
	a->gone_bytes -= g->bytes;
	a->nr_gone--;
	memmove(g, g + 1, (a->nr_gone - i) * sizeof(*g));
}

/*
 * Does another process have it open? Then the kernel grants no lease. An open(2) while the lease is ours sends a signal:
 * SIGURG, which is ignored; the default one, SIGIO, would end the daemon. A file system without leases counts as open.
 */
static bool
is_open_elsewhere(int fd)
{
	bool ours = fcntl(fd, F_SETSIG, SIGURG) == 0 && fcntl(fd, F_SETLEASE, F_WRLCK) == 0;

	if (ours)
		(void)fcntl(fd, F_SETLEASE, F_UNLCK);
	return !ours;
}

void
archive_gone_look(struct archive *a)
{
	for (size_t i = a->nr_gone; i-- > 0;)
		if (!is_open_elsewhere(a->gone[i].fd))
			forget_gone(a, i);
	/* The oldest first. */
	while (a->nr_gone && a->gone_bytes > a->limits.max_use / GONE_PARTS)
		forget_gone(a, 0);
}

/* fd, taken over, has no name any more. */
static void
let_go(struct archive *a, int fd, uint64_t bytes)
{
	if (a->nr_gone == ARCHIVE_GONE)
		forget_gone(a, 0);
	a->gone[a->nr_gone++] = (struct archive_gone){ fd, bytes };
	a->gone_bytes += bytes;
	archive_gone_look(a);
}

void
archive_gone_done(struct archive *a)
{
	while (a->nr_gone)
		forget_gone(a, 0);
}

int
archive_delete(struct archive *a, int dirfd, const char *name)
{
	int fd = openat(dirfd, name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;
	int r = unlinkat(dirfd, name, 0) == 0 ? 0 : -errno;

	/* What has another name is kept. */
	if (r == 0 && fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 0)
		let_go(a, fd, archive_bytes(a, &st));
	else if (fd >= 0)
		close(fd);
	return r;
}
