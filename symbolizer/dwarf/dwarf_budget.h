/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dwarf_budget: what all the processes that read debug information for one look may take together: of memory at
 * any time, and of CPU time for files of other users than root and the reader.
 */
#ifndef SYMBOLIZER_DWARF_DWARF_BUDGET_H
#define SYMBOLIZER_DWARF_DWARF_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#define DWARF_BUDGET_PART 4 /* of the memory that is available */
#define DWARF_BUDGET_MEMORY_MAX (UINT64_C(4) << 30)
#define DWARF_BUDGET_OTHERS_MEMORY_MAX (UINT64_C(1) << 30)
#define DWARF_BUDGET_OTHERS_MS UINT64_C(60000)
#define DWARF_BUDGET_OTHERS_PART 4 /* of what is left of that, for one file */

struct dwarf_budget {
	uint64_t memory;    /* bytes of all workers */
	uint64_t others_ms; /* that is left for files of others */
};

/* By what is available now, on the machine and in our control group. */
void dwarf_budget_init(struct dwarf_budget *b);

/* What is available in our control group, and in each above it: self is a /proc/PID/cgroup; UINT64_MAX: they have no bound. */
uint64_t dwarf_budget_group(const char *groups, const char *self);

/* Bytes that each of so many at a time may have. */
uint64_t dwarf_budget_memory(const struct dwarf_budget *b, bool others, uint64_t at_once);
/* Takes the time of one file of others; 0: there is none left. In whole seconds, as limits of processes are. */
unsigned int dwarf_budget_take(struct dwarf_budget *b);
/* Gives back what was not used of it. */
void dwarf_budget_return(struct dwarf_budget *b, unsigned int taken_s, uint64_t used_ms);

#endif
