/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/host/hotplug.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ONLINE "/sys/devices/system/cpu/online"
#define UEVENT_GROUP 1 /* the kernel's own; udev's are on 2 */

static int
open_uevents(void)
{
	struct sockaddr_nl to = { .nl_family = AF_NETLINK, .nl_groups = UEVENT_GROUP };
	int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
			NETLINK_KOBJECT_UEVENT);

	if (fd >= 0 && bind(fd, (struct sockaddr *)&to, sizeof(to)) < 0) {
		close(fd);
		fd = -1;
	}
	return fd;
}

int
hotplug_open(struct hotplug *h)
{
	*h = (struct hotplug){ .uevent_fd = -1 };
	h->online_fd = open(ONLINE, O_RDONLY | O_CLOEXEC);
	if (h->online_fd < 0)
		return -errno;
	h->uevent_fd = open_uevents();
	if (!hotplug_look(h)) {
		hotplug_close(h);
		return -EIO;
	}
	return 0;
}

void
hotplug_close(struct hotplug *h)
{
	if (h->online_fd >= 0)
		close(h->online_fd);
	if (h->uevent_fd >= 0)
		close(h->uevent_fd);
	cpu_list_done(&h->online);
	h->online_fd = h->uevent_fd = -1;
}

bool
hotplug_uevents(const struct hotplug *h)
{
	static const char about[] = "/devices/system/cpu/";
	char message[4096];
	bool cpus = false;
	ssize_t n;

	/* An overrun (ENOBUFS) lost some: that may have been what matters. */
	while ((n = recv(h->uevent_fd, message, sizeof(message), 0)) > 0 ||
	       (n < 0 && (errno == ENOBUFS || errno == EINTR)))
		cpus |= n < 0 || memmem(message, (size_t)n, about, sizeof(about) - 1);
	return cpus;
}

bool
hotplug_look(struct hotplug *h)
{
	char text[sizeof(h->text)];
	struct cpu_list list;
	ssize_t n = pread(h->online_fd, text, sizeof(text) - 1, 0);

	if (n <= 0)
		return false;
	text[n] = '\0';
	if (strcmp(text, h->text) == 0 || cpu_list_parse(text, &list) < 0)
		return false;
	memcpy(h->text, text, (size_t)n + 1);
	cpu_list_done(&h->online);
	h->online = list;
	return true;
}
