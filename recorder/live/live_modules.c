/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/live/live_modules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes/buf.h"
#include "recorder/host/host.h"

#define MODULES_MAX 4096

struct live_modules {
	const char *path;
	struct buf names; /* each with its NUL */
};

/* Adds the names in the file; no such file: a kernel without modules. */
static void
names_read(struct live_modules *m)
{
	char name[128], *line = NULL;
	size_t cap = 0;
	FILE *f;

	f = fopen(m->path, "re");
	if (!f)
		return;
	for (int n = 0; n < MODULES_MAX && getline(&line, &cap, f) > 0; n++)
		if (sscanf(line, "%127s", name) == 1)
			buf_append(&m->names, name, strlen(name) + 1);
	free(line);
	(void)fclose(f);
}

struct live_modules *
live_modules_new(const char *path)
{
	struct live_modules *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->path = path ? path : "/proc/modules";
	names_read(m);
	return m;
}

void
live_modules_free(struct live_modules *m)
{
	if (m)
		buf_done(&m->names);
	free(m);
}

void
live_modules_each(const struct live_modules *m, live_modules_fn *fn, void *arg)
{
	struct span names = buf_span(&m->names);
	struct buildid id;
	const char *name;
	char path[132];

	while (span_string(&names, &name)) {
		if (host_buildid_module(name, &id))
			continue;
		(void)snprintf(path, sizeof(path), "[%s]", name);
		fn(arg, path, &id);
	}
}

bool
live_modules_refresh(struct live_modules *m, live_modules_fn *fn, void *arg)
{
	struct live_modules now = { .path = m->path };
	bool same;

	names_read(&now);
	same = now.names.len == m->names.len &&
		(!now.names.len || memcmp(now.names.p, m->names.p, now.names.len) == 0);
	buf_done(&m->names);
	*m = now;
	if (!same)
		live_modules_each(m, fn, arg);
	return !same;
}
