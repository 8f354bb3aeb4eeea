/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/event/event_def.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/string.h>

#include "format/record/event_attr.h"
#include "recorder/event/clock_period.h"

/*
 * PERF_PMU_TYPE_SHIFT (Linux 5.13): the number of the PMU in the upper half of the config of a
 * PERF_TYPE_HARDWARE or PERF_TYPE_HW_CACHE event. Without it these belong to one kind of core.
 */
#define PMU_TYPE_SHIFT 32

void
event_def_done(struct event_def *def)
{
	for (size_t i = 0; i < def->nr_kinds; i++)
		cpu_list_done(&def->kinds[i].cpus);
	free(def->kinds);
	def->kinds = NULL;
	def->nr_kinds = 0;
	free(def->filter);
	free(def->format);
	free(def->place);
	free(def->more);
	def->filter = def->format = def->place = NULL;
	def->more = NULL;
	def->nr_more = 0;
}

static int
add_kind(struct event_def *def, const char *pmu, struct event_kind **ret)
{
	struct event_kind *kinds = reallocarray(def->kinds, def->nr_kinds + 1, sizeof(*kinds));
	struct event_kind *k;

	if (!kinds)
		return -ENOMEM;
	def->kinds = kinds;
	k = &kinds[def->nr_kinds++];
	*k = (struct event_kind){ .type = def->attr.type,
				  .config = def->attr.config,
				  .exclude_guest = def->attr.exclude_guest,
				  .precise = def->attr.precise_ip };
	(void)strlcpy(k->pmu, pmu, sizeof(k->pmu));
	*ret = k;
	return 0;
}

/* The CPUs that a PMU has, or counts on. -ENOENT: each. */
static int
kind_cpus(struct event_def *def, const char *sysfs, const char *pmu, struct cpu_list *ret)
{
	int r = pmu_cpus(sysfs, pmu, ret, &def->for_all);

	/* A cpumask has one CPU of each package already. */
	if (def->for_all)
		def->per_package = false;
	if (!def->per_package)
		return r;
	if (r == 0)
		cpu_list_done(ret);
	r = pmu_package_cpus(sysfs, pmu, ret);
	def->for_all = r == 0;
	return r;
}

/* An event of a PMU by its name: on the CPUs that it has, or counts on. */
static int
named_kind(struct event_def *def, const char *sysfs, const char *pmu)
{
	struct event_kind *k;
	struct cpu_list cpus;
	int r = kind_cpus(def, sysfs, pmu, &cpus);

	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return r;
	r = add_kind(def, pmu, &k);
	if (r < 0) {
		cpu_list_done(&cpus);
		return r;
	}
	k->cpus = cpus;
	def->only_kinds = true;
	return 0;
}

static int
core_kinds(struct event_def *def, const char *sysfs)
{
	struct pmu_core *cores;
	struct event_kind *k;
	size_t nr;
	int r = pmu_cores(sysfs, &cores, &nr);

	for (size_t i = 0; r == 0 && nr > 1 && i < nr; i++) {
		r = add_kind(def, cores[i].name, &k);
		if (r < 0)
			break;
		k->cpus = cores[i].cpus;
		cores[i].cpus = (struct cpu_list){ 0 };
		if (def->attr.type == PERF_TYPE_RAW)
			k->type = cores[i].type;
		else
			k->config |= (uint64_t)cores[i].type << PMU_TYPE_SHIFT;
	}
	pmu_cores_free(cores, nr);
	return r;
}

int
event_def_kinds(struct event_def *def, const char *sysfs, const char *pmu)
{
	uint32_t type = def->attr.type;

	sysfs = sysfs ? sysfs : PMU_SYSFS;
	if (*pmu)
		return named_kind(def, sysfs, pmu);
	if (type == PERF_TYPE_HARDWARE || type == PERF_TYPE_HW_CACHE || type == PERF_TYPE_RAW)
		return core_kinds(def, sysfs);
	return 0;
}

int
event_def_look(struct event_def *def, const char *sysfs)
{
	/* The first CPU of a package may be another one now: both would count the package. */
	if (def->per_package)
		return 0;
	for (size_t i = 0; i < def->nr_kinds; i++) {
		struct event_kind *k = &def->kinds[i];
		struct cpu_list cpus;
		bool for_all;
		int r = pmu_cpus(sysfs ? sysfs : PMU_SYSFS, k->pmu, &cpus, &for_all);

		if (r == -ENOMEM)
			return r;
		if (r < 0)
			continue;
		cpu_list_done(&k->cpus);
		k->cpus = cpus;
	}
	return 0;
}

void
event_def_point(const struct event_def *def, struct perf_event_attr *attr)
{
	if (def->place)
		attr->config1 = (uintptr_t)def->place; /* uprobe_path, kprobe_func */
}

void
event_def_move(const struct event_def *def, size_t place, struct perf_event_attr *attr)
{
	if (place == 0)
		return;
	attr->config = def->more[place - 1].config;
	attr->config2 = def->more[place - 1].config2;
}

void
event_kind_apply(const struct event_kind *k, struct perf_event_attr *attr)
{
	attr->type = k->type;
	attr->config = k->config;
	attr->exclude_guest = k->exclude_guest;
	attr->precise_ip = k->precise & 3;
}

/* The recording keeps the frequency, as perf's does; each sample carries the actual period. */
static void
clock_to_period(struct perf_event_attr *attr, uint32_t cpu)
{
	if (!event_attr_is_clock(attr) || !attr->freq || !attr->sample_freq)
		return;
	attr->sample_period = clock_period_ns(attr->sample_freq, cpu);
	attr->freq = 0;
}

void
event_attr_copy_stack(struct perf_event_attr *attr, uint32_t bytes)
{
	if (!bytes)
		return;
	attr->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	attr->sample_regs_user = SESSION_REGISTERS;
	attr->sample_stack_user = bytes;
}

void
event_def_copy_stack(const struct event_def *def, struct perf_event_attr *attr)
{
	event_attr_copy_stack(attr, def->unwind_bytes);
}

bool
event_def_attr(const struct event_def *def, uint32_t cpu, struct perf_event_attr *ret)
{
	*ret = def->attr;
	event_def_copy_stack(def, ret);
	event_def_point(def, ret);
	clock_to_period(ret, cpu);
	for (size_t i = 0; i < def->nr_kinds; i++) {
		if (!cpu_list_has(&def->kinds[i].cpus, cpu))
			continue;
		event_kind_apply(&def->kinds[i], ret);
		return true;
	}
	return !def->only_kinds;
}

bool
event_def_samples(const struct event_def *def)
{
	return !def->sideband && !def->counts;
}

bool
event_def_sizes_stack(const struct event_def *def)
{
	return def->unwind_bytes && def->unwind_open && def->attr.freq && !def->probe &&
		!def->nr_more && !def->attr.context_switch &&
		def->attr.type != PERF_TYPE_BREAKPOINT && def->attr.type != PERF_TYPE_TRACEPOINT;
}

bool
event_def_samples_target(const struct event_def *def)
{
	return event_def_samples(def) && !def->everybody;
}

bool
event_attr_is_clock(const struct perf_event_attr *attr)
{
	return event_attr_counts_time(attr->type, attr->config);
}

/* The upper half of the addresses: x86, arm64, riscv. */
bool
event_attr_breaks_in_kernel(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_BREAKPOINT && attr->bp_addr >> 63;
}

uint64_t
event_attr_bits(const struct perf_event_attr *attr)
{
	uint64_t bits;

	memcpy(&bits, (const uint8_t *)&attr->read_format + 8, sizeof(bits));
	return bits;
}

void
event_attr_set_bits(struct perf_event_attr *attr, uint64_t bits)
{
	memcpy((uint8_t *)&attr->read_format + 8, &bits, sizeof(bits));
}

uint32_t
event_attr_size(const struct perf_event_attr *attr)
{
	if (attr->config4)
		return PERF_ATTR_SIZE_VER9;
	return attr->config3 ? PERF_ATTR_SIZE_VER8 : PERF_ATTR_SIZE_VER7;
}
