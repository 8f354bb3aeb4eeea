/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/record/record_extra.h"

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/utsname.h>
#include <time.h>

#include <bsd/stdlib.h>

#include "symbolizer/cli/cli.h"
#include "symbolizer/dump/register_name.h"

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
	{ RECORD_EXTRA_MEM_INFO, PERF_SAMPLE_DATA_SRC, NO_KNOB },
	{ RECORD_EXTRA_DATA_PAGE, PERF_SAMPLE_DATA_PAGE_SIZE, NO_KNOB },
	{ RECORD_EXTRA_CODE_PAGE, PERF_SAMPLE_CODE_PAGE_SIZE, NO_KNOB },
	{ RECORD_EXTRA_TRANSACTION, PERF_SAMPLE_TRANSACTION, NO_KNOB },
	{ RECORD_EXTRA_ALL_USER, 0, KNOB(all_user) },
	{ RECORD_EXTRA_ALL_KERNEL, 0, KNOB(all_kernel) },
	{ RECORD_EXTRA_USER_CHAINS, 0, KNOB(user_callchains) },
	{ RECORD_EXTRA_KERNEL_CHAINS, 0, KNOB(kernel_callchains) },
	{ 'i', 0, KNOB(no_inherit) },
	{ RECORD_EXTRA_GROUP, 0, KNOB(group) },
	{ RECORD_EXTRA_INHERIT, 0, KNOB(inherit) },
	{ RECORD_EXTRA_PER_THREAD, 0, KNOB(per_thread) },
	{ 's', 0, KNOB(stat) },
	{ 'n', 0, KNOB(no_samples) },
	{ 'R', PERF_SAMPLE_RAW, NO_KNOB },
	{ RECORD_EXTRA_SWITCH_EVENTS, 0, KNOB(switch_events) },
	{ RECORD_EXTRA_NO_BUFFERING, 0, KNOB(no_buffering) },
	{ RECORD_EXTRA_STRICT_FREQ, 0, KNOB(strict_freq) },
	{ RECORD_EXTRA_SKIP_MISSING, 0, KNOB(skip_missing) },
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

static int
list_registers(const char *arch)
{
	const char *name;

	for (unsigned i = 0; i < 64; i++) {
		name = SESSION_REGISTERS >> i & 1 ? register_name(arch, i) : NULL;
		if (name)
			printf("%s\n", name);
	}
	return EXIT_DONE;
}

/* Why a register that this CPU may well have is not to be had; NULL: there is none of this name. */
static const char *
register_refused(const char *machine, uint64_t allowed, const char *word, size_t bytes)
{
	uint64_t mask = 0;
	const char *wrong;
	size_t n;

	if (strncmp(machine, "x86", 3) != 0)
		return NULL;
	if (bytes > 3 && (strncmp(word, "ymm", 3) == 0 || strncmp(word, "zmm", 3) == 0))
		return "perf_event_open(2) has no bits for registers of AVX and AVX-512: of vector "
		       "registers xmm0 to xmm15 can be asked for (-I)";
	/* Words behind it may be others. */
	if (allowed & SESSION_VECTORS ||
	    (register_name_parse(machine, SESSION_VECTORS, word, &mask, &wrong, &n) < 0 &&
	     wrong == word))
		return NULL;
	return "the kernel copies no vector registers of user space: --intr-regs has those of the "
	       "sampled instruction, where a PEBS of Intel does";
}

static int
set_registers(const char *option, const char *text, uint64_t allowed, uint64_t *ret)
{
	struct utsname host;
	const char *word, *hint;
	size_t bytes;

	if (!SESSION_REGISTERS || uname(&host) < 0)
		return cli_usage_error("record", "%s: not on this architecture", option);
	if (!text) {
		*ret = SESSION_REGISTERS;
		return CLI_GO_ON;
	}
	if (strcmp(text, "?") == 0)
		return list_registers(host.machine);
	if (register_name_parse(host.machine, allowed, text, ret, &word, &bytes) == 0)
		return CLI_GO_ON;
	hint = register_refused(host.machine, allowed, word, bytes);
	if (hint)
		return cli_usage_error("record", "%s=%s: '%.*s': %s", option, text, (int)bytes,
				       word, hint);
	return cli_usage_error("record", "%s=%s: '%.*s' is no register; %s='?' lists them", option,
			       text, (int)bytes, word, option);
}

/* perf's names, some twice, and the numbers of clock_gettime(2), which perf takes as well. */
static const struct clock_word {
	const char *name;
	clockid_t clock;
} clock_words[] = {
	{ "monotonic", CLOCK_MONOTONIC },
	{ "mono", CLOCK_MONOTONIC },
	{ "monotonic_raw", CLOCK_MONOTONIC_RAW },
	{ "raw", CLOCK_MONOTONIC_RAW },
	{ "realtime", CLOCK_REALTIME },
	{ "real", CLOCK_REALTIME },
	{ "boottime", CLOCK_BOOTTIME },
	{ "boot", CLOCK_BOOTTIME },
	{ "tai", CLOCK_TAI },
};

/*
 * The times of losses, gaps, waits and JIT dumps, and of what /proc told, stand among those of the kernel's
 * records and are compared with them: all are of one clock. The file has what others said at the same moment.
 */
static int
set_clock(const char *text)
{
	const char *word = strncasecmp(text, "CLOCK_", 6) == 0 ? text + 6 : text, *problem;
	long long number = strtonum(text, 0, INT32_MAX, &problem);

	for (size_t i = 0; i < sizeof(clock_words) / sizeof(clock_words[0]); i++) {
		const struct clock_word *w = &clock_words[i];

		if (problem ? strcasecmp(word, w->name) != 0 : number != w->clock)
			continue;
		if (w->clock == CLOCK_MONOTONIC)
			return CLI_GO_ON;
		return cli_usage_error(
			"record",
			"-k %s: times of a recording are of CLOCK_MONOTONIC, which those of JIT "
			"dumps, losses and gaps are of as well; it has what the wall clock and "
			"the boot clock said at the same moments, and reading commands tell and "
			"take wall-clock times",
			text);
	}
	return cli_usage_error("record", "-k %s: no clock; it is monotonic", text);
}

static int
set_max_stack(struct session_extra *extra, const char *text)
{
	const char *problem;
	long long frames = strtonum(text, 1, SESSION_MAX_STACK, &problem);

	if (problem)
		return cli_usage_error("record", "--max-stack %s: %s", text, problem);
	extra->max_stack = (uint16_t)frames;
	return CLI_GO_ON;
}

/* Those that are more than bits. False: none of them. */
static bool
set_value(struct session_extra *extra, int value, const char *text, int *ret)
{
	*ret = CLI_GO_ON;
	switch (value) {
	case 'j':
		*ret = set_branches(extra, text);
		return true;
	case 'b':
		extra->branches |= PERF_SAMPLE_BRANCH_ANY;
		return true;
	case 'I':
		*ret = set_registers("--intr-regs", text, SESSION_REGISTERS | SESSION_VECTORS,
				     &extra->intr_regs);
		return true;
	case RECORD_EXTRA_USER_REGS:
		*ret = set_registers("--user-regs", text, SESSION_REGISTERS, &extra->user_regs);
		return true;
	case RECORD_EXTRA_MAX_STACK:
		*ret = set_max_stack(extra, text);
		return true;
	case 'k':
		*ret = set_clock(text);
		return true;
	}
	return false;
}

int
record_extra_set(struct session_options *options, int value, const char *text)
{
	struct session_extra *extra = &options->extra;
	int status;

	if (set_value(extra, value, text, &status))
		return status;
	for (size_t i = 0; i < sizeof(extra_bits) / sizeof(extra_bits[0]); i++) {
		if (extra_bits[i].value != value)
			continue;
		extra->sample_type |= extra_bits[i].sample_type;
		if (extra_bits[i].knob != NO_KNOB)
			*(bool *)((char *)extra + extra_bits[i].knob) = true;
		return CLI_GO_ON;
	}
	return cli_usage_error("record", "option not handled");
}

int
record_extra_check(struct session_options *o)
{
	if (o->extra.per_thread &&
	    (o->target == SESSION_ALL || o->target == SESSION_CGROUP || o->cpus))
		return cli_usage_error(
			"record", "--per-thread is of a command, -p, -t or -u, and of no CPUs");
	if (o->extra.per_thread && o->extra.inherit)
		return cli_usage_error("record",
				       "--per-thread and --inherit exclude each other: the "
				       "kernel has no such rings");
	if (o->extra.inherit && o->extra.no_inherit)
		return cli_usage_error("record", "--inherit and -i exclude each other");
	if (o->target == SESSION_TID && !o->extra.inherit)
		o->extra.no_inherit = true;
	if (o->extra.all_user && o->extra.all_kernel)
		return cli_usage_error("record", "--all-user and --all-kernel exclude each other");
	if (o->extra.user_callchains && o->extra.kernel_callchains)
		return cli_usage_error(
			"record", "--user-callchains and --kernel-callchains exclude each other");
	return CLI_GO_ON;
}
