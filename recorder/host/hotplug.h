/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * hotplug: which CPUs are online: /sys/devices/system/cpu/online, which is to be looked at from
 * time to time, and when uevents say that one came or went.
 */
#ifndef RECORDER_HOST_HOTPLUG_H
#define RECORDER_HOST_HOTPLUG_H

#include <stdbool.h>

#include "recorder/ground/cpu_list.h"

struct hotplug {
	int online_fd;
	char text[512]; /* of the file, as it was last seen */
	struct cpu_list online;
};

/* 0, -errno: the file cannot be read. */
int hotplug_open(struct hotplug *h);
void hotplug_close(struct hotplug *h);

/* Reads the file; true: h->online is another set now. Takes a few microseconds. */
bool hotplug_look(struct hotplug *h);

#endif
