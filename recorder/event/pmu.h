/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pmu: a source of events that the kernel describes in sysfs: its number, the terms that
 * make up a config, and events with names of their own.
 */
#ifndef RECORDER_EVENT_PMU_H
#define RECORDER_EVENT_PMU_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/record/count_unit.h"
#include "recorder/ground/cpu_list.h"

#define PMU_NAME_BYTES 64

/* Where the PMUs are when nobody says otherwise. */
#define PMU_SYSFS "/sys"
#define PMU_DEVICES "bus/event_source/devices" /* below it */

/* For the type of an attr. -ENOENT: no such PMU. */
int pmu_type(const char *sysfs, const char *pmu, uint32_t *ret);

/*
 * Puts one term ("umask", value 3) where the PMU's format says, or config, config1,
 * config2 as they are. -ENOENT: the PMU has no such term; -ERANGE: the value has more bits.
 */
int pmu_term(const char *sysfs, const char *pmu, const char *term, unsigned long long value,
	     struct perf_event_attr *attr);

/* Which bits a term is ("config:0-7"). -ENOENT. */
int pmu_format(const char *sysfs, const char *pmu, const char *term, char *ret, size_t ret_bytes);

/* A file with a number, in dir ("caps/", or "" for the PMU's own). -ENOENT, -EINVAL. */
int pmu_number(const char *sysfs, const char *pmu, const char *dir, const char *file, int base,
	       uint64_t *ret);

/* The terms that the PMU's event of this name stands for ("event=0x3c"). -ENOENT. */
int pmu_alias(const char *sysfs, const char *pmu, const char *event, char *ret, size_t ret_bytes);

/*
 * What counts of that event mean: what stands in NAME.scale, NAME.unit, NAME.snapshot and NAME.per-pkg beside it. What
 * is not there, or is not well-formed, is not told.
 */
void pmu_unit(const char *sysfs, const char *pmu, const char *event, struct count_unit *ret);

/*
 * The CPUs whose core PMU it is ("cpus"), or on which it counts for all ("cpumask", and then
 * *ret_for_all). -ENOENT: neither is said, and it is on every CPU; -EINVAL.
 */
int pmu_cpus(const char *sysfs, const char *pmu, struct cpu_list *ret, bool *ret_for_all);

/*
 * Of the CPUs whose core PMU it is, or of those that are online, the first one of each package (of a package with several
 * dies, of each die): for an event that each of them counts for its whole package.
 */
int pmu_package_cpus(const char *sysfs, const char *pmu, struct cpu_list *ret);

/* A PMU of one kind of core. */
struct pmu_core {
	char name[PMU_NAME_BYTES];
	uint32_t type;
	struct cpu_list cpus;
};

/*
 * The core PMUs of a machine whose cores are of several kinds, by their names: those that say which
 * "cpus" they are of. None: all are alike. 0, -ENOMEM.
 */
int pmu_cores(const char *sysfs, struct pmu_core **ret, size_t *ret_nr);
void pmu_cores_free(struct pmu_core *cores, size_t nr);

struct pmu_names {
	char (*names)[PMU_NAME_BYTES];
	size_t nr;
};

/*
 * The PMUs, by name, that are called so (NULL: all): exactly, else by a pattern of fnmatch(3), or by
 * NAME_0, NAME_1...; and have an event of this name (NULL: whatever). -ENOENT: none; -ENODEV: sysfs has no directory of
 * PMUs; -ENOMEM, -errno.
 */
int pmu_matching(const char *sysfs, const char *name, const char *event, struct pmu_names *ret);
void pmu_names_done(struct pmu_names *names);

/*
 * Does it count the events that every core has (cycles, L1-dcache-loads)? *ret_type: its type where that has to
 * be told with them, else 0.
 */
bool pmu_is_core(const char *sysfs, const char *pmu, uint32_t *ret_type);

#endif
