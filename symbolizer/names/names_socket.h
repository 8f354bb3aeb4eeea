/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * names_socket: the socket of a runtime, in a directory that anybody may write to, and who answers there may be anybody: it
 * is a socket of this user's, and all that is sent and received has a bound and a deadline.
 */
#ifndef SYMBOLIZER_NAMES_NAMES_SOCKET_H
#define SYMBOLIZER_NAMES_NAMES_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * A connected stream. -ENOENT: there is none of that name, or nobody listens on it any more (-ECONNREFUSED); -ENOTSOCK: it is
 * something else; -EPERM: it, or who listens, is another user's than the caller and root; -ETIMEDOUT; -errno.
 */
int names_socket_connect(int dir, const char *name, int64_t deadline_ns);

/* 0, -ETIMEDOUT, -errno. */
int names_socket_send(int fd, const void *p, size_t n, int64_t deadline_ns);

/*
 * Until the other side has closed it, or n bytes are there. Bytes received; -EFBIG: n are there, and it goes on, where
 * to_end; -ETIMEDOUT, -errno.
 */
ssize_t names_socket_receive(int fd, void *p, size_t n, bool to_end, int64_t deadline_ns);

#endif
