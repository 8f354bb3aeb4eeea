/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/host/uevents.h"

#include <errno.h>
#include <linux/netlink.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define KERNEL_GROUP 1 /* udev's are on 2 */

int
uevents_open(void)
{
	struct sockaddr_nl to = { .nl_family = AF_NETLINK, .nl_groups = KERNEL_GROUP };
	int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
			NETLINK_KOBJECT_UEVENT);

	if (fd >= 0 && bind(fd, (struct sockaddr *)&to, sizeof(to)) < 0) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* "add@/module/NAME" and properties, each with its NUL. */
static unsigned int
about(const char *message, size_t n)
{
	static const char cpus[] = "/devices/system/cpu/", modules[] = "@/module/";

	return (memmem(message, n, cpus, sizeof(cpus) - 1) ? UEVENTS_CPUS : 0) |
		(memmem(message, n, modules, sizeof(modules) - 1) ? UEVENTS_MODULES : 0);
}

unsigned int
uevents_read(int fd)
{
	unsigned int what = 0;
	char message[4096];
	ssize_t n;

	while ((n = recv(fd, message, sizeof(message), 0)) > 0 ||
	       (n < 0 && (errno == ENOBUFS || errno == EINTR)))
		what |= n < 0 ? UEVENTS_CPUS | UEVENTS_MODULES : about(message, (size_t)n);
	return what;
}
