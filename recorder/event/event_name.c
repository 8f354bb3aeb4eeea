/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/event/event_name.h"

#include <linux/perf_event.h>
#include <stddef.h>
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

/* Rows of the generalized cache events; several spellings a row, the first one perf prints. */
static const char *const caches[][4] = {
	[PERF_COUNT_HW_CACHE_L1D] = { "L1-dcache", "l1-d", "l1d", "L1-data" },
	[PERF_COUNT_HW_CACHE_L1I] = { "L1-icache", "l1-i", "l1i", "L1-instruction" },
	[PERF_COUNT_HW_CACHE_LL] = { "LLC", "L2", NULL, NULL },
	[PERF_COUNT_HW_CACHE_DTLB] = { "dTLB", "d-tlb", "Data-TLB", NULL },
	[PERF_COUNT_HW_CACHE_ITLB] = { "iTLB", "i-tlb", "Instruction-TLB", NULL },
	[PERF_COUNT_HW_CACHE_BPU] = { "branch", "branches", "bpu", "bpc" },
	[PERF_COUNT_HW_CACHE_NODE] = { "node", NULL, NULL, NULL },
};

static const struct cache_op {
	const char *access, *miss;
	uint64_t op;
} cache_ops[] = {
	{ "", "-misses", PERF_COUNT_HW_CACHE_OP_READ },
	{ "-loads", "-load-misses", PERF_COUNT_HW_CACHE_OP_READ },
	{ "-stores", "-store-misses", PERF_COUNT_HW_CACHE_OP_WRITE },
	{ "-prefetches", "-prefetch-misses", PERF_COUNT_HW_CACHE_OP_PREFETCH },
};

static bool
find_op(const char *text, uint64_t *ret)
{
	for (size_t i = 0; i < sizeof(cache_ops) / sizeof(cache_ops[0]); i++) {
		const struct cache_op *o = &cache_ops[i];

		if (*o->access && strcasecmp(text, o->access) == 0) {
			*ret = o->op << 8 | (uint64_t)PERF_COUNT_HW_CACHE_RESULT_ACCESS << 16;
			return true;
		}
		if (strcasecmp(text, o->miss) == 0) {
			*ret = o->op << 8 | (uint64_t)PERF_COUNT_HW_CACHE_RESULT_MISS << 16;
			return true;
		}
	}
	return false;
}

static bool
find_cache(const char *name, uint64_t *ret_config)
{
	uint64_t op;

	for (size_t c = 0; c < sizeof(caches) / sizeof(caches[0]); c++) {
		for (size_t i = 0; i < 4 && caches[c][i]; i++) {
			size_t n = strlen(caches[c][i]);

			if (strncasecmp(name, caches[c][i], n) == 0 && find_op(name + n, &op)) {
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
