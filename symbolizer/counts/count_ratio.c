/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/counts/count_ratio.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>

#include <bsd/string.h>

#include "format/bytes/array.h"

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

/* --- lists -------------------------------------------------------------------------------- */

/*
 * What an event counts, and where: events of one kind are held against those of another. The upper half of the
 * config is the PMU, where a machine has several (PERF_PMU_TYPE_SHIFT).
 */
struct counted_kind {
	uint32_t type;
	uint64_t config;
	bool no_user, no_kernel;
};

static struct counted_kind
kind_of(const struct event_attr *attr, uint32_t type, uint32_t config)
{
	return (struct counted_kind){
		.type = type,
		.config = (attr->config >> 32 << 32) | config,
		.no_user = event_attr_has(attr, EVENT_ATTR_exclude_user),
		.no_kernel = event_attr_has(attr, EVENT_ATTR_exclude_kernel),
	};
}

static uint32_t
kind_hash(const struct counted_kind *k)
{
	return (uint32_t)slots_mix(slots_mix(k->type, k->config),
				   (uint64_t)k->no_user << 1 | (uint64_t)k->no_kernel);
}

static bool
same_kind(const void *owner, uint32_t index, const void *key)
{
	const struct event_attr *attr = ((const struct counted_list *)owner)->v[index].attr;
	const struct counted_kind *k = key;
	const struct counted_kind of = kind_of(attr, attr->type, (uint32_t)attr->config);

	return of.type == k->type && of.config == k->config && of.no_user == k->no_user &&
		of.no_kernel == k->no_kernel;
}

void
counted_list_done(struct counted_list *l)
{
	free(l->v);
	slots_done(&l->slots);
	*l = (struct counted_list){ 0 };
}

void
counted_list_clear(struct counted_list *l)
{
	l->nr = 0;
	slots_clear(&l->slots);
}

int
counted_list_add(struct counted_list *l, const struct counted *c)
{
	const struct counted_kind kind = kind_of(c->attr, c->attr->type, config_of(c));
	const uint32_t hash = kind_hash(&kind);

	if (array_reserve(l->v, l->nr, l->cap, 1) != 0)
		return -FMT_E_NOMEM;
	l->v[l->nr++] = *c;
	if ((kind.type != PERF_TYPE_HARDWARE && kind.type != PERF_TYPE_HW_CACHE) ||
	    read_total_scaled(&c->total) == 0 ||
	    slots_find(&l->slots, hash, same_kind, l, &kind) != SLOTS_NONE)
		return 0;
	return slots_add(&l->slots, hash, l->nr - 1);
}

/* That has counted something; NULL: none. */
static const struct counted *
find(const struct counted_list *all, const struct counted *beside, uint32_t type, uint32_t config)
{
	const struct counted_kind kind = kind_of(beside->attr, type, config);
	const uint32_t at = slots_find(&all->slots, kind_hash(&kind), same_kind, all, &kind);

	return at == SLOTS_NONE ? NULL : &all->v[at];
}

/* --- ratios ------------------------------------------------------------------------------- */

static bool
is_hardware(const struct counted *c)
{
	return c->attr->type == PERF_TYPE_HARDWARE;
}

bool
counted_is_time(const struct counted *c)
{
	return event_attr_counts_time(c->attr->type, c->attr->config);
}

static double
part_of(const struct counted *part, const struct counted *whole, double factor)
{
	return factor * (double)read_total_scaled(&part->total) /
		(double)read_total_scaled(&whole->total);
}

/* L1-dcache-load-misses of L1-dcache-loads, and so on for each cache and operation. */
static size_t
cache_ratios(const struct counted_list *all, const struct counted *c,
	     struct count_ratio ret[static COUNT_RATIOS_MAX])
{
	const uint32_t miss = CACHE(L1D, READ, MISS);
	const struct counted *whole;
	size_t n = 0;

	if (!(config_of(c) & miss))
		return 0;
	whole = find(all, c, PERF_TYPE_HW_CACHE, config_of(c) & ~miss);
	if (whole)
		ret[n++] = (struct count_ratio){ part_of(c, whole, 100), "% of all accesses", "" };
	whole = find(all, c, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	if (whole)
		ret[n++] = (struct count_ratio){ part_of(c, whole, 1000), "per 1000 instructions",
						 "" };
	return n;
}

size_t
count_ratios(const struct counted_list *all, size_t which, uint64_t ns,
	     struct count_ratio ret[static COUNT_RATIOS_MAX])
{
	const struct counted *c = &all->v[which], *whole;
	double seconds = (double)ns / 1e9;
	size_t n = 0;

	if (ns > 0 && counted_is_time(c)) {
		ret[0] = (struct count_ratio){ (double)c->total.value / (double)ns, "CPUs", "" };
		return 1;
	}
	if (c->attr->type == PERF_TYPE_HW_CACHE)
		n = cache_ratios(all, c, ret);
	for (size_t i = 0; is_hardware(c) && i < sizeof(ratio_parts) / sizeof(*ratio_parts); i++) {
		const struct ratio_part *p = &ratio_parts[i];

		whole = p->part == config_of(c) ? find(all, c, PERF_TYPE_HARDWARE, p->whole) : NULL;
		if (whole && n < COUNT_RATIOS_MAX)
			ret[n++] =
				(struct count_ratio){ part_of(c, whole, p->factor), p->unit, "" };
	}
	if (n == 0 && ns > 0 && !c->total.level) {
		ret[n] = (struct count_ratio){
			.value = count_unit_value(&c->unit, read_total_scaled(&c->total)) / seconds,
			.unit = "a second"
		};
		(void)strlcpy(ret[n++].of, c->unit.name, sizeof(ret->of));
	}
	return n;
}

void
count_ratio_unit(const struct count_ratio *ratio, char text[static COUNT_RATIO_UNIT_BYTES])
{
	(void)snprintf(text, COUNT_RATIO_UNIT_BYTES, "%s%s%s", ratio->of, *ratio->of ? " " : "",
		       ratio->unit);
}
