/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/event/tracepoint_id.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recorder/ground/small_file.h"

struct finding {
	const char *events; /* the directory */
	struct tracepoint_ids found;
};

static int
tracepoint_read(const struct finding *f, const char *subsystem, const char *name, uint64_t *ret)
{
	char path[512], text[32], *end;
	ssize_t n;

	if ((size_t)snprintf(path, sizeof(path), "%s/%s/%s/id", f->events, subsystem, name) >=
	    sizeof(path))
		return -ENOENT;
	n = small_file_read(AT_FDCWD, path, text, sizeof(text));
	if (n < 0)
		return n == -ENOTDIR ? -ENOENT : (int)n;
	*ret = strtoull(text, &end, 10);
	return end > text && (*end == '\n' || !*end) ? 0 : -EIO;
}

/* 0 also for what has no id. */
static int
add_point(struct finding *f, const char *subsystem, const char *name)
{
	struct tracepoint *more, point = { 0 };
	int r = tracepoint_read(f, subsystem, name, &point.id);

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	more = reallocarray(f->found.points, f->found.nr + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	f->found.points = more;
	point.subsystem = strdup(subsystem);
	point.name = strdup(name);
	more[f->found.nr++] = point;
	return point.subsystem && point.name ? 0 : -ENOMEM;
}

/* Calls with each name of a directory that matches; a word without a pattern is its only one. */
static int
each_match(const char *path, const char *pattern,
	   int (*see)(struct finding *f, const char *subsystem, const char *name),
	   struct finding *f, const char *subsystem)
{
	struct dirent *d;
	int r = 0;
	DIR *dir;

	if (*pattern == '.' || strchr(pattern, '/'))
		return 0;
	if (!strpbrk(pattern, "*?["))
		return see(f, subsystem, pattern);
	dir = opendir(path);
	if (!dir)
		return errno == ENOENT || errno == ENOTDIR ? 0 : -errno;
	while (r == 0 && (d = readdir(dir)))
		if (*d->d_name != '.' && fnmatch(pattern, d->d_name, 0) == 0)
			r = see(f, subsystem, d->d_name);
	closedir(dir);
	return r;
}

/* Of a subsystem, the name of which stands in for the pattern of names. */
static int
see_subsystem(struct finding *f, const char *pattern, const char *subsystem)
{
	char path[512];

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", f->events, subsystem) >= sizeof(path))
		return 0;
	return each_match(path, pattern, add_point, f, subsystem);
}

static int
compare_points(const void *a, const void *b)
{
	const struct tracepoint *x = a, *y = b;
	int r = strcmp(x->subsystem, y->subsystem);

	return r ? r : strcmp(x->name, y->name);
}

int
tracepoint_ids_find(const char *tracefs, const char *subsystem, const char *name,
		    struct tracepoint_ids *ret)
{
	char events[256];
	struct finding f = { .events = events };
	int r;

	if ((size_t)snprintf(events, sizeof(events), "%s/events", tracefs) >= sizeof(events))
		return -ENODEV;
	r = each_match(events, subsystem, see_subsystem, &f, name);
	if (r == 0 && !f.found.nr)
		r = access(events, F_OK) < 0 && errno == ENOENT ? -ENODEV : -ENOENT;
	if (r < 0) {
		tracepoint_ids_done(&f.found);
		return r;
	}
	qsort(f.found.points, f.found.nr, sizeof(*f.found.points), compare_points);
	*ret = f.found;
	return 0;
}

void
tracepoint_ids_done(struct tracepoint_ids *t)
{
	for (size_t i = 0; i < t->nr; i++) {
		free(t->points[i].subsystem);
		free(t->points[i].name);
	}
	free(t->points);
	*t = (struct tracepoint_ids){ 0 };
}
