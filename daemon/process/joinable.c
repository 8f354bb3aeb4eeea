/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/process/joinable.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define SECOND_MS 1000

int
joinable_start(struct joinable *j, const char *name, void *(*body)(void *arg), void *arg)
{
	int r;

	*j = (struct joinable){ .end_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) };
	if (j->end_fd < 0)
		return -errno;
	r = -pthread_create(&j->thread, NULL, body, arg);
	if (r < 0)
		close(j->end_fd);
	else
		(void)pthread_setname_np(j->thread, name);
	return r;
}

void
joinable_end(struct joinable *j)
{
	(void)eventfd_write(j->end_fd, 1);
}

/*
 * Not pthread_clockjoin_np(3), which the thread sanitizer does not know, nor its like, which go by
 * the wall clock.
 */
bool
joinable_join(struct joinable *j, bool (*each_second)(void *arg), void *arg)
{
	struct pollfd p = { .fd = j->end_fd, .events = POLLIN };

	if (j->joined)
		return true;
	while (poll(&p, 1, SECOND_MS) != 1)
		if (each_second && !each_second(arg))
			return false;
	(void)pthread_join(j->thread, NULL);
	close(j->end_fd);
	j->joined = true;
	return true;
}
