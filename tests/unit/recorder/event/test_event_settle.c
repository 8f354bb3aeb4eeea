/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is left out of an event of a user who may not sample the kernel, by kernels that refuse as
 * Linux 6.1 and 7.2 do. The calls of event_open.h, and capget(2), are of this file.
 */
#include "recorder/event/event_settle.h"

#include <errno.h>
#include <regex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "format/bytes/buf.h"
#include "recorder/event/event_open.h"

#define KERNEL_ADDRESS UINT64_C(0xffffffff81000000)
#define CHAINS PERF_SAMPLE_CALLCHAIN

/* --- the kernel ------------------------------------------------------------------------- */

static struct fake_kernel {
	bool chains;	 /* the kernel's part of call chains takes the kernel's right */
	bool cycles;	 /* this machine counts them */
	bool but_counts; /* as msr, and PMUs of sockets do */
	long long paranoid;
	int opened; /* how often it was asked */
} kernel;

static bool
has_kernel_part(const struct perf_event_attr *attr)
{
	return !attr->exclude_kernel ||
		(kernel.chains && attr->sample_type & PERF_SAMPLE_CALLCHAIN &&
		 !attr->exclude_callchain_kernel);
}

/* As of Debian, for a user without capabilities. */
int
event_open_try(const struct perf_event_attr *attr, pid_t pid, int cpu)
{
	(void)cpu;
	kernel.opened++;
	if (kernel.paranoid > 2 || (kernel.paranoid > 1 && has_kernel_part(attr)) ||
	    (kernel.paranoid > 0 && pid == -1))
		return -EACCES;
	if (attr->type == PERF_TYPE_BREAKPOINT && attr->bp_addr == KERNEL_ADDRESS)
		return attr->exclude_kernel ? -EINVAL : -EPERM;
	if (kernel.but_counts && attr->sample_period)
		return -EINVAL;
	return attr->type == PERF_TYPE_HARDWARE && !kernel.cycles ? -ENOENT : 0;
}

int
event_paranoid(long long *ret)
{
	*ret = kernel.paranoid;
	return 0;
}

int
event_max_frequency(long long *ret)
{
	*ret = 100000;
	return 0;
}

int
event_cpu_percent(long long *ret)
{
	*ret = 25;
	return 0;
}

int
event_open_member(const struct perf_event_attr *attr, pid_t pid, int cpu, int leader_fd,
		  unsigned long flags)
{
	(void)attr, (void)pid, (void)cpu, (void)leader_fd, (void)flags;
	return -ENOSYS;
}

int
event_open(const struct perf_event_attr *attr, pid_t pid, int cpu, unsigned long flags)
{
	return event_open_member(attr, pid, cpu, -1, flags);
}

/* Nobody here has a capability. */
long
syscall(long number, ...)
{
	if (number == SYS_capget)
		return 0;
	errno = ENOSYS;
	return -1;
}

/* --- what is left of an event ------------------------------------------------------------ */

#define CLOCK .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK
#define CYCLES .type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_CPU_CYCLES
#define OLD(n)                                                                                     \
	{                                                                                          \
		.paranoid = (n)                                                                    \
	}
#define NEW(n)                                                                                     \
	{                                                                                          \
		.chains = true, .paranoid = (n)                                                    \
	}
#define RIGHT(n) "CAP_PERFMON or kernel.perf_event_paranoid < 2 \\(it is " #n "\\)"

static const struct row {
	struct fake_kernel kernel;
	struct perf_event_attr attr;
	bool all, counts;
	int want;
	int exclude_kernel, exclude_callchain_kernel;
	const char *name, *notes; /* notes NULL: none */
	const char *error;
} rows[] = {
	/* Whoever may have the kernel has all of it. */
	{ OLD(1), { CLOCK, .sample_type = CHAINS }, .name = "it" },
	{ NEW(1), { CLOCK, .sample_type = CHAINS }, .name = "it" },
	{ NEW(0), { CLOCK, .sample_type = CHAINS }, .all = true, .name = "it" },
	/* Else older kernels refuse its samples, current ones its part of call chains as well. */
	{ OLD(2),
	  { CLOCK, .sample_type = CHAINS },
	  .exclude_kernel = 1,
	  .name = "it:u",
	  .notes = "^it:u: no samples of the kernel: that needs " RIGHT(2) "$" },
	{ NEW(2),
	  { CLOCK, .sample_type = CHAINS },
	  .exclude_kernel = 1,
	  .exclude_callchain_kernel = 1,
	  .name = "it:u",
	  .notes = "^it:u: no samples of the kernel, and no call chains of it: that needs " RIGHT(
		  2) "$" },
	/* Who asked for user space alone lacks the call chains alone. */
	{ OLD(2),
	  { CLOCK, .sample_type = CHAINS, .exclude_kernel = 1 },
	  .exclude_kernel = 1,
	  .name = "it" },
	{ NEW(2),
	  { CLOCK, .sample_type = CHAINS, .exclude_kernel = 1 },
	  .exclude_kernel = 1,
	  .exclude_callchain_kernel = 1,
	  .name = "it",
	  .notes = "^it: no call chains of the kernel: that needs " RIGHT(2) "$" },
	/* What has no call chains, or not the kernel's, loses none. */
	{ NEW(2),
	  { CLOCK },
	  .exclude_kernel = 1,
	  .name = "it:u",
	  .notes = "^it:u: no samples of the kernel: that" },
	{ NEW(2),
	  { CLOCK, .sample_type = CHAINS, .exclude_kernel = 1, .exclude_callchain_kernel = 1 },
	  .exclude_kernel = 1,
	  .exclude_callchain_kernel = 1,
	  .name = "it" },
	{ NEW(2),
	  { CLOCK },
	  .counts = true,
	  .exclude_kernel = 1,
	  .name = "it:u",
	  .notes = "^it:u: no counts of the kernel: that needs " RIGHT(2) "$" },
	/* Where there are no cycles, the same is left out of the clock, and told of it. */
	{ NEW(2),
	  { CYCLES, .sample_type = CHAINS, .exclude_guest = 1 },
	  .exclude_kernel = 1,
	  .exclude_callchain_kernel = 1,
	  .name = "cpu-clock:uI",
	  .notes = "^it: no such counter here: cpu-clock:uI instead\n"
		   "cpu-clock:uI: no samples of the kernel, and no call chains of it: that" },
	/* A note says what the event is called in a file, and what was asked for. */
	{ OLD(1),
	  { CYCLES, .exclude_user = 1, .exclude_hv = 1, .exclude_guest = 1 },
	  .name = "cpu-clock:kI",
	  .notes = "^it: no such counter here: cpu-clock:kI instead$" },
	/* Nothing is told to be left out of what does not open without it either. */
	{ NEW(3),
	  { CLOCK, .sample_type = CHAINS },
	  .want = -EACCES,
	  .error = "sampling this process needs CAP_SYS_ADMIN .* or .* < 3 \\(it is 3\\)$" },
	{ NEW(2),
	  { CLOCK, .sample_type = CHAINS },
	  .all = true,
	  .want = -EACCES,
	  .error = "sampling all processes needs CAP_PERFMON or .* < 1 \\(it is 2\\)$" },
	{ NEW(2),
	  { CLOCK, .sample_type = CHAINS, .context_switch = 1 },
	  .want = -EACCES,
	  .error = "sampling this process needs " RIGHT(2) "$" },
	{ NEW(2),
	  { CLOCK, .sample_type = CHAINS, .exclude_user = 1 },
	  .want = -EACCES,
	  .error = "sampling this process needs " RIGHT(2) "$" },
	{ OLD(1),
	  { .type = PERF_TYPE_BREAKPOINT, .bp_addr = KERNEL_ADDRESS },
	  .want = -EPERM,
	  .error = "EPERM: it: a breakpoint in the kernel needs CAP_SYS_ADMIN$" },
	/* What is wrong with it is that it is sampled, or anything else. */
	{ { .but_counts = true },
	  { .type = 20, .freq = 1, .sample_freq = 999, .exclude_guest = 1 },
	  .want = -EINVAL,
	  .error = "^it can only be counted, not sampled: --counters=it$" },
	{ OLD(1),
	  { .type = PERF_TYPE_BREAKPOINT,
	    .bp_addr = KERNEL_ADDRESS,
	    .exclude_kernel = 1,
	    .sample_period = 1 },
	  .want = -EINVAL,
	  .error = "EINVAL: it: the kernel refuses the address" },
};

static void
expect_text(size_t row, const char *text, const char *want)
{
	regex_t re;

	assert_int_equal(regcomp(&re, want, REG_EXTENDED | REG_NOSUB), 0);
	if (regexec(&re, text, 0, NULL, 0) != 0)
		fail_msg("row %zu: no match of /%s/ in: %s", row, want, text);
	regfree(&re);
}

static void
check_row(size_t i)
{
	const struct row *row = &rows[i];
	pid_t tasks[] = { row->all ? -1 : 7 };
	uint32_t cpus[] = { 0 };
	const struct target target = { .tasks = tasks,
				       .nr_tasks = 1,
				       .online = { cpus, 1 },
				       .sampled = { cpus, 1 },
				       .every_cpu = true };
	const struct event_settle_options options = { .target = &target, .counts = row->counts };
	struct event_def def = { .attr = row->attr, .name = "it" };
	struct session_error error = { 0 };
	struct buf notes;
	int r;

	kernel = row->kernel;
	buf_init(&notes);
	r = event_settle(&def, &options, &notes, &error);
	buf_u8(&notes, 0);
	if (r != row->want)
		fail_msg("row %zu: %d: %s", i, r, error.text);
	if (row->error)
		expect_text(i, error.text, row->error);
	expect_text(i, (const char *)notes.p, row->notes ? row->notes : "^$");
	if (r == 0) {
		assert_string_equal(def.name, row->name);
		if (def.attr.exclude_kernel != (unsigned)row->exclude_kernel ||
		    def.attr.exclude_callchain_kernel != (unsigned)row->exclude_callchain_kernel)
			fail_msg("row %zu: kernel %d, its call chains %d", i,
				 !def.attr.exclude_kernel, !def.attr.exclude_callchain_kernel);
		assert_true(def.attr.sample_type == row->attr.sample_type);
	}
	assert_in_range(kernel.opened, 1, 8);
	buf_done(&notes);
	event_def_done(&def);
}

static void
test_left_out(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check_row(i);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_left_out) };

	return cmocka_run_group_tests_name("event_settle", tests, NULL, NULL);
}
