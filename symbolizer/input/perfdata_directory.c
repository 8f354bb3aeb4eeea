/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/input/perfdata_directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/bytes/array.h"
#include "symbolizer/input/perfdata_input.h"

#define FIRST "data"

/* Is it data.0 and so on, as perf writes the number? */
static bool
is_other(const char *name, unsigned long *ret_number)
{
	char *end, again[32];

	if (strncmp(name, FIRST ".", strlen(FIRST ".")) != 0)
		return false;
	errno = 0;
	*ret_number = strtoul(name + strlen(FIRST "."), &end, 10);
	(void)snprintf(again, sizeof(again), FIRST ".%lu", *ret_number);
	return errno == 0 && strcmp(again, name) == 0;
}

static int
number_cmp(const void *a, const void *b)
{
	unsigned long x = 0, y = 0;

	(void)is_other(*(char *const *)a, &x);
	(void)is_other(*(char *const *)b, &y);
	return (x > y) - (x < y);
}

bool
perfdata_directory_is(const char *path)
{
	int d = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd = d < 0 ? -1 : io_open(d, FIRST, 0);
	struct io_source *first = fd < 0 ? NULL : io_source_fd(fd);
	const bool is = first && perfdata_input_probe(first);

	if (first)
		first->close(first);
	if (d >= 0)
		close(d);
	return is;
}

/* The names, sorted. 0, -1 with errno. */
static int
read_names(DIR *d, struct perfdata_others *o)
{
	unsigned long number;
	const struct dirent *e;
	size_t cap = 0;

	errno = 0;
	while ((e = readdir(d))) {
		if (!is_other(e->d_name, &number))
			continue;
		if (array_reserve(o->names, o->nr, cap, 1) < 0)
			return -1;
		o->names[o->nr] = strdup(e->d_name);
		if (!o->names[o->nr])
			return -1;
		o->nr++;
		errno = 0;
	}
	if (errno)
		return -1;
	if (o->nr)
		qsort(o->names, o->nr, sizeof(*o->names), number_cmp);
	return 0;
}

static int
open_others(int dirfd, struct perfdata_others *o)
{
	o->sources = calloc(o->nr + 1, sizeof(struct io_source *));
	if (!o->sources)
		return -1;
	for (size_t i = 0; i < o->nr; i++) {
		const int fd = io_open(dirfd, o->names[i], 0);

		o->sources[i] = fd < 0 ? NULL : io_source_fd(fd);
		if (!o->sources[i])
			return -1;
	}
	return 0;
}

int
perfdata_directory_open(const char *path, struct perfdata_others *ret)
{
	DIR *d = opendir(path);
	int fd = -1, error;

	*ret = (struct perfdata_others){ .nr = 0 };
	if (!d)
		return -1;
	if (read_names(d, ret) == 0 && open_others(dirfd(d), ret) == 0)
		fd = io_open(dirfd(d), FIRST, 0);
	error = errno;
	closedir(d);
	errno = error;
	return fd;
}

void
perfdata_directory_close(struct perfdata_others *others)
{
	for (size_t i = 0; i < others->nr; i++) {
		if (others->sources && others->sources[i])
			others->sources[i]->close(others->sources[i]);
		free(others->names[i]);
	}
	free(others->sources);
	free(others->names);
	*others = (struct perfdata_others){ .nr = 0 };
}
