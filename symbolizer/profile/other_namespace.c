/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/profile/other_namespace.h"

#include <linux/perf_event.h>
#include <stddef.h>
#include <string.h>

#include "symbolizer/profile/callchain.h"

#define ROOT_CGROUP 1 /* its inode; on 32-bit kernels a generation is above it */

/* Where idle CPUs are, the loop of all machines first, then how each waits there. */
static bool
is_idle_function(const char *name)
{
	static const char *const names[] = {
		"do_idle",
		"cpu_startup_entry",
		"cpu_idle_loop", /* before Linux 4.12 */
		"cpu_idle_poll",
		"start_secondary",
		"rest_init",
		"schedule_idle",
		"arch_cpu_idle",
		"default_idle",
		"default_idle_call",
		"cpuidle_enter",
		"cpuidle_enter_state",
		"cpuidle_idle_call",
		"poll_idle",
		"native_safe_halt",
		"pv_native_safe_halt",
		"acpi_safe_halt",
		"acpi_idle_do_entry",
		"acpi_idle_enter",
		"acpi_processor_ffh_cstate_enter",
		"mwait_idle",
		"mwait_idle_with_hints.constprop.0",
		"intel_idle",
		"intel_idle_ibrs",
		"intel_idle_irq",
		"cpu_do_idle",
		"psci_enter_idle_state",
		"power4_idle_nap",
		"pseries_dedicated_idle_sleep",
		"psw_idle",
		"psw_idle_exit",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

static bool
is_idle_place(const struct callchain_address *a, const struct kernel_symbols *kernel)
{
	struct kernel_symbol symbol;

	return a->mode == CALLCHAIN_KERNEL &&
		kernel_symbols_find_frame(kernel, a->ip, a->is_return, &symbol) &&
		is_idle_function(symbol.name);
}

/* By a caller; by the sampled place where that is all there is: a virtual machine also halts to wait for a lock. */
static bool
is_idle(const struct callchain_words *words, const struct kernel_symbols *kernel)
{
	struct callchain_address address;
	struct callchain chain;
	bool idle, more;

	callchain_begin(&chain, words, &address);
	idle = is_idle_place(&address, kernel);
	more = callchain_next(&chain, &address);
	if (!more)
		return idle;
	for (idle = false; more && !idle; more = callchain_next(&chain, &address))
		idle = is_idle_place(&address, kernel);
	return idle;
}

/* Does the event leave out the idle task? Of clocks Linux does what exclude_idle says, of counters it need not. */
static bool
leaves_out_idle(const struct event_attr *a)
{
	return a && event_attr_has(a, EVENT_ATTR_exclude_idle) &&
		event_attr_counts_time(a->type, a->config);
}

/* Was its task in user mode, or did it come from there? */
static bool
has_user_mode(const struct perf_record *r, const struct callchain_words *words)
{
	size_t at;

	switch (r->misc & PERF_RECORD_MISC_CPUMODE_MASK) {
	case PERF_RECORD_MISC_USER:
	case PERF_RECORD_MISC_GUEST_KERNEL:
	case PERF_RECORD_MISC_GUEST_USER:
		return true;
	}
	return callchain_has_user(words) || callchain_cookie(words->words, &at) ||
		(r->sample.have & PERF_SAMPLE_REGS_USER && r->sample.regs_user.abi);
}

bool
other_namespace_has(const struct perf_record *r, const struct kernel_symbols *kernel)
{
	const bool grouped = r->sample.have & PERF_SAMPLE_CGROUP;
	struct callchain_words words;

	callchain_of_record(r, &words);
	return (grouped && (uint32_t)r->sample.cgroup != ROOT_CGROUP) || has_user_mode(r, &words) ||
		leaves_out_idle(r->attr) || !kernel || !is_idle(&words, kernel);
}
