/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/live/live_modules.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "recorder/host/host.h"

/* Times that a look took, until the next: where something is not known or about to change, and in any case. */
#define PAUSE_UNKNOWN 1000
#define PAUSE 4000

struct live_modules {
	const char *path;
	struct host_modules now;
	uint64_t looked_ns, took_ns;
	bool told;
};

static int
modules_read(struct live_modules *m, struct host_modules *ret, uint64_t *ret_ns)
{
	const uint64_t cpu_ns = host_thread_cpu_ns();
	int rc;

	*ret_ns = host_now_ns();
	rc = host_modules_read(m->path, ret);
	m->took_ns = host_thread_cpu_ns() - cpu_ns;
	return rc;
}

struct live_modules *
live_modules_new(const char *path)
{
	struct live_modules *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->path = path;
	if (modules_read(m, &m->now, &m->looked_ns) == 0)
		return m;
	live_modules_free(m);
	return NULL;
}

void
live_modules_free(struct live_modules *m)
{
	if (m)
		host_modules_done(&m->now);
	free(m);
}

const struct host_modules *
live_modules_now(const struct live_modules *m)
{
	return &m->now;
}

void
live_module_id(const struct kallsyms_module *module, live_modules_fn *fn, void *arg)
{
	char path[KALLSYMS_MODULE_NAME_MAX + 2];
	struct buildid id;

	if (host_buildid_module(module->name, &id))
		return;
	(void)snprintf(path, sizeof(path), "[%s]", module->name);
	fn(arg, path, &id);
}

void
live_modules_each(const struct live_modules *m, live_modules_fn *fn, void *arg)
{
	for (size_t i = 0; i < m->now.nr; i++)
		live_module_id(&m->now.ranges[i], fn, arg);
}

void
live_modules_told(struct live_modules *m)
{
	m->told = true;
}

bool
live_modules_due(const struct live_modules *m, uint64_t now_ns, bool unknown)
{
	const uint64_t pause_ns =
		m->took_ns * (unknown || m->now.unsettled ? PAUSE_UNKNOWN : PAUSE);

	return m->told || now_ns - m->looked_ns >= pause_ns;
}

/* --- a look ------------------------------------------------------------------------------ */

/* Those of `were` that are not in `are`; or one of them that overlaps with like. */
static bool
has_left(const struct host_modules *were, const struct host_modules *are,
	 const struct kallsyms_module *like)
{
	for (size_t i = 0; i < were->nr && were->ranges[i].start < like->end; i++)
		if (were->ranges[i].end > like->start && !host_modules_find(are, &were->ranges[i]))
			return true;
	return false;
}

static bool
same_module(const struct kallsyms_module *a, const struct kallsyms_module *b)
{
	return a && a->end == b->end && a->starting == b->starting;
}

static int
tell_gone(struct live_modules *m, const struct host_modules *now, uint64_t now_ns,
	  live_modules_change_fn *fn, void *arg)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < m->now.nr; i++) {
		const struct kallsyms_module *r = &m->now.ranges[i];

		if (host_modules_find(now, r))
			continue;
		rc = fn(arg, r, true, has_left(now, &m->now, r) ? m->looked_ns : now_ns);
	}
	return rc;
}

static int
tell_came(struct live_modules *m, const struct host_modules *now, uint64_t now_ns,
	  live_modules_change_fn *fn, void *arg)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < now->nr; i++) {
		const struct kallsyms_module *r = &now->ranges[i];

		if (same_module(host_modules_find(&m->now, r), r))
			continue;
		rc = fn(arg, r, false, has_left(&m->now, now, r) ? now_ns : m->looked_ns);
	}
	return rc;
}

int
live_modules_look(struct live_modules *m, live_modules_change_fn *fn, void *arg)
{
	struct host_modules now;
	uint64_t now_ns;
	int rc = modules_read(m, &now, &now_ns);

	if (!rc)
		rc = tell_gone(m, &now, now_ns, fn, arg);
	if (!rc)
		rc = tell_came(m, &now, now_ns, fn, arg);
	if (rc) {
		host_modules_done(&now);
		return rc;
	}
	host_modules_done(&m->now);
	m->now = now;
	m->looked_ns = now_ns;
	m->told = false;
	return 0;
}
