/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/input/archive_list.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/bytes/array.h"
#include "format/bytes/time_text.h"

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

/* name is the list's from here on, also on failure; NULL: no memory for it. */
static struct archive_segment *
archive_list_add(struct archive_list *l, char *name)
{
	struct segment_name is;
	struct archive_segment *s;
	const char *slash = name ? strrchr(name, '/') : NULL;

	if (!name || l->nr == SEGMENTS_MAX || array_reserve(l->segments, l->nr, l->cap, 1) < 0) {
		errno = name && l->nr == SEGMENTS_MAX ? E2BIG : ENOMEM;
		free(name);
		return NULL;
	}
	s = &l->segments[l->nr++];
	*s = (struct archive_segment){ .name = name };
	segment_name_parse(slash ? slash + 1 : name, &is);
	if (is.start_ns && is.seq && *is.boot)
		s->is = is;
	return s;
}

static int
archive_list_add_file(struct archive_list *l, const char *prefix, const char *base,
		      const struct stat *st)
{
	struct archive_segment *s;
	char *name;

	if (asprintf(&name, "%s%s%s", prefix, *prefix ? "/" : "", base) < 0)
		name = NULL;
	s = archive_list_add(l, name);
	if (!s)
		return -1;
	s->dev = st->st_dev;
	s->ino = st->st_ino;
	return 0;
}

int
archive_list_add_part(struct archive_list *l, const char *name, size_t len, uint64_t offset,
		      uint64_t bytes)
{
	struct archive_segment *s = archive_list_add(l, strndup(name, len));

	if (!s)
		return -1;
	s->offset = offset;
	s->bytes = bytes;
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
	if ((S_ISREG(st.st_mode) || S_ISLNK(st.st_mode)) && segment_name_is_recording(entry))
		return archive_list_add_file(l, prefix, entry, &st);
	if (!S_ISDIR(st.st_mode) || *prefix || entry[0] == '.' || strcmp(entry, "captures") == 0 ||
	    strcmp(entry, "kept") == 0)
		return 0;
	if (read_dir(dirfd, entry, entry, l) == 0)
		return 0;
	/* Nothing to give up the others for: who opens what is listed says so. */
	return errno == ENOMEM || errno == E2BIG ? -1
						 : archive_list_add_file(l, prefix, entry, &st);
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

	if ((a->is.start_ns == 0) != (b->is.start_ns == 0))
		return a->is.start_ns == 0 ? 1 : -1;
	if (a->is.start_ns && a->is.seq != b->is.seq)
		return a->is.seq < b->is.seq ? -1 : 1;
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
archive_list_has(const struct archive_list *l, dev_t dev, ino_t ino)
{
	for (size_t i = 0; i < l->nr; i++)
		if (l->segments[i].dev == dev && l->segments[i].ino == ino)
			return true;
	return false;
}

bool
archive_list_reaches(const struct archive_list *l, size_t i, uint64_t from_ns, uint64_t until_ns)
{
	const struct archive_segment *s = &l->segments[i], *next = s + 1;

	if (s->is.start_ns == 0)
		return true;
	if (until_ns < UINT64_MAX - SPARE_NS && s->is.start_ns >= until_ns + SPARE_NS)
		return false;
	/* It ended when the next one began; not if that is another daemon's or the clock went back. */
	if (i + 1 == l->nr || next->is.start_ns < s->is.start_ns || next->is.seq != s->is.seq + 1 ||
	    strcmp(next->is.boot, s->is.boot) != 0)
		return true;
	return from_ns <= SPARE_NS || next->is.start_ns > from_ns - SPARE_NS;
}
