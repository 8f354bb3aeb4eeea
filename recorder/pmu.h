/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pmu: a source of events that the kernel describes in sysfs: its number, the terms that
 * make up a config, and events with names of their own.
 */
#ifndef RECORDER_PMU_H
#define RECORDER_PMU_H

#include <linux/perf_event.h>
#include <stddef.h>

#define PMU_NAME_BYTES 64

/* Where the PMUs are when nobody says otherwise. */
#define PMU_SYSFS "/sys"

/* Fills attr->type. -ENOENT: no such PMU. */
int pmu_type(const char *sysfs, const char *pmu, struct perf_event_attr *attr);

/*
 * Puts one term ("umask", value 3) where the PMU's format says, or config, config1,
 * config2 as they are. -ENOENT: the PMU has no such term; -ERANGE: the value has more bits.
 */
int pmu_term(const char *sysfs, const char *pmu, const char *term, unsigned long long value,
	     struct perf_event_attr *attr);

/* The terms that the PMU's event of this name stands for ("event=0x3c"). -ENOENT. */
int pmu_alias(const char *sysfs, const char *pmu, const char *event, char *ret, size_t ret_bytes);

/* The PMU that has an event of this name, for events given without their PMU. -ENOENT. */
int pmu_find(const char *sysfs, const char *event, char ret_pmu[PMU_NAME_BYTES]);

#endif
