/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cpu_list: sets of CPUs as the kernel and people write them: "0-3,7".
 */
#ifndef RECORDER_GROUND_CPU_LIST_H
#define RECORDER_GROUND_CPU_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CPU_LIST_SYSFS "/sys/devices/system/cpu"
#define CPU_LIST_MAX 65536 /* a CPU number from a person or sysfs is below this */

/* All zero: none. */
struct cpu_list {
	uint32_t *cpus; /* ascending, each once */
	size_t nr;
};

void cpu_list_done(struct cpu_list *l);

/*
 * Reads "0-3,7", white space at the end allowed. -EINVAL: not a list, empty, or a range
 * that goes down; -ERANGE: a CPU at or over CPU_LIST_MAX; -ENOMEM. *ret is then untouched.
 */
int cpu_list_parse(const char *text, struct cpu_list *ret);

/* Reads /sys/devices/system/cpu/NAME ("online", "possible"). */
int cpu_list_read(const char *name, struct cpu_list *ret);

bool cpu_list_has(const struct cpu_list *l, uint32_t cpu);

#endif
