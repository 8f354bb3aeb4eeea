/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/unwind/freed_stack.h"

#include <string.h>

#include <linux/perf_event.h>

#include "format/bytes/kallsyms.h"

/* bprm_execve, do_execveat_common.isra.0, __x64_sys_execve: by no full name, since they differ by kernel and machine. */
static bool
frees_stack(const struct kallsyms *k, uint64_t address)
{
	const ssize_t i = kallsyms_find(k, address);
	const char *name = i < 0 ? NULL : kallsyms_at(k, (size_t)i).name;

	return name && (strstr(name, "execve") || strcmp(name, "do_exit") == 0);
}

bool
freed_stack(const struct kallsyms *k, struct span chain)
{
	bool kernel = false;

	for (size_t at = 0; k && at + 8 <= chain.len; at += 8) {
		const uint64_t word = le64dec(chain.p + at);

		if (word >= (uint64_t)PERF_CONTEXT_MAX)
			kernel = word == (uint64_t)PERF_CONTEXT_KERNEL;
		else if (kernel && frees_stack(k, word))
			return true;
	}
	return false;
}
