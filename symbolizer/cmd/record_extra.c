/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/cmd/record_extra.h"

#include <linux/perf_event.h>
#include <stddef.h>

#include "symbolizer/cli/cli.h"

#define KNOB(member) offsetof(struct session_extra, member)
#define NO_KNOB SIZE_MAX

/* Options that set bits. */
static const struct extra_bits {
	int value;
	uint64_t sample_type;
	size_t knob; /* a bool of struct session_extra */
} extra_bits[] = {
	{ 'd', PERF_SAMPLE_ADDR | PERF_SAMPLE_DATA_SRC, KNOB(data) },
	{ 'W', PERF_SAMPLE_WEIGHT_STRUCT, NO_KNOB },
	{ RECORD_EXTRA_PHYS, PERF_SAMPLE_PHYS_ADDR, NO_KNOB },
	{ RECORD_EXTRA_DATA_PAGE, PERF_SAMPLE_DATA_PAGE_SIZE, NO_KNOB },
	{ RECORD_EXTRA_CODE_PAGE, PERF_SAMPLE_CODE_PAGE_SIZE, NO_KNOB },
	{ RECORD_EXTRA_TRANSACTION, PERF_SAMPLE_TRANSACTION, NO_KNOB },
	{ RECORD_EXTRA_ALL_USER, 0, KNOB(all_user) },
	{ RECORD_EXTRA_ALL_KERNEL, 0, KNOB(all_kernel) },
	{ RECORD_EXTRA_USER_CHAINS, 0, KNOB(user_callchains) },
	{ RECORD_EXTRA_KERNEL_CHAINS, 0, KNOB(kernel_callchains) },
	{ 'i', 0, KNOB(no_inherit) },
	{ RECORD_EXTRA_GROUP, 0, KNOB(group) },
	{ 'N', 0, NO_KNOB },
	{ 'B', 0, NO_KNOB },
	{ 'T', 0, NO_KNOB },
	{ 'P', 0, NO_KNOB },
};

static const struct extra_refused {
	int value;
	const char *text;
} extra_refused[] = {
	{ 'r',
	  "-r: not needed: the rings are emptied in time by their size, and what is lost is told. "
	  "chrt(1) gives any program a priority" },
	{ RECORD_EXTRA_AFFINITY,
	  "--affinity: not needed: one thread empties the rings of all CPUs, and "
	  "sleeps meanwhile. taskset(1) binds any program" },
	{ RECORD_EXTRA_THREADS,
	  "--threads: not needed: one thread empties the rings of all CPUs, one "
	  "more packs and writes" },
	{ RECORD_EXTRA_AIO,
	  "--aio: not needed: writing is a thread of its own, which the rings do not "
	  "wait for" },
};

static int
set_branches(struct session_extra *extra, const char *text)
{
	const char *word;
	size_t bytes;

	if (session_branches_parse(text, &extra->branches, &word, &bytes) == 0)
		return CLI_GO_ON;
	return cli_usage_error(
		"record",
		"-j %s: '%.*s' is none of any, any_call, any_ret, ind_call, ind_jmp, "
		"call, cond, abort_tx, in_tx, no_tx, stack, no_flags, no_cycles, "
		"save_type, hw_index, priv, counter, u, k, hv",
		text, (int)bytes, word);
}

int
record_extra_set(struct session_extra *extra, int value, const char *text)
{
	if (value == 'j')
		return set_branches(extra, text);
	if (value == 'b') {
		extra->branches |= PERF_SAMPLE_BRANCH_ANY;
		return CLI_GO_ON;
	}
	for (size_t i = 0; i < sizeof(extra_bits) / sizeof(extra_bits[0]); i++) {
		if (extra_bits[i].value != value)
			continue;
		extra->sample_type |= extra_bits[i].sample_type;
		if (extra_bits[i].knob != NO_KNOB)
			*(bool *)((char *)extra + extra_bits[i].knob) = true;
		return CLI_GO_ON;
	}
	for (size_t i = 0; i < sizeof(extra_refused) / sizeof(extra_refused[0]); i++)
		if (extra_refused[i].value == value)
			return cli_usage_error("record", "%s", extra_refused[i].text);
	return cli_usage_error("record", "option not handled");
}

int
record_extra_check(const struct session_options *o)
{
	if (o->extra.all_user && o->extra.all_kernel)
		return cli_usage_error("record", "--all-user and --all-kernel exclude each other");
	if (o->extra.user_callchains && o->extra.kernel_callchains)
		return cli_usage_error(
			"record", "--user-callchains and --kernel-callchains exclude each other");
	return CLI_GO_ON;
}
