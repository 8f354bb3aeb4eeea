/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/input/perfdata_directory.h"

#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/bytes/array.h"
#include "symbolizer/input/perfdata_input.h"
#include "symbolizer/text/screen_text.h"

#define FIRST "data"
#define OTHERS_MAX 8192u /* perf has a thread for each CPU at most, and Linux so many CPUs */

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

/* As io_open(), but a pipe, which a link can lead to, is ESPIPE, too: it may never end. */
static int
open_regular(int dirfd, const char *name)
{
	const int fd = io_open(dirfd, name, 0);
	struct stat st;

	if (fd < 0 || (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)))
		return fd;
	close(fd);
	errno = ESPIPE;
	return -1;
}

bool
perfdata_directory_is(const char *path)
{
	int d = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd = d < 0 ? -1 : open_regular(d, FIRST);
	struct io_source *first = fd < 0 ? NULL : io_source_fd(fd);
	const bool is = first && perfdata_input_probe(first);

	if (first)
		first->close(first);
	if (d >= 0)
		close(d);
	return is;
}

/* The names, sorted. 0, -1 after a message. */
static int
read_names(DIR *d, const char *path, struct perfdata_others *o)
{
	unsigned long number;
	const struct dirent *e;
	size_t cap = 0;

	errno = 0;
	while ((e = readdir(d))) {
		if (!is_other(e->d_name, &number))
			continue;
		if (o->nr == OTHERS_MAX) {
			screen_text_warn("%s: has more than %u files of records", path, OTHERS_MAX);
			return -1;
		}
		if (array_reserve(o->names, o->nr, cap, 1) < 0 ||
		    !(o->names[o->nr] = strdup(e->d_name))) {
			warnx("out of memory");
			return -1;
		}
		o->nr++;
		errno = 0;
	}
	if (errno) {
		warn("%s", path);
		return -1;
	}
	if (o->nr)
		qsort(o->names, o->nr, sizeof(*o->names), number_cmp);
	return 0;
}

/* Its descriptor; -1 after a message. */
static int
open_one(int dirfd, const char *path, const char *name, struct input_access *access)
{
	const int fd = open_regular(dirfd, name);
	struct input_access its;

	if (fd >= 0) {
		input_access_of(fd, &its);
		input_access_add(access, &its);
	} else if (errno == EISDIR || errno == ENOTSUP || errno == ESPIPE) {
		screen_text_warn("%s/%s: is not a regular file", path, name);
	} else {
		screen_text_warn("%s/%s: %s", path, name, strerror(errno));
	}
	return fd;
}

/* Likewise all of them. 0, -1. */
static int
open_others(int dirfd, const char *path, struct perfdata_others *o, struct input_access *access)
{
	o->sources = calloc(o->nr + 1, sizeof(struct io_source *));
	if (!o->sources) {
		warnx("out of memory");
		return -1;
	}
	for (size_t i = 0; i < o->nr; i++) {
		const int fd = open_one(dirfd, path, o->names[i], access);

		if (fd < 0)
			return -1;
		o->sources[i] = io_source_fd(fd);
		if (!o->sources[i]) {
			screen_text_warn("%s/%s: %s", path, o->names[i], strerror(errno));
			return -1;
		}
	}
	return 0;
}

int
perfdata_directory_open(const char *path, struct perfdata_others *ret,
			struct input_access *ret_access)
{
	DIR *d = opendir(path);
	int fd = -1;

	*ret = (struct perfdata_others){ .nr = 0 };
	*ret_access = INPUT_ACCESS_NONE_READ;
	if (!d) {
		warn("%s", path);
		return -1;
	}
	if (read_names(d, path, ret) == 0 && open_others(dirfd(d), path, ret, ret_access) == 0)
		fd = open_one(dirfd(d), path, FIRST, ret_access);
	closedir(d);
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
