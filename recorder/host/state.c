/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/host/state.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>

#include "format/bytes/kallsyms.h"
#include "format/model/task_model.h"
#include "format/record/record_build.h"
#include "recorder/host/cgroup.h"
#include "recorder/host/host.h"
#include "recorder/host/host_modules.h"
#include "recorder/host/proc.h"
#include "recorder/host/task_users.h"

struct state {
	const struct state_options *o;
	struct perf_sample_id sid;
	struct buf *out;
	struct state_stats *stats;
};

static int
kernel_map(struct state *s, uint64_t addr, uint64_t len, uint64_t pgoff, const char *name)
{
	struct perf_mmap m = {
		.pid = TASK_PID_KERNEL, .addr = addr, .len = len, .pgoff = pgoff, .filename = name
	};

	return record_build_mmap(s->out, s->o->attr, &s->sid, &m, PERF_RECORD_MISC_KERNEL) ? -ENOMEM
											   : 0;
}

/* As perf names it: the symbol after the bracket tells which address pgoff is. */
static int
kernel_scan(struct state *s)
{
	const struct kallsyms *k = s->o->kernel;
	const char *name = "[kernel.kallsyms]_text";
	uint64_t text, end;

	if (!k)
		return 0;
	text = kallsyms_address(k, "_text");
	if (!text) {
		name = "[kernel.kallsyms]_stext";
		text = kallsyms_address(k, "_stext");
	}
	end = kallsyms_address(k, "_edata");
	if (end <= text)
		end = kallsyms_address(k, "_etext");
	return text && end > text ? kernel_map(s, text, end - text, text, name) : 0;
}

int
state_module(const struct state_options *options, const struct kallsyms_module *module, bool gone,
	     struct buf *out)
{
	struct state s = { options, proc_sample_id(options), out, NULL };
	const uint64_t size = module->end - module->start;
	char path[KALLSYMS_MODULE_NAME_MAX + 2];

	(void)snprintf(path, sizeof(path), "[%s]", module->name);
	if (!gone)
		return kernel_map(&s, module->start, size, 0, path);
	return record_build_ksymbol(out, options->attr, &s.sid, module->start,
				    size > UINT32_MAX ? UINT32_MAX : (uint32_t)size,
				    PERF_RECORD_KSYMBOL_TYPE_UNKNOWN,
				    PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER, path)
		? -ENOMEM
		: 0;
}

static int
cgroup_record(void *arg, uint64_t id, const char *path)
{
	struct state *s = arg;
	const struct state_part part = { .uid = TASK_USER_UNKNOWN, .stats = s->stats };

	if (record_build_cgroup(s->out, s->o->attr, &s->sid, id, path))
		return -ENOMEM;
	return s->out->len > PROC_PART_BYTES ? proc_hand_over(s->o, &part, s->out) : 0;
}

/* No control groups, or none that can be read, is no reason not to record. */
static int
cgroups_scan(struct state *s)
{
	int rc = cgroup_walk(NULL, cgroup_record, s);

	return rc == -ENOMEM || rc == -EPIPE ? rc : 0;
}

int
state_scan_kernel(const struct state_options *options, const struct host_modules *modules,
		  struct buf *out)
{
	struct state s = { options, proc_sample_id(options), out, NULL };
	int rc = kernel_scan(&s);

	for (size_t i = 0; !rc && i < modules->nr; i++)
		rc = state_module(options, &modules->ranges[i], false, out);
	return rc;
}

int
state_scan(const struct state_options *options, struct buf *out, struct state_stats *stats)
{
	struct state s = { options, proc_sample_id(options), out, stats };
	int rc = options->after ? 0 : cgroups_scan(&s);

	return rc ? rc : proc_scan(options, out, stats);
}
