/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/host/host_modules.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes/array.h"

/* "name size references users state 0xaddress" */
static int
line_take(struct host_modules *m, const char *line)
{
	struct kallsyms_module *new;
	unsigned long long start, size;
	char state[16];

	if (m->nr == HOST_MODULES_MAX)
		return 0;
	if (array_reserve(m->ranges, m->nr, m->cap, 1) < 0)
		return -ENOMEM;
	new = &m->ranges[m->nr];
	if (sscanf(line, "%63s %llu %*s %*s %15s 0x%llx", new->name, &size, state, &start) != 4 ||
	    start == 0 || size == 0 || size > UINT64_MAX - start)
		return 0;
	new->start = start;
	new->end = start + size;
	new->starting = strcmp(state, "Loading") == 0;
	m->unsettled |= strcmp(state, "Live") != 0;
	m->nr++;
	return 0;
}

int
host_modules_read(const char *path, struct host_modules *ret)
{
	FILE *f = fopen(path ? path : "/proc/modules", "re");
	char *line = NULL;
	size_t cap = 0;
	int rc = 0;

	*ret = (struct host_modules){ .nr = 0 };
	if (!f)
		return 0;
	while (!rc && getline(&line, &cap, f) > 0)
		rc = line_take(ret, line);
	free(line);
	(void)fclose(f);
	ret->nr = kallsyms_settle_modules(ret->ranges, ret->nr);
	return rc;
}

void
host_modules_done(struct host_modules *m)
{
	free(m->ranges);
	*m = (struct host_modules){ .nr = 0 };
}

const struct kallsyms_module *
host_modules_find(const struct host_modules *m, const struct kallsyms_module *like)
{
	const struct kallsyms_module *r = kallsyms_module_at(m->ranges, m->nr, like->start);

	return r && r->start == like->start && strcmp(r->name, like->name) == 0 ? r : NULL;
}
