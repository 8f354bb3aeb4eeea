/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/unwind/freed_stack.h"

#include <string.h>

#include <linux/perf_event.h>

#include "format/bytes/kallsyms.h"
#include "format/record/perf_record.h"

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
	const size_t n = span_words(chain);
	bool kernel = false, leaf = true;

	for (size_t i = 0; k && i < n; i++) {
		const uint64_t word = span_word(chain, i);

		if (perf_context_marker(word)) {
			kernel = word == (uint64_t)PERF_CONTEXT_KERNEL;
			continue;
		}
		/* The first is where the CPU was; the others are return addresses. */
		if (kernel && frees_stack(k, leaf ? word : word - 1))
			return true;
		leaf = false;
	}
	return false;
}
