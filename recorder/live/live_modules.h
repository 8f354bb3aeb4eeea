/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * live_modules: which kernel modules there are, since when, and their build-ids.
 */
#ifndef RECORDER_LIVE_LIVE_MODULES_H
#define RECORDER_LIVE_LIVE_MODULES_H

#include <stdbool.h>
#include <stdint.h>

#include "recorder/host/host_modules.h"

struct buildid;
struct live_modules;

/* path: "[name]", as maps of the kernel's modules are called. */
typedef void live_modules_fn(void *arg, const char *path, const struct buildid *id);

/* path: NULL is /proc/modules; borrowed. NULL: out of memory. */
struct live_modules *live_modules_new(const char *path);
void live_modules_free(struct live_modules *m);

/* As of the last look. */
const struct host_modules *live_modules_now(const struct live_modules *m);

/* The build-ids of all, or of one. */
void live_modules_each(const struct live_modules *m, live_modules_fn *fn, void *arg);
void live_module_id(const struct kallsyms_module *module, live_modules_fn *fn, void *arg);

/* There is a reason to look at once. */
void live_modules_told(struct live_modules *m);
/* Is it time to look? unknown: samples were where nothing is known to be. The cost of a look decides how often. */
bool live_modules_due(const struct live_modules *m, uint64_t now_ns, bool unknown);

/*
 * A module is gone, or came, at that time. What it is not known to have had to itself is no module's: from the look at
 * which the one was seen last to the look at which the other was seen first. Not 0 ends the look.
 */
typedef int live_modules_change_fn(void *arg, const struct kallsyms_module *module, bool gone,
				   uint64_t time_ns);

/* Looks. 0, -ENOMEM, or what fn returned. */
int live_modules_look(struct live_modules *m, live_modules_change_fn *fn, void *arg);

#endif
