/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/control/client.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/process/descriptor.h"

#define RECEIVE_BYTES (16u << 10)
/*
 * As many as a message can have, SCM_MAX_FD: those that there is no room for the kernel closes here,
 * in recvmsg(2), and waits.
 */
#define DESCRIPTORS 253

struct client *
client_new(int fd, uid_t uid, enum methods_access access, uint64_t now_ns)
{
	struct client *c = calloc(1, sizeof(*c));

	if (!c) {
		descriptor_close_connection(fd, uid);
		return NULL;
	}
	/* Else what is urgent, and its descriptors, are dropped where the next byte is read. */
	(void)setsockopt(fd, SOL_SOCKET, SO_OOBINLINE, &(int){ 1 }, sizeof(int));
	c->fd = fd;
	c->uid = c->process = uid;
	c->access = access;
	c->passed = -1;
	c->idle_ns = now_ns;
	buf_init(&c->in);
	buf_init(&c->out);
	return c;
}

static void
drop_passed(struct client *c)
{
	if (c->passed >= 0)
		descriptor_close(c->passed, c->uid);
	c->passed = -1;
}

void
client_free(struct client *c)
{
	if (!c)
		return;
	drop_passed(c);
	descriptor_close_connection(c->fd, c->uid);
	buf_done(&c->in);
	buf_done(&c->out);
	free(c);
}

/* --- in ---------------------------------------------------------------------------------- */

static void
take_descriptors(struct client *c, struct msghdr *m)
{
	for (struct cmsghdr *h = CMSG_FIRSTHDR(m); h; h = CMSG_NXTHDR(m, h)) {
		size_t n;

		if (h->cmsg_level != SOL_SOCKET || h->cmsg_type != SCM_RIGHTS)
			continue;
		n = (h->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (size_t i = 0; i < n; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(h) + i * sizeof(int), sizeof(fd));
			/* One at a time; and whom we tell nothing we take nothing from. */
			if (c->passed < 0 && c->access != METHODS_ANYONE)
				c->passed = fd;
			else
				descriptor_close(fd, c->uid);
		}
	}
}

int
client_receive(struct client *c, uint64_t now_ns)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(DESCRIPTORS * sizeof(int))];
	} control;
	size_t left = VARLINK_MESSAGE_BYTES - c->in.len;
	struct iovec part = { .iov_len = left < RECEIVE_BYTES ? left : RECEIVE_BYTES };
	struct msghdr m = { .msg_iov = &part,
			    .msg_iovlen = 1,
			    .msg_control = control.room,
			    .msg_controllen = sizeof(control.room) };
	ssize_t n;

	if (part.iov_len == 0)
		return -EAGAIN;
	/* Who has us close without end is not listened to any more. */
	if (!descriptor_wanted(c->uid))
		return -EMFILE;
	part.iov_base = buf_reserve(&c->in, part.iov_len);
	if (!part.iov_base)
		return -ENOMEM;
	do {
		n = recvmsg(c->fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	take_descriptors(c, &m);
	if (n == 0)
		c->ended = true;
	if (n > 0 && !c->begun_ns)
		c->begun_ns = now_ns;
	c->in.len += (size_t)n;
	return 0;
}

const char *
client_message(const struct client *c)
{
	bool whole = c->in.len && memchr(c->in.p, 0, c->in.len);

	return whole ? (const char *)c->in.p : NULL;
}

void
client_consume(struct client *c, uint64_t now_ns)
{
	size_t n = strlen(client_message(c)) + 1;

	c->in.len -= n;
	memmove(c->in.p, c->in.p + n, c->in.len);
	c->begun_ns = c->in.len ? now_ns : 0;
	c->idle_ns = now_ns;
	if (c->in.len)
		return;
	/* Nobody can claim it any more; and an idle connection costs no memory. */
	drop_passed(c);
	buf_done(&c->in);
}

bool
client_overfull(const struct client *c)
{
	return c->in.len >= VARLINK_MESSAGE_BYTES && !client_message(c);
}

/* --- out --------------------------------------------------------------------------------- */

bool
client_unsent(const struct client *c)
{
	return c->sent < c->out.len;
}

int
client_send(struct client *c, uint64_t now_ns)
{
	while (client_unsent(c)) {
		ssize_t n = send(c->fd, c->out.p + c->sent, c->out.len - c->sent,
				 MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? 0 : -errno;
		c->sent += (size_t)n;
		c->stuck_ns = now_ns;
		c->idle_ns = now_ns;
	}
	c->sent = 0;
	buf_done(&c->out);
	return 0;
}

int
client_reply(struct client *c, const char *error, json_t *parameters, bool continues,
	     uint64_t now_ns)
{
	int r;

	if (!client_unsent(c))
		c->stuck_ns = now_ns;
	r = varlink_reply_print(&c->out, error, parameters, continues);
	if (r < 0)
		return r;
	if (c->out.len - c->sent > CLIENT_OUT_BYTES)
		return -ENOBUFS;
	r = client_send(c, now_ns);
	/* What has been sent need not be kept until the last byte has. */
	if (r == 0 && c->sent) {
		c->out.len -= c->sent;
		memmove(c->out.p, c->out.p + c->sent, c->out.len);
		c->sent = 0;
	}
	return r;
}

/* --- time -------------------------------------------------------------------------------- */

static bool
over(uint64_t since_ns, uint64_t now_ns, uint64_t timeout_ns)
{
	return now_ns > since_ns && now_ns - since_ns >= timeout_ns;
}

bool
client_expired(const struct client *c, uint64_t now_ns, uint64_t timeout_ns)
{
	if (client_unsent(c))
		return over(c->stuck_ns, now_ns, timeout_ns);
	if (c->wait != METHODS_ANSWERED || client_message(c))
		return false;
	if (c->begun_ns)
		return over(c->begun_ns, now_ns, timeout_ns);
	return over(c->idle_ns, now_ns, timeout_ns);
}
