/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/names/names_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "symbolizer/names/names_clock.h"

#define RETRY_MS 20 /* while the other side has no room for another who connects */

/* O_PATH, of a socket that is this user's, or root's; -errno. */
static int
find_socket(int dir, const char *name)
{
	int fd = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC), rc = 0;
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		rc = -errno;
	else if (!S_ISSOCK(st.st_mode))
		rc = -ENOTSOCK;
	else if (st.st_uid != geteuid() && st.st_uid != 0)
		rc = -EPERM;
	if (rc == 0)
		return fd;
	(void)close(fd);
	return rc;
}

/* Whoever owns the name, another one may have bound the socket. */
static int
check_peer(int fd)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0)
		return -errno;
	return peer.uid == geteuid() || peer.uid == 0 ? 0 : -EPERM;
}

static int
connect_to(int fd, const struct sockaddr_un *at, int64_t deadline_ns)
{
	while (connect(fd, (const struct sockaddr *)at, sizeof(*at)) < 0) {
		if (errno != EAGAIN && errno != EINTR)
			return -errno;
		if (names_clock_now() >= deadline_ns)
			return -ETIMEDOUT;
		(void)poll(NULL, 0, names_clock_ms(deadline_ns, RETRY_MS));
	}
	return check_peer(fd);
}

int
names_socket_connect(int dir, const char *name, int64_t deadline_ns)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int path = find_socket(dir, name), fd, rc;

	if (path < 0)
		return path;
	/* What was looked at, whatever has the name by now. */
	(void)snprintf(at.sun_path, sizeof(at.sun_path), "/proc/self/fd/%d", path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	rc = fd < 0 ? -errno : connect_to(fd, &at, deadline_ns);
	(void)close(path);
	if (rc == 0)
		return fd;
	if (fd >= 0)
		(void)close(fd);
	return rc;
}

/* 0, -ETIMEDOUT, -errno. */
static int
wait_for(int fd, short events, int64_t deadline_ns)
{
	struct pollfd p = { .fd = fd, .events = events };
	int n;

	do {
		n = poll(&p, 1, names_clock_ms(deadline_ns, INT32_MAX));
	} while (n < 0 && errno == EINTR);
	return n > 0 ? 0 : n == 0 ? -ETIMEDOUT : -errno;
}

int
names_socket_send(int fd, const void *p, size_t n, int64_t deadline_ns)
{
	const char *at = p;

	while (n) {
		const ssize_t sent = send(fd, at, n, MSG_NOSIGNAL);

		if (sent < 0 && errno == EAGAIN) {
			const int rc = wait_for(fd, POLLOUT, deadline_ns);

			if (rc < 0)
				return rc;
		} else if (sent < 0 && errno != EINTR) {
			return -errno;
		} else if (sent > 0) {
			at += sent;
			n -= (size_t)sent;
		}
	}
	return 0;
}

ssize_t
names_socket_receive(int fd, void *p, size_t n, bool to_end, int64_t deadline_ns)
{
	char *to = p, more;
	size_t had = 0;

	for (;;) {
		const int rc = wait_for(fd, POLLIN, deadline_ns);
		ssize_t got;

		if (rc < 0)
			return rc;
		got = had < n ? recv(fd, to + had, n - had, 0) : recv(fd, &more, 1, 0);
		if (got < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		if (got > 0 && had == n)
			return -EFBIG;
		if (got == 0)
			return (ssize_t)had;
		had += got > 0 ? (size_t)got : 0;
		if (had == n && !to_end)
			return (ssize_t)had;
	}
}
