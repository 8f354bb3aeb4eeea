/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What errors of perf_event_open(2) become in words: for whom, of which event, and what would help.
 */
#include "recorder/event/event_refusal.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <regex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define USER_AT(n)                                                                                 \
	{                                                                                          \
		.paranoid_known = true, .paranoid = (n)                                            \
	}
#define ROOT                                                                                       \
	{                                                                                          \
		.capable = true, .paranoid_known = true, .paranoid = 2                             \
	}
#define PROBE 9 /* the number of a PMU, here of uprobe */
#define KERNEL_BREAK                                                                               \
	{                                                                                          \
		.type = PERF_TYPE_BREAKPOINT, .bp_addr = UINT64_C(1) << 63 | 4096                  \
	}
#define STACK                                                                                      \
	{                                                                                          \
		.type = PERF_TYPE_SOFTWARE, .sample_type = PERF_SAMPLE_STACK_USER                  \
	}

static const struct row {
	int err;
	pid_t pid;
	int cpu;
	struct perf_event_attr attr;
	struct event_rights rights;
	const char *want;
} rows[] = {
	/* Who may: W7 and W8 of the notes. */
	{ EACCES,
	  -1,
	  0,
	  { 0 },
	  USER_AT(2),
	  "sampling all processes needs CAP_PERFMON or .* < 1 \\(it is 2\\)$" },
	{ EACCES,
	  0,
	  -1,
	  { 0 },
	  USER_AT(2),
	  "sampling this process needs CAP_PERFMON or .* < 2 \\(it is 2\\)$" },
	{ EACCES, 0, -1, { .exclude_kernel = 1 }, USER_AT(4), " < 3 \\(it is 4\\)$" },
	{ EACCES,
	  9,
	  -1,
	  { .exclude_kernel = 1 },
	  USER_AT(2),
	  "process 9 is another user's, .* CAP_PERFMON or CAP_SYS_PTRACE$" },
	{ EACCES, 9, -1, { .exclude_kernel = 1 }, USER_AT(3), "process 9 is another user's" },
	{ EACCES, 9, -1, { 0 }, USER_AT(2), "< 2 \\(it is 2\\)$" },
	{ EACCES, 9, -1, { 0 }, USER_AT(1), "process 9 is another user's" },
	{ EACCES, 9, -1, { 0 }, { 0 }, "< 2$" },
	{ EACCES,
	  0,
	  -1,
	  { .type = PERF_TYPE_TRACEPOINT },
	  USER_AT(1),
	  "it: needs CAP_PERFMON or .* < 0 \\(it is 1\\)$" },
	{ EPERM, -1, 0, { 0 }, USER_AT(3), "^perf_event_open: EPERM: " },
	/* What the sysctl allows, it is not blamed for. */
	{ EACCES,
	  0,
	  -1,
	  { .exclude_kernel = 1 },
	  USER_AT(2),
	  "EACCES: it: kernel.perf_event_paranoid is 2, which allows it; a seccomp filter" },
	{ EACCES, 0, -1, { 0 }, USER_AT(1), "it: kernel.perf_event_paranoid is 1, which allows it" },
	{ EACCES, -1, 3, { 0 }, USER_AT(0), "it on CPU 3: .* is 0, which allows it" },
	{ EACCES,
	  0,
	  -1,
	  { .type = PERF_TYPE_TRACEPOINT },
	  USER_AT(-1),
	  "it: kernel.perf_event_paranoid is -1, which allows it" },
	/* Where Debian's kernels, and no others, ask for CAP_SYS_ADMIN. */
	{ EACCES,
	  0,
	  -1,
	  { .exclude_kernel = 1 },
	  USER_AT(3),
	  "needs CAP_SYS_ADMIN \\(CAP_PERFMON, unless the kernel is Debian's\\) or .* < 3 \\(it is "
	  "3\\)$" },
	{ EACCES,
	  -1,
	  0,
	  { 0 },
	  { .capable = true, .paranoid_known = true, .paranoid = 3 },
	  "sampling all processes needs CAP_SYS_ADMIN or kernel.perf_event_paranoid < 3 \\(it is "
	  "3\\): Debian's kernels do not take CAP_PERFMON there$" },
	{ EACCES,
	  -1,
	  0,
	  { 0 },
	  { .admin = true, .capable = true, .paranoid_known = true, .paranoid = 3 },
	  "spoor has CAP_PERFMON; a seccomp" },
	/* A part of the kernel in an event of user space. */
	{ EACCES,
	  0,
	  -1,
	  { .exclude_kernel = 1,
	    .sample_type = PERF_SAMPLE_BRANCH_STACK,
	    .branch_sample_type = PERF_SAMPLE_BRANCH_KERNEL },
	  USER_AT(2),
	  " < 2 \\(it is 2\\)$" },
	{ EACCES,
	  0,
	  -1,
	  { .exclude_kernel = 1, .sample_type = PERF_SAMPLE_PHYS_ADDR },
	  USER_AT(2),
	  " < 2 \\(it is 2\\)$" },
	{ EACCES,
	  0,
	  -1,
	  { .exclude_kernel = 1,
	    .sample_type = PERF_SAMPLE_BRANCH_STACK,
	    .branch_sample_type = PERF_SAMPLE_BRANCH_USER },
	  USER_AT(3),
	  " < 3 \\(it is 3\\)$" },
	/* What no value of the sysctl gives. */
	{ EACCES, 0, -1, { .type = PROBE }, USER_AT(-1), "EACCES: it: a probe needs CAP_PERFMON$" },
	{ EPERM, 0, -1, KERNEL_BREAK, USER_AT(-1),
	  "it: a breakpoint in the kernel needs CAP_SYS_ADMIN$" },
	{ EPERM, 0, -1, KERNEL_BREAK, ROOT, "it: a breakpoint in the kernel needs CAP_SYS_ADMIN$" },
	{ EPERM,
	  0,
	  -1,
	  KERNEL_BREAK,
	  { .admin = true, .capable = true },
	  "it: spoor has CAP_PERFMON; a seccomp" },
	{ EPERM,
	  -1,
	  0,
	  { .exclude_idle = 1 },
	  ROOT,
	  "EPERM: it on CPU 0: this machine does not tell its modifiers" },
	{ EPERM, -1, 0, { 0 }, ROOT, "spoor has CAP_PERFMON; a seccomp filter" },
	{ EACCES,
	  -1,
	  0,
	  { .exclude_idle = 1 },
	  ROOT,
	  "EACCES: it on CPU 0: spoor has CAP_PERFMON; a seccomp" },
	{ EACCES,
	  -1,
	  0,
	  { 0 },
	  { .capable = true, .user_namespace = true },
	  "EACCES: it on CPU 0: capabilities of a user namespace" },
	/* What cannot: W5, W6, W9. */
	{ ESRCH, 77, -1, { 0 }, ROOT, "^no such process: 77$" },
	{ ENODEV,
	  0,
	  -1,
	  { 0 },
	  ROOT,
	  "^perf_event_open: ENODEV: it: this CPU does not have the feature" },
	{ ENODEV, -1, 3, { 0 }, ROOT, "^it: CPU 3 is offline or cannot count it$" },
	{ ENXIO, -1, 3, { 0 }, ROOT, "CPU 3" },
	{ ENOSYS, 0, -1, STACK, ROOT, "ENOSYS: it: .*--call-graph fp$" },
	{ ENOSYS, 0, -1, { 0 }, ROOT, "ENOSYS: it: this kernel has no perf events$" },
	{ EOPNOTSUPP, 0, -1, { .precise_ip = 2 }, ROOT, "EOPNOTSUPP: it: .* precision" },
	{ EOPNOTSUPP, 0, -1, { .type = PERF_TYPE_BREAKPOINT }, ROOT, "hardware breakpoint$" },
	{ EINVAL,
	  0,
	  -1,
	  { .type = PERF_TYPE_BREAKPOINT, .bp_type = HW_BREAKPOINT_R, .bp_addr = 8, .bp_len = 4 },
	  ROOT,
	  "reads alone: try rw$" },
	{ EINVAL,
	  0,
	  -1,
	  { .type = PERF_TYPE_BREAKPOINT, .bp_type = HW_BREAKPOINT_RW, .bp_addr = 6, .bp_len = 4 },
	  ROOT,
	  "no multiple of the length$" },
	{ EOPNOTSUPP, 0, -1, { 0 }, ROOT, "no interrupt$" },
	{ EOPNOTSUPP,
	  0,
	  -1,
	  { .sample_regs_intr = SESSION_VECTORS },
	  ROOT,
	  "no vector registers with it \\(-I\\)" },
	{ ENOSPC, 0, -1, { .type = PERF_TYPE_BREAKPOINT }, ROOT, "no hardware breakpoint is free" },
	{ ENOSPC, 0, -1, { 0 }, ROOT, "ENOSPC: it: no hardware slot" },
	{ EINVAL, 0, -1, { .type = PERF_TYPE_BREAKPOINT }, ROOT, "alignment" },
	{ EINVAL, 0, -1, { 0 }, ROOT, "one of its modifiers$" },
	{ ENOENT, 0, -1, { 0 }, ROOT, "cannot count it" },
	{ EBUSY, 0, -1, { 0 }, ROOT, "to itself$" },
	{ EBUSY, -1, 3, { 0 }, ROOT, "^perf_event_open: EBUSY: it on CPU 3: another event" },
	{ EINVAL, 77, 3, { 0 }, ROOT, "^perf_event_open: EINVAL: it of task 77: the kernel" },
	{ EMFILE, 0, -1, { 0 }, ROOT, "ulimit -n" },
	{ E2BIG, 0, -1, { 0 }, ROOT, "E2BIG: it: this kernel is older" },
	{ EOVERFLOW, 0, -1, { 0 }, ROOT, "kernel.perf_event_max_stack" },
	{ EINTR, 0, -1, { 0 }, ROOT, "try again$" },
	{ EFAULT, 0, -1, { 0 }, ROOT, "^perf_event_open: it: Bad address$" },
};

static void
test_words(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *row = &rows[i];
		struct event_def def = { .attr = row->attr,
					 .name = "it",
					 .probe = row->attr.type == PROBE };
		struct session_error error = { 0 };
		regex_t want;

		assert_int_equal(event_refusal_tell(&def, row->pid, row->cpu, -row->err,
						    &row->rights, &error),
				 -row->err);
		assert_int_equal(regcomp(&want, row->want, REG_EXTENDED | REG_NOSUB), 0);
		if (regexec(&want, error.text, 0, NULL, 0) != 0)
			fail_msg("row %zu: no match of /%s/ in: %s", i, row->want, error.text);
		assert_int_equal(error.exit_status, 1);
		regfree(&want);
	}
}

/* Root of the host has what the kernel asks for; a user of it has not. */
static void
test_now(void **state)
{
	struct event_rights now = event_rights_now();

	(void)state;
	if (access("/proc/sys/kernel/perf_event_paranoid", R_OK) == 0)
		assert_true(now.paranoid_known);
	if (geteuid() != 0)
		assert_false(now.capable);
	else if (!now.user_namespace)
		assert_true(now.capable);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_words),
					    cmocka_unit_test(test_now) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
