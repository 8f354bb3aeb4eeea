/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/event/event_name.h"

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* kind, number, names with aliases */
#define EVENT_NAMES(X)                                                                             \
	X(HARDWARE, HW_CPU_CYCLES, "cycles", "cpu-cycles")                                         \
	X(HARDWARE, HW_INSTRUCTIONS, "instructions", "")                                           \
	X(HARDWARE, HW_CACHE_REFERENCES, "cache-references", "")                                   \
	X(HARDWARE, HW_CACHE_MISSES, "cache-misses", "")                                           \
	X(HARDWARE, HW_BRANCH_INSTRUCTIONS, "branches", "branch-instructions")                     \
	X(HARDWARE, HW_BRANCH_MISSES, "branch-misses", "")                                         \
	X(HARDWARE, HW_BUS_CYCLES, "bus-cycles", "")                                               \
	X(HARDWARE, HW_STALLED_CYCLES_FRONTEND, "stalled-cycles-frontend", "idle-cycles-frontend") \
	X(HARDWARE, HW_STALLED_CYCLES_BACKEND, "stalled-cycles-backend", "idle-cycles-backend")    \
	X(HARDWARE, HW_REF_CPU_CYCLES, "ref-cycles", "")                                           \
	X(SOFTWARE, SW_CPU_CLOCK, "cpu-clock", "")                                                 \
	X(SOFTWARE, SW_TASK_CLOCK, "task-clock", "")                                               \
	X(SOFTWARE, SW_PAGE_FAULTS, "page-faults", "faults")                                       \
	X(SOFTWARE, SW_CONTEXT_SWITCHES, "context-switches", "cs")                                 \
	X(SOFTWARE, SW_CPU_MIGRATIONS, "cpu-migrations", "migrations")                             \
	X(SOFTWARE, SW_PAGE_FAULTS_MIN, "minor-faults", "")                                        \
	X(SOFTWARE, SW_PAGE_FAULTS_MAJ, "major-faults", "")                                        \
	X(SOFTWARE, SW_ALIGNMENT_FAULTS, "alignment-faults", "")                                   \
	X(SOFTWARE, SW_EMULATION_FAULTS, "emulation-faults", "")                                   \
	X(SOFTWARE, SW_DUMMY, "dummy", "")                                                         \
	X(SOFTWARE, SW_BPF_OUTPUT, "bpf-output", "")                                               \
	X(SOFTWARE, SW_CGROUP_SWITCHES, "cgroup-switches", "")

static const struct event_name {
	const char *names[2];
	uint32_t type;
	uint64_t config;
} names[] = {
#define X(kind, number, name, alias) { { name, alias }, PERF_TYPE_##kind, PERF_COUNT_##number },
	EVENT_NAMES(X)
#undef X
};

/* The generalized cache events: a cache, and what is done to it; the first spelling is the one perf prints. */
#define SPELLINGS 5

static const struct cache {
	const char *names[SPELLINGS];
	unsigned ops; /* that it has: bits PERF_COUNT_HW_CACHE_OP_*, as perf has them */
} caches[] = {
	[PERF_COUNT_HW_CACHE_L1D] = { { "L1-dcache", "l1-d", "l1d", "L1-data" }, 7 },
	[PERF_COUNT_HW_CACHE_L1I] = { { "L1-icache", "l1-i", "l1i", "L1-instruction" }, 5 },
	[PERF_COUNT_HW_CACHE_LL] = { { "LLC", "L2" }, 7 },
	[PERF_COUNT_HW_CACHE_DTLB] = { { "dTLB", "d-tlb", "Data-TLB" }, 7 },
	[PERF_COUNT_HW_CACHE_ITLB] = { { "iTLB", "i-tlb", "Instruction-TLB" }, 1 },
	[PERF_COUNT_HW_CACHE_BPU] = { { "branch", "branches", "bpu", "btb", "bpc" }, 1 },
	[PERF_COUNT_HW_CACHE_NODE] = { { "node" }, 7 },
};

/* Words behind a cache, in any order, an operation and a result at most; perf prints the first two together. */
static const char *const cache_ops[][SPELLINGS] = {
	[PERF_COUNT_HW_CACHE_OP_READ] = { "loads", "load", "read" },
	[PERF_COUNT_HW_CACHE_OP_WRITE] = { "stores", "store", "write" },
	[PERF_COUNT_HW_CACHE_OP_PREFETCH] = { "prefetches", "prefetch", "speculative-read",
					      "speculative-load" },
};
static const char *const cache_results[][SPELLINGS] = {
	[PERF_COUNT_HW_CACHE_RESULT_ACCESS] = { "refs", "reference", "ops", "access" },
	[PERF_COUNT_HW_CACHE_RESULT_MISS] = { "misses", "miss" },
};

/* Takes "-word" from the front of *text. -1: none of these stands there. */
static int
take_word(const char *const words[][SPELLINGS], int nr, const char **text)
{
	for (int i = 0; i < nr; i++) {
		for (size_t k = 0; k < SPELLINGS && words[i][k]; k++) {
			size_t n = strlen(words[i][k]);
			const char *end = *text + 1 + n;

			if (**text != '-' || strncasecmp(*text + 1, words[i][k], n) != 0 ||
			    (*end && *end != '-'))
				continue;
			*text = end;
			return i;
		}
	}
	return -1;
}

static bool
find_op(const char *text, unsigned ops, uint64_t *ret)
{
	int op = -1, result = -1;

	while (*text) {
		int o = op < 0 ? take_word(cache_ops, PERF_COUNT_HW_CACHE_OP_MAX, &text) : -1;
		int r = -1;

		if (o < 0 && result < 0)
			r = take_word(cache_results, PERF_COUNT_HW_CACHE_RESULT_MAX, &text);
		if (o < 0 && r < 0)
			return false;
		op = o >= 0 ? o : op;
		result = r >= 0 ? r : result;
	}
	op = op < 0 ? PERF_COUNT_HW_CACHE_OP_READ : op;
	result = result < 0 ? PERF_COUNT_HW_CACHE_RESULT_ACCESS : result;
	*ret = (uint64_t)op << 8 | (uint64_t)result << 16;
	return ops >> op & 1;
}

static bool
find_cache(const char *name, uint64_t *ret_config)
{
	uint64_t op;

	for (size_t c = 0; c < sizeof(caches) / sizeof(caches[0]); c++) {
		for (size_t i = 0; i < SPELLINGS && caches[c].names[i]; i++) {
			size_t n = strlen(caches[c].names[i]);

			if (strncasecmp(name, caches[c].names[i], n) == 0 &&
			    find_op(name + n, caches[c].ops, &op)) {
				*ret_config = c | op;
				return true;
			}
		}
	}
	return false;
}

bool
event_name_find(const char *name, uint32_t *ret_type, uint64_t *ret_config)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		for (size_t k = 0; k < 2; k++) {
			if (!*names[i].names[k] || strcasecmp(name, names[i].names[k]) != 0)
				continue;
			*ret_type = names[i].type;
			*ret_config = names[i].config;
			return true;
		}
	}
	if (find_cache(name, ret_config)) {
		*ret_type = PERF_TYPE_HW_CACHE;
		return true;
	}
	return false;
}

bool
event_name_each(bool (*see)(void *arg, const char *name, const char *alias, uint32_t type),
		void *arg)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!see(arg, names[i].names[0], names[i].names[1], names[i].type))
			return false;
	for (size_t c = 0; c < sizeof(caches) / sizeof(caches[0]); c++) {
		for (unsigned op = 0; op < PERF_COUNT_HW_CACHE_OP_MAX; op++) {
			char access[64], misses[64];

			if (!(caches[c].ops >> op & 1))
				continue;
			(void)snprintf(access, sizeof(access), "%s-%s", caches[c].names[0],
				       cache_ops[op][0]);
			(void)snprintf(misses, sizeof(misses), "%s-%s-misses", caches[c].names[0],
				       cache_ops[op][1]);
			if (!see(arg, access, "", PERF_TYPE_HW_CACHE) ||
			    !see(arg, misses, "", PERF_TYPE_HW_CACHE))
				return false;
		}
	}
	return true;
}
