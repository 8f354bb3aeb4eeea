/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/object/stored_objects.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/bytes/fmt_error.h"
#include "format/stored/stored_object.h"
#include "symbolizer/object/object_places.h"

/* Cuts the last component off; false: there is none. */
static bool
go_up(char *path)
{
	char *slash = strrchr(path, '/');

	if (!slash || slash == path)
		return false;
	*slash = '\0';
	return true;
}

static bool
is_called(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');

	return slash && strcmp(slash + 1, name) == 0;
}

/* From a directory of recordings to the one whose objects they share. */
static void
go_to_archive(char *dir)
{
	char up[PATH_MAX];

	snprintf(up, sizeof(up), "%s", dir);
	if (is_called(dir, "captures"))
		(void)go_up(dir);
	else if (go_up(up) && is_called(up, "kept") && go_up(up))
		memcpy(dir, up, strlen(up) + 1);
}

char *
stored_objects_dir(const char *recording)
{
	char dir[PATH_MAX], *path;
	struct stat of, st;

	if (!realpath(recording, dir) || stat(dir, &of) != 0)
		return NULL;
	if (!S_ISDIR(of.st_mode) && !go_up(dir))
		return NULL;
	go_to_archive(dir);
	if (asprintf(&path, "%s/" STORED_DIRECTORY, dir) < 0)
		return NULL;
	if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode) &&
	    (st.st_uid == of.st_uid || st.st_uid == geteuid() || st.st_uid == 0))
		return path;
	free(path);
	return NULL;
}

/* The copy of that name, if its mark, and the file where it can, say that it is this build. -1: it is not there. */
static int
open_copy(const char *dir, const char *sub, const char *name, const struct buildid *id,
	  struct stored_mark *ret)
{
	char path[PATH_MAX];
	struct io_source *file;
	struct buildid inside;
	struct stat st;
	bool same;
	int fd;

	if (snprintf(path, sizeof(path), "%s/" STORED_BY_ID "/%s/%s", dir, sub, name) >=
	    (int)sizeof(path))
		return -1;
	fd = object_places_open(path, &st);
	file = fd < 0 ? NULL : io_source_dup(fd);
	same = file && stored_mark_read(file, ret) == 0 && buildid_cmp(&ret->id, id) == 0;
	/* A surrogate is of the file as it was. */
	if (same && id->kind == BUILDID_GNU)
		same = buildid_read(file, &inside) == 0 && buildid_cmp(&inside, id) == 0;
	if (file)
		file->close(file);
	if (same || fd < 0)
		return fd;
	close(fd);
	return -1;
}

/* A copy that was found, of the file of a user. */
struct users_copy {
	int fd;
	struct stored_mark mark;
	bool unsure; /* users have files of this build that differ */
};

static bool
same_bytes(const struct users_copy *c, int fd, const struct stored_mark *mark)
{
	uint8_t a[4096], b[sizeof(a)];
	uint64_t at = 0;

	if (mark->elf_size != c->mark.elf_size)
		return false;
	while (at < mark->elf_size) {
		const uint64_t left = mark->elf_size - at;
		const size_t n = left < sizeof(a) ? (size_t)left : sizeof(a);

		if (pread(c->fd, a, n, (off_t)at) != (ssize_t)n ||
		    pread(fd, b, n, (off_t)at) != (ssize_t)n || memcmp(a, b, n) != 0)
			return false;
		at += n;
	}
	return true;
}

/* Takes fd over. The reader's own goes before others', of which several have to be the same. */
static void
add_copy(struct users_copy *c, int fd, const struct stored_mark *mark)
{
	const bool own = mark->uid == geteuid(), had_own = c->fd >= 0 && c->mark.uid == geteuid();

	if (c->fd < 0 || (own && !had_own)) {
		if (c->fd >= 0)
			close(c->fd);
		*c = (struct users_copy){ fd, *mark, false };
		return;
	}
	if (!had_own && !same_bytes(c, fd, mark))
		c->unsure = true;
	close(fd);
}

static void
find_users(const char *dir, const char *sub, const char *first, const struct buildid *id,
	   struct users_copy *c)
{
	char path[PATH_MAX];
	const struct dirent *e;
	struct stored_mark mark;
	DIR *entries = NULL;
	uint32_t uid;
	int fd;

	if (snprintf(path, sizeof(path), "%s/" STORED_BY_ID "/%s", dir, sub) < (int)sizeof(path))
		entries = opendir(path);
	while (entries && (e = readdir(entries))) {
		if (!stored_object_is_user(e->d_name, first, &uid))
			continue;
		fd = open_copy(dir, sub, e->d_name, id, &mark);
		if (fd >= 0)
			add_copy(c, fd, &mark);
	}
	if (entries)
		closedir(entries);
}

int
stored_objects_open(const char *dir, const struct buildid *id, struct elf_object **ret,
		    bool *ret_whole)
{
	struct users_copy c = { .fd = -1 };
	char sub[3], name[STORED_NAME_BYTES];
	struct stat st;
	int error;

	*ret = NULL;
	if (!dir || !stored_object_name(id, sub, name) || stat(dir, &st) != 0)
		return 0;
	c.fd = open_copy(dir, sub, name, id, &c.mark);
	/* That of root's file, or of who recorded. Before users' files had names of their own, it may be another one. */
	if (c.fd < 0 || (c.mark.uid != 0 && c.mark.uid != st.st_uid))
		find_users(dir, sub, name, id, &c);
	if (c.unsure)
		close(c.fd);
	if (c.fd < 0 || c.unsure)
		return 0;
	*ret_whole = c.mark.whole;
	error = elf_object_open(c.fd, ret);
	return error == -FMT_E_NOMEM ? error : 0;
}
