/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/process/notify.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <bsd/stdlib.h>

#define LISTEN_FDS_START 3
#define MESSAGE_BYTES 2048

/* "/path" or "@abstract", as NOTIFY_SOCKET has it. */
static int
address_of(const char *name, struct sockaddr_un *ret, socklen_t *ret_length)
{
	size_t n = strlen(name);

	*ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if ((name[0] != '/' && name[0] != '@') || n < 2)
		return -EAFNOSUPPORT;
	if (n >= sizeof(ret->sun_path))
		return -E2BIG;
	memcpy(ret->sun_path, name, n);
	*ret_length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n);
	/* An abstract name has a length and no NUL at its end; a path has one. */
	if (name[0] == '@')
		ret->sun_path[0] = '\0';
	else
		(*ret_length)++;
	return 0;
}

int
notify_send(const char *format, ...)
{
	const char *name = getenv("NOTIFY_SOCKET");
	const struct timeval patience = { .tv_sec = 1 };
	char message[MESSAGE_BYTES];
	struct sockaddr_un address;
	socklen_t length;
	va_list ap;
	ssize_t sent;
	int fd, n, error;

	if (!name || !*name)
		return 0;
	error = address_of(name, &address, &length);
	if (error)
		return error;
	va_start(ap, format);
	n = vsnprintf(message, sizeof(message), format, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= sizeof(message))
		return -EMSGSIZE;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	/* The manager's queue may be full: wait a little, but never hang on it. */
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	do {
		sent = sendto(fd, message, (size_t)n, MSG_NOSIGNAL, (struct sockaddr *)&address,
			      length);
	} while (sent < 0 && errno == EINTR);
	error = sent < 0 ? -errno : 0;
	close(fd);
	return error;
}

/* A variable that is a number from 1 to max; 0: not there, or something else. */
static long long
number_of(const char *variable, long long max)
{
	const char *text = getenv(variable), *complaint = NULL;
	long long n;

	if (!text)
		return 0;
	n = strtonum(text, 1, max, &complaint);
	return complaint ? 0 : n;
}

bool
notify_makes(const char *path)
{
	const char *at = getenv("STATE_DIRECTORY");

	while (at && *at) {
		size_t n = strcspn(at, ":");

		if (n && strncmp(path, at, n) == 0 && (path[n] == '/' || !path[n]))
			return true;
		at += n + (at[n] == ':');
	}
	return false;
}

uint64_t
notify_watchdog_ns(void)
{
	long long usec = number_of("WATCHDOG_USEC", LLONG_MAX / 1000);

	if (getenv("WATCHDOG_PID") && number_of("WATCHDOG_PID", INT_MAX) != getpid())
		return 0;
	return (uint64_t)usec * 1000;
}

int
notify_listen_fd(void)
{
	int nr = 0, flags;

	if (number_of("LISTEN_PID", INT_MAX) == getpid())
		nr = (int)number_of("LISTEN_FDS", INT_MAX - LISTEN_FDS_START);
	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	unsetenv("LISTEN_FDNAMES");
	/* What is not wanted must not be inherited by what the daemon may start either. */
	for (int fd = LISTEN_FDS_START; fd < LISTEN_FDS_START + nr; fd++) {
		flags = fcntl(fd, F_GETFD);
		if (flags < 0 || fcntl(fd, F_SETFD, flags | FD_CLOEXEC) < 0)
			return -1;
	}
	return nr > 0 ? LISTEN_FDS_START : -1;
}
