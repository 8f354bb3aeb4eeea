/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/ground/cpu_list.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "recorder/ground/small_file.h"

#define CPU_SET_BYTES (CPU_LIST_MAX / 8)

void
cpu_list_done(struct cpu_list *l)
{
	free(l->cpus);
	*l = (struct cpu_list){ 0 };
}

static int
parse_cpu(const char **text, uint32_t *ret)
{
	const char *p = *text;
	uint32_t n = 0;

	if (!isdigit((unsigned char)*p))
		return -EINVAL;
	for (; isdigit((unsigned char)*p); p++) {
		n = n * 10 + (uint32_t)(*p - '0');
		if (n >= CPU_LIST_MAX)
			return -ERANGE;
	}
	*text = p;
	*ret = n;
	return 0;
}

static int
parse_ranges(const char *p, uint8_t *set)
{
	uint32_t first, last;
	int r;

	for (;;) {
		r = parse_cpu(&p, &first);
		if (r < 0)
			return r;
		last = first;
		if (*p == '-') {
			p++;
			r = parse_cpu(&p, &last);
			if (r < 0)
				return r;
		}
		if (last < first)
			return -EINVAL;
		for (uint32_t cpu = first; cpu <= last; cpu++)
			set[cpu / 8] |= (uint8_t)(1u << (cpu % 8));
		if (*p != ',')
			break;
		p++;
	}
	while (isspace((unsigned char)*p))
		p++;
	return *p ? -EINVAL : 0;
}

int
cpu_list_parse(const char *text, struct cpu_list *ret)
{
	uint8_t *set = calloc(1, CPU_SET_BYTES);
	uint32_t *cpus = NULL;
	size_t nr = 0;
	int r = -ENOMEM;

	if (!set)
		return -ENOMEM;
	r = parse_ranges(text, set);
	if (r < 0)
		goto out;
	for (size_t i = 0; i < CPU_SET_BYTES; i++)
		nr += (size_t)__builtin_popcount(set[i]);
	cpus = reallocarray(NULL, nr, sizeof(*cpus));
	if (!cpus) {
		r = -ENOMEM;
		goto out;
	}
	nr = 0;
	for (uint32_t cpu = 0; cpu < CPU_LIST_MAX; cpu++)
		if (set[cpu / 8] >> (cpu % 8) & 1)
			cpus[nr++] = cpu;
	*ret = (struct cpu_list){ cpus, nr };
out:
	free(set);
	return r;
}

int
cpu_list_read(const char *name, struct cpu_list *ret)
{
	char path[128], text[4096];
	ssize_t n;

	snprintf(path, sizeof(path), CPU_LIST_SYSFS "/%s", name);
	n = small_file_read(AT_FDCWD, path, text, sizeof(text));
	return n < 0 ? (int)n : cpu_list_parse(text, ret);
}

static int
cpu_cmp(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

bool
cpu_list_has(const struct cpu_list *l, uint32_t cpu)
{
	return l->nr && bsearch(&cpu, l->cpus, l->nr, sizeof(cpu), cpu_cmp);
}
