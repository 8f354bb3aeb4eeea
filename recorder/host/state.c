/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/host/state.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>

#include "format/bytes/kallsyms.h"
#include "format/model/task_model.h"
#include "format/record/record_build.h"
#include "recorder/host/cgroup.h"
#include "recorder/host/host.h"
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

/* "name size references users state 0xaddress"; no such file: a kernel without modules. */
static int
modules_scan(struct state *s)
{
	unsigned long long addr, size;
	char name[128], path[132];
	char *line = NULL;
	size_t cap = 0;
	FILE *f;
	int rc = 0;

	if (s->o->pids || !s->o->kernel)
		return 0;
	f = fopen("/proc/modules", "re");
	if (!f)
		return 0;
	while (!rc && getline(&line, &cap, f) > 0) {
		if (sscanf(line, "%127s %llu %*s %*s %*s 0x%llx", name, &size, &addr) != 3 || !addr)
			continue;
		(void)snprintf(path, sizeof(path), "[%s]", name);
		rc = kernel_map(s, addr, size, 0, path);
	}
	free(line);
	(void)fclose(f);
	return rc;
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
state_scan_kernel(const struct state_options *options, struct buf *out)
{
	struct state s = { options, proc_sample_id(options), out, NULL };
	int rc = kernel_scan(&s);

	return rc ? rc : modules_scan(&s);
}

int
state_scan(const struct state_options *options, struct buf *out, struct state_stats *stats)
{
	struct state s = { options, proc_sample_id(options), out, stats };
	int rc = options->after ? 0 : cgroups_scan(&s);

	return rc ? rc : proc_scan(options, out, stats);
}
