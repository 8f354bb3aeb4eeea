/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * host_kallsyms: the symbols of the running kernel, which sessions share: each loads them anew, as
 * modules may have come, but megabytes that are the same are not kept twice.
 */
#ifndef RECORDER_HOST_HOST_KALLSYMS_H
#define RECORDER_HOST_HOST_KALLSYMS_H

#include "format/bytes/kallsyms.h"
#include "recorder/host/host_modules.h"

/*
 * Reads path (NULL: /proc/kallsyms) with the bounds of modules (NULL: they are not known), from any thread. -EPERM:
 * hidden; -ENOENT: no symbols at all; -ENOMEM; -errno. What is returned is given back with host_kallsyms_release().
 */
int host_kallsyms_load(const char *path, const struct host_modules *modules,
		       const struct kallsyms **ret);
void host_kallsyms_release(const struct kallsyms *k); /* NULL is nothing */

#endif
