/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/live/live_modules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recorder/host/kernel_buildid.h"

#define MODULES_MAX 4096

struct live_modules {
	const char *path;
	char *text; /* the names, each with its NUL */
	size_t len;
};

/* Adds the names in the file; no such file: a kernel without modules. */
static void
names_read(struct live_modules *m)
{
	char name[128], *line = NULL, *text;
	size_t cap = 0, len;
	FILE *f;

	f = fopen(m->path, "re");
	if (!f)
		return;
	for (int n = 0; n < MODULES_MAX && getline(&line, &cap, f) > 0; n++) {
		if (sscanf(line, "%127s", name) != 1)
			continue;
		len = strlen(name) + 1;
		text = realloc(m->text, m->len + len);
		if (!text)
			break;
		m->text = text;
		memcpy(text + m->len, name, len);
		m->len += len;
	}
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
	if (!m)
		return;
	free(m->text);
	free(m);
}

void
live_modules_each(const struct live_modules *m, live_modules_fn *fn, void *arg)
{
	struct buildid id;
	char path[132];

	for (size_t at = 0; at < m->len; at += strlen(m->text + at) + 1) {
		if (kernel_buildid_module(m->text + at, &id))
			continue;
		(void)snprintf(path, sizeof(path), "[%s]", m->text + at);
		fn(arg, path, &id);
	}
}

bool
live_modules_refresh(struct live_modules *m, live_modules_fn *fn, void *arg)
{
	struct live_modules now = { .path = m->path };
	bool same;

	names_read(&now);
	same = now.len == m->len && (!now.len || memcmp(now.text, m->text, now.len) == 0);
	free(m->text);
	*m = now;
	if (!same)
		live_modules_each(m, fn, arg);
	return !same;
}
