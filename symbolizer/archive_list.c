/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/archive_list.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "format/time_text.h"

#define SUFFIX ".spoor"
#define SPARE_NS (60 * SECOND_NS) /* what is drained late, and a clock that is set a little */
#define SEGMENTS_MAX (1u << 20)

void
archive_list_done(struct archive_list *l)
{
	for (size_t i = 0; i < l->nr; i++)
		free(l->segments[i].name);
	free(l->segments);
	memset(l, 0, sizeof(*l));
}

bool
archive_list_is_active(const char *name)
{
	size_t n = strlen(name), m = strlen(ARCHIVE_LIST_ACTIVE);

	return n > m && strcmp(name + n - m, ARCHIVE_LIST_ACTIVE) == 0;
}

static bool
is_recording_name(const char *name)
{
	size_t n = strlen(name);

	if (archive_list_is_active(name))
		n -= strlen(ARCHIVE_LIST_ACTIVE);
	return name[0] != '.' && n > strlen(SUFFIX) &&
		strncmp(name + n - strlen(SUFFIX), SUFFIX, strlen(SUFFIX)) == 0;
}

/* Takes n digits off the front of *p. */
static bool
digits(const char **p, size_t n, uint64_t *ret)
{
	*ret = 0;
	for (; n > 0; n--, ++*p) {
		if (**p < '0' || **p > '9')
			return false;
		*ret = *ret * 10 + (uint64_t)(**p - '0');
	}
	return true;
}

/* "20260102T030405.678901Z-BOOT-000017.spoor": fills in what it tells, if it is one. */
static void
read_name(const char *base, struct archive_segment *s)
{
	uint64_t date, clock, us, seq;
	const char *p = base, *dash;
	struct tm tm = { 0 };
	size_t n;
	time_t t;

	if (!digits(&p, 8, &date) || *p++ != 'T' || !digits(&p, 6, &clock) || *p++ != '.' ||
	    !digits(&p, 6, &us) || *p++ != 'Z' || *p++ != '-')
		return;
	dash = strchr(p, '-');
	if (!dash || dash == p || (size_t)(dash - p) >= sizeof(s->boot))
		return;
	memcpy(s->boot, p, (size_t)(dash - p));
	n = strspn(dash + 1, "0123456789");
	p = dash + 1;
	if (n == 0 || n > 18 || !digits(&p, n, &seq) || *p != '.')
		return;
	tm.tm_year = (int)(date / 10000) - 1900;
	tm.tm_mon = (int)(date / 100 % 100) - 1;
	tm.tm_mday = (int)(date % 100);
	tm.tm_hour = (int)(clock / 10000);
	tm.tm_min = (int)(clock / 100 % 100);
	tm.tm_sec = (int)(clock % 100);
	t = timegm(&tm);
	if (t <= 0)
		return;
	s->start_ns = (uint64_t)t * SECOND_NS + us * 1000;
	s->seq = seq;
}

static int
add(struct archive_list *l, const char *prefix, const char *base, const struct stat *st)
{
	struct archive_segment *s;

	if (l->nr == SEGMENTS_MAX) {
		errno = E2BIG;
		return -1;
	}
	if (l->nr == l->cap) {
		size_t cap = l->cap ? l->cap * 2 : 64;

		s = reallocarray(l->segments, cap, sizeof(*s));
		if (!s)
			return -1;
		l->segments = s;
		l->cap = cap;
	}
	s = &l->segments[l->nr];
	*s = (struct archive_segment){ .dev = st->st_dev, .ino = st->st_ino };
	if (asprintf(&s->name, "%s%s%s", prefix, *prefix ? "/" : "", base) < 0)
		return -1;
	read_name(base, s);
	l->nr++;
	return 0;
}

static int read_dir(int dirfd, const char *path, const char *prefix, struct archive_list *l);

/* captures/ and kept/ overlap with what is beside them. */
static int
add_entry(int dirfd, const char *prefix, const char *entry, struct archive_list *l)
{
	struct stat st;

	if (fstatat(dirfd, entry, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	if ((S_ISREG(st.st_mode) || S_ISLNK(st.st_mode)) && is_recording_name(entry))
		return add(l, prefix, entry, &st);
	if (!S_ISDIR(st.st_mode) || *prefix || entry[0] == '.' || strcmp(entry, "captures") == 0 ||
	    strcmp(entry, "kept") == 0)
		return 0;
	if (read_dir(dirfd, entry, entry, l) == 0)
		return 0;
	/* Nothing to give up the others for: who opens what is listed says so. */
	return errno == ENOMEM || errno == E2BIG ? -1 : add(l, prefix, entry, &st);
}

static int
read_dir(int dirfd, const char *path, const char *prefix, struct archive_list *l)
{
	int fd = openat(dirfd, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), error = 0;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	if (!dir) {
		error = errno;
		if (fd >= 0)
			close(fd);
		errno = error;
		return -1;
	}
	while (!error && (errno = 0, e = readdir(dir)))
		if (add_entry(fd, prefix, e->d_name, l) < 0)
			error = errno;
	if (!error)
		error = errno;
	closedir(dir);
	errno = error;
	return error ? -1 : 0;
}

/* In the order of their numbers, which no clock can turn round. */
static int
by_order(const void *va, const void *vb)
{
	const struct archive_segment *a = va, *b = vb;

	if ((a->start_ns == 0) != (b->start_ns == 0))
		return a->start_ns == 0 ? 1 : -1;
	if (a->start_ns && a->seq != b->seq)
		return a->seq < b->seq ? -1 : 1;
	return strcmp(a->name, b->name);
}

static int
by_inode(const void *va, const void *vb)
{
	const struct archive_segment *a = va, *b = vb;

	if (a->dev != b->dev)
		return a->dev < b->dev ? -1 : 1;
	if (a->ino != b->ino)
		return a->ino < b->ino ? -1 : 1;
	return strcmp(a->name, b->name);
}

static void
drop_links(struct archive_list *l)
{
	size_t nr = 0;

	qsort(l->segments, l->nr, sizeof(*l->segments), by_inode);
	for (size_t i = 0; i < l->nr; i++) {
		struct archive_segment *s = &l->segments[i];

		if (nr > 0 && l->segments[nr - 1].dev == s->dev &&
		    l->segments[nr - 1].ino == s->ino)
			free(s->name);
		else
			l->segments[nr++] = *s;
	}
	l->nr = nr;
}

int
archive_list_read(int dirfd, struct archive_list *ret)
{
	struct archive_list l = { 0 };

	if (read_dir(dirfd, ".", "", &l) < 0) {
		int error = errno;

		archive_list_done(&l);
		errno = error;
		return -1;
	}
	if (l.nr > 0) {
		drop_links(&l);
		qsort(l.segments, l.nr, sizeof(*l.segments), by_order);
	}
	*ret = l;
	return 0;
}

bool
archive_list_reaches(const struct archive_list *l, size_t i, uint64_t from_ns, uint64_t until_ns)
{
	const struct archive_segment *s = &l->segments[i], *next = s + 1;

	if (s->start_ns == 0)
		return true;
	if (until_ns < UINT64_MAX - SPARE_NS && s->start_ns >= until_ns + SPARE_NS)
		return false;
	/* It ended when the next one began; not if that is another daemon's or the clock went back. */
	if (i + 1 == l->nr || next->start_ns < s->start_ns || next->seq != s->seq + 1 ||
	    strcmp(next->boot, s->boot) != 0)
		return true;
	return from_ns <= SPARE_NS || next->start_ns > from_ns - SPARE_NS;
}
