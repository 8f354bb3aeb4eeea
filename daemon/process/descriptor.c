/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/process/descriptor.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/sockios.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <bsd/sys/queue.h>

#include "format/bytes/array.h"
#include "recorder/host/file_mount.h"

#define WAITING_MAX 512 /* of a user: two messages are never too many */
#define THREADS_EACH 2
#define THREADS_MAX 32
#define STACK_BYTES (64u << 10)

/* What of one user is to be closed. */
struct closing {
	LIST_ENTRY(closing) next;
	uid_t uid;
	unsigned int threads; /* that do it */
	int *fds;
	size_t nr, cap;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Under lock: */
static LIST_HEAD(, closing) users = LIST_HEAD_INITIALIZER(users);
static unsigned int threads;

bool
descriptor_takes_recording(int fd)
{
	int flags = fcntl(fd, F_GETFL);
	struct statx st;

	if (flags < 0 || (flags & O_PATH) || (flags & O_ACCMODE) == O_RDONLY)
		return false;
	/* What is known here without asking whoever has the file. */
	return statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &st) == 0 &&
		S_ISREG(st.stx_mode);
}

/* What an overlay lies on is not told. Who mounts one for himself may have mounted a tmpfs, too. */
static bool
is_foreign_overlay(int fd)
{
	struct statx st;

	return statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &st) < 0 ||
		!file_mount_of(fd, st.stx_dev_major, st.stx_dev_minor, 0).overlay;
}

bool
descriptor_is_memory(int fd)
{
	struct statfs fs;

	if (fstatfs(fd, &fs) < 0)
		return false;
	if ((uint32_t)fs.f_type == OVERLAYFS_SUPER_MAGIC)
		return is_foreign_overlay(fd);
	return (uint32_t)fs.f_type == TMPFS_MAGIC || (uint32_t)fs.f_type == RAMFS_MAGIC;
}

/* --- closing ----------------------------------------------------------------------------- */

static struct closing *
descriptor_find(uid_t uid)
{
	struct closing *c;

	LIST_FOREACH(c, &users, next)
		if (c->uid == uid)
			break;
	return c;
}

/* What a thread of this user's goes on with: its own, or one's that got no thread. */
static struct closing *
next_user(struct closing *mine)
{
	struct closing *c;

	if (mine->nr)
		return mine;
	LIST_FOREACH(c, &users, next)
		if (c->nr && !c->threads)
			break;
	return c;
}

/* A thread of this user's goes on without it. */
static void
release(struct closing *c)
{
	if (--c->threads)
		return;
	LIST_REMOVE(c, next);
	free(c->fds);
	free(c);
}

static void *
descriptor_body(void *arg)
{
	struct closing *mine = arg, *c;

	pthread_mutex_lock(&lock);
	while ((c = next_user(mine))) {
		int fd = c->fds[--c->nr];

		/* One that is left has nothing to close any more. */
		c->threads++;
		release(mine);
		mine = c;
		pthread_mutex_unlock(&lock);
		(void)close(fd);
		pthread_mutex_lock(&lock);
	}
	threads--;
	release(mine);
	pthread_mutex_unlock(&lock);
	return NULL;
}

int
descriptor_thread(void *(*run)(void *arg), void *arg)
{
	pthread_attr_t attr;
	pthread_t thread;
	int r;

	pthread_attr_init(&attr);
	(void)pthread_attr_setstacksize(&attr, STACK_BYTES);
	(void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	r = pthread_create(&thread, &attr, run, arg);
	pthread_attr_destroy(&attr);
	return -r;
}

/* Where none can be had it waits for one that there is, or for the next descriptor. */
static void
start_thread(struct closing *c)
{
	if (c->threads >= THREADS_EACH || threads >= THREADS_MAX)
		return;
	c->threads++;
	threads++;
	if (descriptor_thread(descriptor_body, c) < 0) {
		c->threads--;
		threads--;
	}
}

/* False: no memory. */
static bool
enqueue(int fd, uid_t uid)
{
	struct closing *c = descriptor_find(uid);

	if (!c) {
		c = calloc(1, sizeof(*c));
		if (!c)
			return false;
		c->uid = uid;
		LIST_INSERT_HEAD(&users, c, next);
	}
	if (array_reserve(c->fds, c->nr, c->cap, 1) < 0)
		return false;
	c->fds[c->nr++] = fd;
	start_thread(c);
	return true;
}

void
descriptor_close(int fd, uid_t uid)
{
	pthread_mutex_lock(&lock);
	/* Without memory it stays open, which hurts less than to wait for somebody. */
	(void)enqueue(fd, uid);
	pthread_mutex_unlock(&lock);
}

void
descriptor_close_connection(int fd, uid_t uid)
{
	int left;

	/* Nothing more gets in from now on. */
	(void)shutdown(fd, SHUT_RDWR);
	if (ioctl(fd, SIOCINQ, &left) == 0 && left == 0)
		(void)close(fd);
	else
		descriptor_close(fd, uid);
}

bool
descriptor_wanted(uid_t uid)
{
	const struct closing *c;
	bool wanted;

	pthread_mutex_lock(&lock);
	c = descriptor_find(uid);
	wanted = !c || c->nr < WAITING_MAX;
	pthread_mutex_unlock(&lock);
	return wanted;
}
