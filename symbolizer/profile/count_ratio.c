/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/profile/count_ratio.h"

#include <linux/perf_event.h>

#define CACHE(cache, op, result)                                                                   \
	(PERF_COUNT_HW_CACHE_##cache | PERF_COUNT_HW_CACHE_OP_##op << 8 |                          \
	 PERF_COUNT_HW_CACHE_RESULT_##result << 16)

/* A part of what another event counts. */
static const struct ratio_part {
	uint32_t part, whole;
	double factor;
	const char *unit;
} ratio_parts[] = {
	{ PERF_COUNT_HW_INSTRUCTIONS, PERF_COUNT_HW_CPU_CYCLES, 1, "per cycle" },
	{ PERF_COUNT_HW_BRANCH_MISSES, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 100,
	  "% of all branches" },
	{ PERF_COUNT_HW_BRANCH_MISSES, PERF_COUNT_HW_INSTRUCTIONS, 1000, "per 1000 instructions" },
	{ PERF_COUNT_HW_CACHE_MISSES, PERF_COUNT_HW_CACHE_REFERENCES, 100,
	  "% of all cache references" },
	{ PERF_COUNT_HW_CACHE_MISSES, PERF_COUNT_HW_INSTRUCTIONS, 1000, "per 1000 instructions" },
	{ PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, PERF_COUNT_HW_CPU_CYCLES, 100, "% of all cycles" },
	{ PERF_COUNT_HW_STALLED_CYCLES_BACKEND, PERF_COUNT_HW_CPU_CYCLES, 100, "% of all cycles" },
};

static uint32_t
config_of(const struct counted *c)
{
	return (uint32_t)c->attr->config;
}

static bool
is_hardware(const struct counted *c)
{
	return c->attr->type == PERF_TYPE_HARDWARE;
}

/* The upper half of the config is the PMU, where a machine has several (PERF_PMU_TYPE_SHIFT). */
static bool
comparable(const struct counted *a, const struct counted *b)
{
	return a->attr->config >> 32 == b->attr->config >> 32 &&
		event_attr_has(a->attr, EVENT_ATTR_exclude_user) ==
		event_attr_has(b->attr, EVENT_ATTR_exclude_user) &&
		event_attr_has(a->attr, EVENT_ATTR_exclude_kernel) ==
		event_attr_has(b->attr, EVENT_ATTR_exclude_kernel);
}

bool
counted_is_time(const struct counted *c)
{
	return c->attr->type == PERF_TYPE_SOFTWARE &&
		(c->attr->config == PERF_COUNT_SW_CPU_CLOCK ||
		 c->attr->config == PERF_COUNT_SW_TASK_CLOCK);
}

/* That has counted something; NULL: none. */
static const struct counted *
find(const struct counted *all, size_t nr, const struct counted *beside, uint32_t type,
     uint32_t config)
{
	for (size_t i = 0; i < nr; i++)
		if (all[i].attr->type == type && config_of(&all[i]) == config &&
		    comparable(&all[i], beside) && read_total_scaled(&all[i].total) > 0)
			return &all[i];
	return NULL;
}

static double
part_of(const struct counted *part, const struct counted *whole, double factor)
{
	return factor * (double)read_total_scaled(&part->total) /
		(double)read_total_scaled(&whole->total);
}

/* L1-dcache-load-misses of L1-dcache-loads, and so on for each cache and operation. */
static size_t
cache_ratios(const struct counted *all, size_t nr, const struct counted *c,
	     struct count_ratio ret[static COUNT_RATIOS_MAX])
{
	const uint32_t miss = CACHE(L1D, READ, MISS);
	const struct counted *whole;
	size_t n = 0;

	if (!(config_of(c) & miss))
		return 0;
	whole = find(all, nr, c, PERF_TYPE_HW_CACHE, config_of(c) & ~miss);
	if (whole)
		ret[n++] = (struct count_ratio){ part_of(c, whole, 100), "% of all accesses" };
	whole = find(all, nr, c, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	if (whole)
		ret[n++] = (struct count_ratio){ part_of(c, whole, 1000), "per 1000 instructions" };
	return n;
}

size_t
count_ratios(const struct counted *all, size_t nr, size_t which, uint64_t ns,
	     struct count_ratio ret[static COUNT_RATIOS_MAX])
{
	const struct counted *c = &all[which], *whole;
	double seconds = (double)ns / 1e9;
	size_t n = 0;

	if (ns > 0 && counted_is_time(c)) {
		ret[0] = (struct count_ratio){ (double)c->total.value / (double)ns, "CPUs" };
		return 1;
	}
	if (c->attr->type == PERF_TYPE_HW_CACHE)
		n = cache_ratios(all, nr, c, ret);
	for (size_t i = 0; is_hardware(c) && i < sizeof(ratio_parts) / sizeof(*ratio_parts); i++) {
		const struct ratio_part *p = &ratio_parts[i];

		whole = p->part == config_of(c) ? find(all, nr, c, PERF_TYPE_HARDWARE, p->whole)
						: NULL;
		if (whole && n < COUNT_RATIOS_MAX)
			ret[n++] = (struct count_ratio){ part_of(c, whole, p->factor), p->unit };
	}
	if (n == 0 && ns > 0)
		ret[n++] = (struct count_ratio){ (double)read_total_scaled(&c->total) / seconds,
						 "a second" };
	return n;
}
