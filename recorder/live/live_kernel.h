/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * live_kernel: the symbols of the kernel and its modules, those of modules that came later, too, and which of them the
 * open file needs. Belongs to the writer thread alone.
 */
#ifndef RECORDER_LIVE_LIVE_KERNEL_H
#define RECORDER_LIVE_LIVE_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "recorder/live/live_modules.h"

struct kallsyms;
struct ksym_collector;

struct live_kernel {
	const char *path;	       /* of kallsyms; NULL: the kernel's */
	const struct kallsyms *table;  /* NULL: they are hidden, as note says */
	struct ksym_collector *needed; /* what the open file needs of the table */
	struct live_modules *modules;
	uint64_t looked_ns, unknown;
	bool stale; /* there are other modules now than the table has symbols of */
	const char *note;
};

/* kallsyms, modules: as live_options has them. 0, -ENOMEM; live_kernel_done() in any case. */
int live_kernel_init(struct live_kernel *k, const char *kallsyms, const char *modules);
void live_kernel_done(struct live_kernel *k);

/*
 * Looks now and then whether other modules are there, if there is a reason to, gives fn the build-ids of new ones, and
 * reads the table again when nothing that is needed names the old one. 0, -ENOMEM.
 */
int live_kernel_follow(struct live_kernel *k, uint64_t now_ns, live_modules_fn *fn, void *arg);

#endif
