/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/live/live_kernel.h"

#include <errno.h>

#include "recorder/host/host_kallsyms.h"
#include "recorder/live/ksym_collector.h"

#define MODULES_NS UINT64_C(30000000000) /* between looks at which modules there are */

/* What there was before is better than nothing. */
static int
load(struct live_kernel *k)
{
	const struct kallsyms *table = NULL;
	struct ksym_collector *needed;
	int rc = host_kallsyms_load(k->path, &table);

	if (rc == -ENOMEM || (rc && k->needed))
		return rc == -ENOMEM ? rc : 0;
	if (rc)
		k->note = "kernel symbols are hidden (kernel.kptr_restrict, or CAP_SYSLOG is "
			  "missing): kernel addresses have no names";
	needed = ksym_collector_new(table);
	if (!needed) {
		host_kallsyms_release(table);
		return -ENOMEM;
	}
	ksym_collector_free(k->needed);
	host_kallsyms_release(k->table);
	k->needed = needed;
	k->table = table;
	k->unknown = 0;
	return 0;
}

int
live_kernel_init(struct live_kernel *k, const char *kallsyms, const char *modules)
{
	*k = (struct live_kernel){ .path = kallsyms,
				   .modules = live_modules_new(modules),
				   .note = "" };
	return k->modules ? load(k) : -ENOMEM;
}

void
live_kernel_done(struct live_kernel *k)
{
	ksym_collector_free(k->needed);
	host_kallsyms_release(k->table);
	live_modules_free(k->modules);
}

static bool
modules_changed(struct live_kernel *k, uint64_t now_ns, live_modules_fn *fn, void *arg)
{
	if (ksym_collector_unknown(k->needed) == k->unknown || now_ns - k->looked_ns < MODULES_NS)
		return false;
	k->looked_ns = now_ns;
	k->unknown = ksym_collector_unknown(k->needed);
	return live_modules_refresh(k->modules, fn, arg);
}

int
live_kernel_follow(struct live_kernel *k, uint64_t now_ns, live_modules_fn *fn, void *arg)
{
	if (!k->table)
		return 0;
	if (modules_changed(k, now_ns, fn, arg))
		k->stale = true;
	/* What is pending names the old table: not before a block has it. */
	if (!k->stale || ksym_collector_pending(k->needed))
		return 0;
	k->stale = false;
	return load(k);
}
