/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * live_modules: which kernel modules there are, and their build-ids.
 */
#ifndef RECORDER_LIVE_LIVE_MODULES_H
#define RECORDER_LIVE_LIVE_MODULES_H

#include <stdbool.h>

struct buildid;
struct live_modules;

/* path: "[name]", as maps of the kernel's modules are called. */
typedef void live_modules_fn(void *arg, const char *path, const struct buildid *id);

/* path: NULL is /proc/modules; borrowed. NULL: out of memory. */
struct live_modules *live_modules_new(const char *path);
void live_modules_free(struct live_modules *m);

/* Every module that has a build-id. */
void live_modules_each(const struct live_modules *m, live_modules_fn *fn, void *arg);

/* Looks again; true: not the same as before, and then fn is called for each. */
bool live_modules_refresh(struct live_modules *m, live_modules_fn *fn, void *arg);

#endif
