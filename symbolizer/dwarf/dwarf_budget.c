/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/dwarf/dwarf_budget.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#define GROUPS "/sys/fs/cgroup"

/* The number in the first line that begins with key; max where there is none. */
static uint64_t
number_in(const char *path, const char *key, uint64_t max)
{
	const size_t len = strlen(key);
	FILE *f = fopen(path, "re");
	unsigned long long n;
	uint64_t ret = max;
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		if (strncmp(line, key, len) == 0) {
			if (sscanf(line + len, "%llu", &n) == 1)
				ret = n;
			break;
		}
	if (f)
		fclose(f);
	return ret;
}

static uint64_t
less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* Of one group. What it has of files is given back where memory is asked for: a group that reads much is full of it. */
static uint64_t
one_available(const char *dir)
{
	char path[3 * PATH_MAX];
	uint64_t max, used, files;

	snprintf(path, sizeof(path), "%s/memory.max", dir);
	max = number_in(path, "", UINT64_MAX);
	if (max == UINT64_MAX)
		return max;
	snprintf(path, sizeof(path), "%s/memory.current", dir);
	used = number_in(path, "", 0);
	snprintf(path, sizeof(path), "%s/memory.stat", dir);
	files = number_in(path, "active_file ", 0);
	files += number_in(path, "inactive_file ", 0);
	return less(max, less(used, files));
}

uint64_t
dwarf_budget_group(const char *groups, const char *self)
{
	char group[PATH_MAX] = "", path[2 * PATH_MAX];
	FILE *f = fopen(self, "re");
	uint64_t ret = UINT64_MAX, one;
	char *slash;

	while (f && fgets(group, sizeof(group), f) && strncmp(group, "0::", 3) != 0)
		group[0] = '\0';
	if (f)
		fclose(f);
	group[strcspn(group, "\n")] = '\0';
	if (strncmp(group, "0::/", 4) != 0)
		return ret;
	/* That of the top may be a container's. */
	for (slash = group + strlen(group); slash; slash = strrchr(group, '/')) {
		*slash = '\0';
		snprintf(path, sizeof(path), "%s%s", groups, group + 3);
		one = one_available(path);
		if (one < ret)
			ret = one;
	}
	return ret;
}

void
dwarf_budget_init(struct dwarf_budget *b)
{
	const uint64_t kib = number_in("/proc/meminfo", "MemAvailable:", UINT64_MAX >> 10);
	const uint64_t group = dwarf_budget_group(GROUPS, "/proc/self/cgroup");
	const uint64_t bytes = (kib << 10 < group ? kib << 10 : group) / DWARF_BUDGET_PART;

	b->memory = bytes < DWARF_BUDGET_MEMORY_MAX ? bytes : DWARF_BUDGET_MEMORY_MAX;
	b->others_ms = DWARF_BUDGET_OTHERS_MS;
}

uint64_t
dwarf_budget_memory(const struct dwarf_budget *b, bool others, uint64_t at_once)
{
	const uint64_t max = others && b->memory > DWARF_BUDGET_OTHERS_MEMORY_MAX
		? DWARF_BUDGET_OTHERS_MEMORY_MAX
		: b->memory;

	return max / at_once;
}

unsigned int
dwarf_budget_take(struct dwarf_budget *b)
{
	const uint64_t part = b->others_ms / DWARF_BUDGET_OTHERS_PART;
	const unsigned int s = part < 1000 ? 1 : (unsigned int)(part / 1000);

	if (b->others_ms < 1000)
		return 0;
	b->others_ms -= s * UINT64_C(1000);
	return s;
}

void
dwarf_budget_return(struct dwarf_budget *b, unsigned int taken_s, uint64_t used_ms)
{
	const uint64_t taken_ms = taken_s * UINT64_C(1000);

	b->others_ms += used_ms < taken_ms ? taken_ms - used_ms : 0;
}
