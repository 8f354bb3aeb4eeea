/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * host_modules: which modules the kernel has, and where: /proc/modules.
 */
#ifndef RECORDER_HOST_HOST_MODULES_H
#define RECORDER_HOST_HOST_MODULES_H

#include <stdbool.h>
#include <stddef.h>

#include "format/bytes/kallsyms.h"

#define HOST_MODULES_MAX 4096

/*
 * By start. A range ends where the next one begins at the latest: what the file says of its length counts all that a
 * module has, and since 6.4 that lies in several places. One whose address is hidden is left out.
 */
struct host_modules {
	struct kallsyms_module *ranges;
	size_t nr, cap;
	bool unsettled; /* one is about to come or to go */
};

/* path: NULL is /proc/modules; no such file: a kernel without modules. *ret is empty before. 0, -ENOMEM. */
int host_modules_read(const char *path, struct host_modules *ret);
void host_modules_done(struct host_modules *m);

/* The module of this name at this start; NULL: none. */
const struct kallsyms_module *host_modules_find(const struct host_modules *m,
						const struct kallsyms_module *like);

#endif
