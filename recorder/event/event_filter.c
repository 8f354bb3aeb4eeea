/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/event/event_filter.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "format/bytes/buf.h"
#include "format/record/tracepoint.h"
#include "recorder/event/event_aux.h"
#include "recorder/event/event_open.h"
#include "recorder/event/tracefs.h"
#include "recorder/ground/small_file.h"

#define DESCENDANTS_DEPTH 4 /* the keeper of helpers, and they */
#define CHILDREN_BYTES 4096

/* --- whose ------------------------------------------------------------------------------- */

/* The kernel's perf_event_is_tracing(). */
static bool
is_tracing(const struct event_spec *spec)
{
	return spec->attr.type == PERF_TYPE_TRACEPOINT || strcmp(spec->pmu, "kprobe") == 0 ||
		strcmp(spec->pmu, "uprobe") == 0;
}

int
event_filter_specs(const struct session_filter *filter, struct event_spec_list *list, size_t from,
		   struct session_error *error)
{
	if (!filter || (!filter->text && !filter->exclude_self))
		return 0;
	for (size_t i = from; i < list->nr; i++) {
		struct event_spec *spec = &list->specs[i];

		if (filter->text && event_aux_tracer(spec->pmu))
			return session_usage(error,
					     "%s is a trace, which is recorded whole: address "
					     "filters are not set, and its decoder chooses what "
					     "to show; perf record --filter sets them, and spoor "
					     "reads its perf.data",
					     spec->name);
		if (!is_tracing(spec))
			return session_usage(error,
					     "%s is no tracepoint: %s is for those, and for the "
					     "-e before it",
					     spec->name,
					     filter->text ? "--filter" : "--exclude-perf");
		spec->filter = filter;
	}
	return 0;
}

int
event_filter_def(const struct event_spec *spec, struct event_def *def)
{
	if (spec->filter && spec->filter->text) {
		def->filter = strdup(spec->filter->text);
		if (!def->filter)
			return -ENOMEM;
	}
	def->exclude_self = def->filter_due = spec->filter && spec->filter->exclude_self;
	/* Without its fields their meaning is of no use. */
	if (def->attr.type == PERF_TYPE_TRACEPOINT && (def->attr.sample_type & PERF_SAMPLE_RAW))
		def->format = tracefs_format(TRACEFS_ROOT,
					     spec->tracepoint ? spec->tracepoint : def->name,
					     def->attr.config);
	return 0;
}

/* --- setting ----------------------------------------------------------------------------- */

/* " (its fields: prev_comm prev_pid)", or "". */
static void
list_fields(const struct tracepoint *t, char *to, size_t cap)
{
	size_t n = (size_t)snprintf(to, cap, " (its fields:");

	for (size_t i = 0; i < t->nr_fields && n < cap; i++)
		n += (size_t)snprintf(to + n, cap - n, " %s", t->fields[i].name);
	if (n + 1 < cap)
		(void)snprintf(to + n, cap - n, ")");
}

static int
filter_refused(const struct event_def *def, int err, struct session_error *error)
{
	struct tracepoint *t = NULL;
	struct tracefs_fault fault;
	char fields[256] = "";
	int r = -ENOENT;

	if (!error)
		return err;
	if (def->format && tracepoint_parse(def->format, &t) == 0)
		r = tracefs_filter_fault(TRACEFS_ROOT, t->system, t->name, def->filter, &fault);
	if (r == 0 && strcmp(fault.text, "Field not found") == 0)
		list_fields(t, fields, sizeof(fields));
	tracepoint_free(t);
	if (r < 0)
		return session_fail(error, err, "%s: the kernel refuses the filter '%s': %s",
				    def->name, def->filter, strerror(-err));
	return session_fail(error, err,
			    "%s: the kernel refuses the filter '%s': %s, at character %zu%s",
			    def->name, def->filter, fault.text, fault.at + 1, fields);
}

int
event_filter_set(const struct event_def *def, int fd, struct session_error *error)
{
	if (!def->filter || ioctl(fd, PERF_EVENT_IOC_SET_FILTER, def->filter) == 0)
		return 0;
	return filter_refused(def, -errno, error);
}

int
event_filter_try(const struct event_plan *plan, const struct target *target,
		 struct session_error *error)
{
	const bool cpus = target_of_cpus(target) && target->sampled.nr > 0;
	int r = 0;

	for (size_t i = 0; r == 0 && i < plan->nr; i++) {
		const struct event_def *def = &plan->defs[i];
		struct perf_event_attr attr = def->attr;
		int fd;

		if (!def->filter)
			continue;
		event_def_point(def, &attr);
		attr.disabled = 1;
		attr.enable_on_exec = 0;
		fd = event_open(&attr, cpus ? -1 : 0, cpus ? (int)target->sampled.cpus[0] : -1,
				PERF_FLAG_FD_CLOEXEC);
		/* That it opens has been tried: only what is new is told. */
		if (fd < 0)
			continue;
		r = event_filter_set(def, fd, error);
		close(fd);
	}
	return r;
}

/* --- ourselves --------------------------------------------------------------------------- */

static void
put_task(struct buf *out, long tid)
{
	char text[48];

	(void)snprintf(text, sizeof(text), "%scommon_pid != %ld", out->len ? " && " : "", tid);
	buf_text(out, text);
}

/* A process's threads, and what they have started. */
static void
put_process(struct buf *out, pid_t pid, pid_t but, int depth)
{
	char path[64], children[CHILDREN_BYTES], *at, *end;
	struct dirent *e;
	DIR *d;

	(void)snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	d = opendir(path);
	while (d && (e = readdir(d))) {
		long tid = strtol(e->d_name, NULL, 10), child;

		if (tid <= 0)
			continue;
		put_task(out, tid);
		(void)snprintf(path, sizeof(path), "/proc/%d/task/%ld/children", (int)pid, tid);
		if (depth == 0 || small_file_read(AT_FDCWD, path, children, sizeof(children)) < 0)
			continue;
		for (at = children; (child = strtol(at, &end, 10)) > 0 && end > at; at = end)
			if (child != but)
				put_process(out, (pid_t)child, but, depth - 1);
	}
	if (d)
		closedir(d);
}

static int
add_filter(struct event_def *def, const char *more)
{
	char *both;

	if (!def->filter)
		both = strdup(more);
	else if (asprintf(&both, "(%s) && (%s)", def->filter, more) < 0)
		both = NULL;
	if (!both)
		return -ENOMEM;
	free(def->filter);
	def->filter = both;
	return 0;
}

int
event_filter_exclude(struct event_plan *plan, pid_t command)
{
	struct buf text;
	size_t asked = 0;
	int r = 0;

	for (size_t i = 0; i < plan->nr; i++)
		asked += plan->defs[i].exclude_self;
	if (!asked)
		return 1;
	buf_init(&text);
	put_process(&text, getpid(), command, DESCENDANTS_DEPTH);
	buf_u8(&text, 0);
	if (buf_failed(&text))
		r = -ENOMEM;
	for (size_t i = 0; r >= 0 && i < plan->nr; i++)
		if (plan->defs[i].exclude_self)
			r = add_filter(&plan->defs[i], (const char *)text.p);
	buf_done(&text);
	return r;
}
