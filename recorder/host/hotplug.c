/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/host/hotplug.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define ONLINE CPU_LIST_SYSFS "/online"

int
hotplug_open(struct hotplug *h)
{
	*h = (struct hotplug){ 0 };
	h->online_fd = open(ONLINE, O_RDONLY | O_CLOEXEC);
	if (h->online_fd < 0)
		return -errno;
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
	cpu_list_done(&h->online);
	h->online_fd = -1;
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
