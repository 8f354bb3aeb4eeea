/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/unwinder/unwind_channel.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define BYTES_MAX (UINT64_C(1) << 30) /* of the memory */
#define DESCRIPTORS 4		      /* that are closed where one is expected */

/* A message of cap bytes at most, and the first of its descriptors (-1: none). Its length, or -errno. */
static ssize_t
take(int fd, void *message, size_t cap, int flags, int *ret_fd)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(DESCRIPTORS * sizeof(int))];
	} control;
	struct iovec part = { .iov_base = message, .iov_len = cap };
	struct msghdr m = { .msg_iov = &part,
			    .msg_iovlen = 1,
			    .msg_control = control.bytes,
			    .msg_controllen = sizeof(control.bytes) };
	ssize_t n;

	*ret_fd = -1;
	do
		n = recvmsg(fd, &m, flags | MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < (c->cmsg_len - CMSG_LEN(0)) / sizeof(int); i++) {
			int one;

			memcpy(&one, CMSG_DATA(c) + i * sizeof(one), sizeof(one));
			if (*ret_fd < 0)
				*ret_fd = one;
			else
				(void)close(one);
		}
	}
	return n;
}

int
unwind_channel_init(struct unwind_channel *c)
{
	socklen_t len = sizeof(int);
	int type, flags;

	*c = (struct unwind_channel){ .fd = UNWIND_SOCKET, .offers = -1 };
	if (getsockopt(c->fd, SOL_SOCKET, SO_TYPE, &type, &len) < 0)
		return -errno;
	if (type != SOCK_SEQPACKET)
		return -EPROTOTYPE;
	flags = fcntl(c->fd, F_GETFL);
	if (flags < 0 || fcntl(c->fd, F_SETFL, flags & ~O_NONBLOCK) < 0 ||
	    fcntl(c->fd, F_SETFD, FD_CLOEXEC) < 0)
		return -errno;
	return 0;
}

/* --- the memory -------------------------------------------------------------------------- */

/* What could be made smaller would end this process by SIGBUS. */
static int
map_memory(int fd, void **ret_memory, size_t *ret_bytes)
{
	const int sealed = F_SEAL_SHRINK | F_SEAL_GROW, seals = fcntl(fd, F_GET_SEALS);
	struct stat st;
	void *at;

	if (seals < 0 || (seals & sealed) != sealed || fstat(fd, &st) < 0 ||
	    st.st_size <= UNWIND_RING_BYTES || (uint64_t)st.st_size > BYTES_MAX)
		return -EPROTO;
	at = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED)
		return -errno;
	(void)madvise(at, (size_t)st.st_size, MADV_DONTDUMP);
	*ret_memory = at;
	*ret_bytes = (size_t)st.st_size;
	return 0;
}

int
unwind_channel_start(struct unwind_channel *c, struct unwind_start *ret, void **ret_memory,
		     size_t *ret_bytes)
{
	int fd, r;
	ssize_t n = take(c->fd, ret, sizeof(*ret), 0, &fd);

	if (n == 0)
		r = -ENOTCONN;
	else if (n != (ssize_t)sizeof(*ret) || fd < 0 || ret->version != UNWIND_VERSION ||
		 !memchr(ret->machine, '\0', sizeof(ret->machine)))
		r = -EPROTO;
	else
		r = map_memory(fd, ret_memory, ret_bytes);
	if (fd >= 0)
		(void)close(fd);
	return r;
}

/* --- files ------------------------------------------------------------------------------- */

static void
take_offers(struct unwind_channel *c, struct numbered_files *files)
{
	while (c->offers >= 0) {
		struct unwind_offer o;
		int fd;
		ssize_t n = take(c->offers, &o, sizeof(o), MSG_DONTWAIT, &fd);

		if (n == -EAGAIN)
			return;
		if (n == (ssize_t)sizeof(o) && fd >= 0) {
			numbered_files_offer(files, &o, fd);
			continue;
		}
		if (fd >= 0)
			(void)close(fd);
		/* The worker that finds files has ended: there will be another one. */
		if (n <= 0) {
			(void)close(c->offers);
			c->offers = -1;
		}
	}
}

static void
replace_offers(struct unwind_channel *c, int fd, struct numbered_files *files)
{
	take_offers(c, files);
	if (c->offers >= 0)
		(void)close(c->offers);
	c->offers = fd;
}

/* Takes all messages that there are; wait: there has to be one. False: the recorder is gone. */
static bool
take_messages(struct unwind_channel *c, struct numbered_files *files, bool wait)
{
	char message[256];
	int fd, flags = wait ? 0 : MSG_DONTWAIT;
	ssize_t n;

	for (;;) {
		n = take(c->fd, message, sizeof(message), flags, &fd);
		if (fd >= 0)
			replace_offers(c, fd, files);
		if (n == -EAGAIN && flags)
			return true;
		if (n <= 0)
			return false;
		flags = MSG_DONTWAIT;
	}
}

void
unwind_channel_look(struct unwind_channel *c, struct numbered_files *files)
{
	/* That the recorder is gone is found by whoever waits for it. */
	(void)take_messages(c, files, false);
	take_offers(c, files);
}

bool
unwind_channel_wait(struct unwind_channel *c, struct numbered_files *files)
{
	return take_messages(c, files, true);
}
