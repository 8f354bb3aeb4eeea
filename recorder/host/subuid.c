/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/host/subuid.h"

#include <pthread.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "format/bytes/array.h"

#define RANGES_MAX 65536
#define NAME_BYTES 33 /* of a user, with its NUL */

struct range {
	uint32_t first, count;
	uint32_t owner; /* first: not known */
	char name[NAME_BYTES];
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
	const size_t name = first ? (size_t)(first - line) : 0;
	unsigned long long a, n;

	if (!count)
		return false;
	a = strtoull(first + 1, NULL, 10);
	n = strtoull(count + 1, NULL, 10);
	if (!n || a >= UINT32_MAX || n > UINT32_MAX - a)
		return false;
	*ret = (struct range){ (uint32_t)a, (uint32_t)n, (uint32_t)a, "" };
	if (name < NAME_BYTES)
		memcpy(ret->name, line, name);
	return true;
}

/* A number is good for a name. Nobody is asked who may be far away, as getpwnam(3) does. */
static void
find_owners(void)
{
	FILE *f = fopen("/etc/passwd", "re");
	const struct passwd *pw;

	for (size_t i = 0; i < nr; i++)
		if (*ranges[i].name && !ranges[i].name[strspn(ranges[i].name, "0123456789")])
			ranges[i].owner = (uint32_t)strtoull(ranges[i].name, NULL, 10);
	while (f && (pw = fgetpwent(f)))
		for (size_t i = 0; i < nr; i++)
			if (strcmp(ranges[i].name, pw->pw_name) == 0)
				ranges[i].owner = pw->pw_uid;
	if (f)
		(void)fclose(f);
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
	if (nr)
		find_owners();
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

/* They may overlap: the one that begins first. Under lock. */
static const struct range *
range_of(uid_t uid)
{
	follow_file();
	for (size_t i = 0; i < nr && ranges[i].first <= uid; i++)
		if (uid - ranges[i].first < ranges[i].count)
			return &ranges[i];
	return NULL;
}

uid_t
subuid_first(uid_t uid)
{
	const struct range *r;

	pthread_mutex_lock(&lock);
	r = range_of(uid);
	uid = r ? r->first : uid;
	pthread_mutex_unlock(&lock);
	return uid;
}

uid_t
subuid_owner(uid_t uid)
{
	const struct range *r;

	if (uid == 0)
		return 0;
	pthread_mutex_lock(&lock);
	r = range_of(uid);
	uid = r && r->owner != 0 ? r->owner : uid;
	pthread_mutex_unlock(&lock);
	return uid;
}
