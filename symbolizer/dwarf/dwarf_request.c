/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/dwarf/dwarf_request.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "format/bytes/span.h"

#define REQUEST_MAX (1 + 2 * PATH_MAX)

int
dwarf_request_pair(int ret[2])
{
	return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ret);
}

/* --- the worker's side ------------------------------------------------------------------- */

static bool
put_text(char *to, size_t *len, const char *text)
{
	const size_t n = strlen(text) + 1;

	if (n > PATH_MAX)
		return false;
	memcpy(to + *len, text, n);
	*len += n;
	return true;
}

static ssize_t
receive(int fd, struct msghdr *m, int flags)
{
	ssize_t n;

	do
		n = recvmsg(fd, m, flags);
	while (n < 0 && errno == EINTR);
	return n;
}

int
dwarf_request_ask(int fd, const char *dir, const char *name)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	char request[REQUEST_MAX] = { name ? 'F' : 'P' }, byte;
	struct iovec iov = { &byte, 1 };
	struct msghdr m = { .msg_iov = &iov,
			    .msg_iovlen = 1,
			    .msg_control = &control,
			    .msg_controllen = sizeof(control) };
	const struct cmsghdr *c;
	size_t len = 1;
	int ret = -1;

	if (name && !put_text(request, &len, name))
		return -1;
	if (name && dir && !put_text(request, &len, dir))
		return -1;
	if (write(fd, request, len) != (ssize_t)len || receive(fd, &m, MSG_CMSG_CLOEXEC) != 1)
		return -1;
	c = CMSG_FIRSTHDR(&m);
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
	    c->cmsg_len == CMSG_LEN(sizeof(ret)))
		memcpy(&ret, CMSG_DATA(c), sizeof(ret));
	return ret;
}

/* --- ours -------------------------------------------------------------------------------- */

/* Never waits: a worker that does not take its answers has lost its mind. */
static bool
send_descriptor(int fd, int file)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	char byte = file >= 0;
	struct iovec iov = { &byte, 1 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct cmsghdr *c;
	ssize_t n;

	if (file >= 0) {
		m.msg_control = &control;
		m.msg_controllen = sizeof(control);
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(file));
		memcpy(CMSG_DATA(c), &file, sizeof(file));
	}
	do
		n = sendmsg(fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	return n == 1;
}

static bool
read_request(struct span request, const char **ret_dir, const char **ret_name)
{
	uint8_t kind;

	*ret_dir = *ret_name = NULL;
	if (!span_u8(&request, &kind))
		return false;
	if (kind == 'P')
		return request.len == 0;
	return kind == 'F' && span_string(&request, ret_name) && **ret_name &&
		(request.len == 0 || (span_string(&request, ret_dir) && request.len == 0));
}

bool
dwarf_request_serve(int fd, dwarf_split_fn *open, void *arg)
{
	char request[REQUEST_MAX];
	struct iovec iov = { request, sizeof(request) };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1 };
	const ssize_t n = receive(fd, &m, MSG_DONTWAIT);
	const char *dir, *name;
	bool good;
	int file;

	if (n <= 0 || (m.msg_flags & MSG_TRUNC) ||
	    !read_request(span_of(request, (size_t)n), &dir, &name))
		return false;
	file = open(arg, dir, name);
	good = send_descriptor(fd, file);
	if (file >= 0)
		close(file);
	return good;
}
