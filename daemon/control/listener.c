/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/control/listener.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <bsd/string.h>

#define BACKLOG 64

static int
listener_complain(int error, const char *path, const char *why, char *text, size_t size)
{
	const char *hint = "";
	char writable[80];

	snprintf(writable, sizeof(writable), ": its directory has to be writable for uid %u",
		 (unsigned int)geteuid());
	if (!why && error == -ENOENT)
		hint = ": make its directory";
	else if (!why && error == -EEXIST)
		hint = ", and is no socket: remove it";
	else if (!why && (error == -EACCES || error == -EPERM))
		hint = writable;
	snprintf(text, size, "control_socket %s: %s%s", path, why ? why : strerror(-error), hint);
	return error;
}

static void
listener_fill(struct sockaddr_un *address, const char *path)
{
	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	(void)strlcpy(address->sun_path, path, sizeof(address->sun_path));
}

/* Removes a socket that nobody listens on. -EADDRINUSE: somebody does, or it is no socket. */
static int
remove_stale(const char *path)
{
	struct sockaddr_un address;
	struct stat st;
	int fd, r;

	if (lstat(path, &st) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(st.st_mode))
		return -EEXIST;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	listener_fill(&address, path);
	r = connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ? -errno : 0;
	(void)close(fd);
	if (r == -ECONNREFUSED)
		r = unlink(path) < 0 && errno != ENOENT ? -errno : 0;
	else if (r == 0 || r == -EAGAIN)
		r = -EADDRINUSE;
	return r;
}

/* Nobody can connect before the mode is what it is to be: until then it is 0600. */
static int
bind_as(int fd, const char *path, const gid_t *group, const char **why)
{
	struct sockaddr_un address;
	struct stat st;

	listener_fill(&address, path);
	if (fchmod(fd, 0600) < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return -errno;
	if (!group)
		return 0;
	/* The service may not chown, nor has it to: the group is its own. */
	if (lstat(path, &st) < 0)
		return -errno;
	if (st.st_gid != *group && lchown(path, (uid_t)-1, *group) < 0) {
		*why = "it cannot be given to control_group: run spoord as a member of that group";
		return -errno;
	}
	return chmod(path, 0660) < 0 ? -errno : 0;
}

int
listener_open(struct listener *l, const char *path, const gid_t *group, char *text, size_t size)
{
	const char *why = NULL;
	struct stat st;
	int fd, r;

	if (strlen(path) >= sizeof(l->path))
		return listener_complain(-ENAMETOOLONG, path, NULL, text, size);
	r = remove_stale(path);
	if (r == -EADDRINUSE)
		return listener_complain(r, path, "another spoord listens there", text, size);
	if (r < 0)
		return listener_complain(r, path, NULL, text, size);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return listener_complain(-errno, path, NULL, text, size);
	r = bind_as(fd, path, group, &why);
	if (r == 0 && (listen(fd, BACKLOG) < 0 || lstat(path, &st) < 0))
		r = -errno;
	if (r < 0) {
		(void)close(fd);
		return listener_complain(r, path, why, text, size);
	}
	l->fd = fd;
	l->dev = st.st_dev;
	l->ino = st.st_ino;
	(void)strlcpy(l->path, path, sizeof(l->path));
	return 0;
}

static bool
has_option(int fd, int option, int wanted)
{
	int value = 0;
	socklen_t size = sizeof(value);

	return getsockopt(fd, SOL_SOCKET, option, &value, &size) == 0 && value == wanted;
}

int
listener_adopt(struct listener *l, int fd, char *text, size_t size)
{
	int flags;

	if (!has_option(fd, SO_DOMAIN, AF_UNIX) || !has_option(fd, SO_TYPE, SOCK_STREAM) ||
	    !has_option(fd, SO_ACCEPTCONN, 1))
		return listener_complain(-EINVAL, "(from socket activation)",
					 "not a listening AF_UNIX stream socket", text, size);
	flags = fcntl(fd, F_GETFL);
	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0 ||
	    fcntl(fd, F_SETFD, FD_CLOEXEC) < 0)
		return listener_complain(-errno, "(from socket activation)", NULL, text, size);
	*l = (struct listener){ .fd = fd };
	return 0;
}

bool
listener_lost(const struct listener *l)
{
	struct stat st;

	return l->path[0] &&
		(lstat(l->path, &st) < 0 || st.st_dev != l->dev || st.st_ino != l->ino);
}

void
listener_close(struct listener *l)
{
	if (l->fd < 0)
		return;
	if (l->path[0] && !listener_lost(l))
		(void)unlink(l->path);
	(void)close(l->fd);
	l->fd = -1;
}
