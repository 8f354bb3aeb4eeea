/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/host/subuid.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "format/bytes/array.h"

#define RANGES_MAX 65536

struct range {
	uint32_t first, count;
};

static const char *file = "/etc/subuid";
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Under lock: */
static struct range *ranges; /* by first */
static size_t nr, cap;
static struct stat read_as; /* zeroes: it was not there */

void
subuid_path(const char *path)
{
	file = path;
}

/* "name:first:count"; false: that is none. */
static bool
subuid_parse(const char *line, struct range *ret)
{
	const char *first = strchr(line, ':'), *count = first ? strchr(first + 1, ':') : NULL;
	unsigned long long a, n;

	if (!count)
		return false;
	a = strtoull(first + 1, NULL, 10);
	n = strtoull(count + 1, NULL, 10);
	if (!n || a >= UINT32_MAX || n > UINT32_MAX - a)
		return false;
	*ret = (struct range){ (uint32_t)a, (uint32_t)n };
	return true;
}

static int
range_cmp(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return (x->first > y->first) - (x->first < y->first);
}

static void
read_ranges(void)
{
	FILE *f = fopen(file, "re");
	struct range r;
	char line[256];

	nr = 0;
	while (f && nr < RANGES_MAX && fgets(line, sizeof(line), f)) {
		if (!subuid_parse(line, &r))
			continue;
		if (array_reserve(ranges, nr, cap, 1) < 0)
			break;
		ranges[nr++] = r;
	}
	if (f)
		(void)fclose(f);
	if (nr)
		qsort(ranges, nr, sizeof(*ranges), range_cmp);
}

static void
follow_file(void)
{
	struct stat st;

	if (stat(file, &st) < 0)
		memset(&st, 0, sizeof(st));
	if (st.st_ino == read_as.st_ino && st.st_size == read_as.st_size &&
	    st.st_mtim.tv_sec == read_as.st_mtim.tv_sec &&
	    st.st_mtim.tv_nsec == read_as.st_mtim.tv_nsec)
		return;
	read_as = st;
	read_ranges();
}

uid_t
subuid_first(uid_t uid)
{
	uid_t first = uid;

	pthread_mutex_lock(&lock);
	follow_file();
	/* They may overlap: the one that begins first. */
	for (size_t i = 0; i < nr && ranges[i].first <= uid; i++)
		if (uid - ranges[i].first < ranges[i].count) {
			first = ranges[i].first;
			break;
		}
	pthread_mutex_unlock(&lock);
	return first;
}
