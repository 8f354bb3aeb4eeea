/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Copies of mapped files in spoor-objects/ (format/stored), which all files of the archive share. A worker of
 * the recorder writes them, within what is allowed here. objects_share of max_use is set aside for
 * them: so no segment has to go while one is written. When they come near it, those that were in
 * use longest ago go; each file of the archive that has one in use renews it. Where nothing else
 * can make room, they go likewise. Copies that name what is kept are pinned, and stay (archive_pins.c): they have at
 * most half of the share, and the bounds are those of the other copies, in the rest of it.
 */
#include "daemon/archive/archive_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/process/log.h"
#include "format/bytes/array.h"
#include "format/bytes/time_text.h"
#include "format/stored/stored_object.h"
#include "recorder/host/host.h"

#define OBJECTS_MAX 65536 /* looked at */
#define BLOCK 512	  /* of st_blocks: copies have holes */
/* One is for what was allowed before and is being written, one at least for what comes. */
#define SHARE_PARTS 8
#define SHARE_MIN (256u << 10)

struct object_file {
	char name[sizeof("ab/") + STORED_NAME_BYTES];
	struct timespec used;
	uint64_t bytes;
	bool pinned; /* it names what is kept */
};

struct walk {
	struct object_file *files;
	size_t nr, cap;
	uint64_t bytes, pinned;
};

static int
open_dir(int at, const char *name)
{
	return openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

uint64_t
archive_objects_bytes(const struct stat *st)
{
	return stored_object_count((uint64_t)st->st_blocks * BLOCK);
}

/* One entry of .build-id/ab. Names of others are nothing to delete, but they count. */
static void
walk_file(struct walk *w, int dir, const char *sub, const char *name)
{
	struct object_file f;
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return;
	f.bytes = archive_objects_bytes(&st);
	f.used = st.st_mtim;
	f.pinned = S_ISREG(st.st_mode) && st.st_nlink > 1;
	w->bytes += f.bytes;
	w->pinned += f.pinned ? f.bytes : 0;
	if (!S_ISREG(st.st_mode) || w->nr == OBJECTS_MAX ||
	    snprintf(f.name, sizeof(f.name), "%s/%s", sub, name) >= (int)sizeof(f.name) ||
	    array_reserve(w->files, w->nr, w->cap, 1) < 0)
		return;
	w->files[w->nr++] = f;
}

static void
walk_dir(struct walk *w, int by_id, const char *sub)
{
	int fd = open_dir(by_id, sub);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((e = readdir(dir)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			walk_file(w, fd, sub, e->d_name);
	closedir(dir);
}

int
archive_objects_open(const struct archive *a)
{
	int top = open_dir(a->dir_fd, STORED_DIRECTORY), fd;

	if (top < 0)
		return -1;
	fd = open_dir(top, STORED_BY_ID);
	close(top);
	return fd;
}

static void
walk_all(struct walk *w, int by_id)
{
	char sub[3];

	for (unsigned int i = 0; i < 256; i++) {
		(void)snprintf(sub, sizeof(sub), "%02x", i);
		walk_dir(w, by_id, sub);
	}
}

/* The longest unused first. */
static int
compare_used(const void *a, const void *b)
{
	const struct object_file *x = a, *y = b;

	if (x->used.tv_sec != y->used.tv_sec)
		return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
	return (x->used.tv_nsec > y->used.tv_nsec) - (x->used.tv_nsec < y->used.tv_nsec);
}

/*
 * Looks at all copies. Where the unpinned ones have more than full bytes, it deletes of them until they have most. How
 * many it deleted.
 */
static uint32_t
look(struct archive *a, uint64_t full, uint64_t most)
{
	struct walk w = { .nr = 0 };
	int by_id = archive_objects_open(a);
	uint32_t deleted = 0;

	if (by_id >= 0)
		walk_all(&w, by_id);
	if (w.bytes - w.pinned > full)
		qsort(w.files, w.nr, sizeof(*w.files), compare_used);
	for (size_t i = 0; w.bytes - w.pinned > full && w.bytes - w.pinned > most && i < w.nr;
	     i++) {
		if (w.files[i].pinned)
			continue;
		if (archive_delete(a, by_id, w.files[i].name) == 0) {
			w.bytes -= w.files[i].bytes;
			deleted++;
		}
		/* One deletion more is one that is not full. */
		full = most;
	}
	if (by_id >= 0)
		close(by_id);
	free(w.files);
	a->objects = w.bytes;
	a->objects_pinned = w.pinned;
	return deleted;
}

static uint64_t
unpinned(const struct archive *a)
{
	return a->objects - a->objects_pinned;
}

/* What of the share is for those that are not pinned: half at least, also where it has become smaller. */
static uint64_t
unpinned_share(const struct archive *a)
{
	const uint64_t most_pinned = a->objects_share / 2;

	return a->objects_share -
		(a->objects_pinned < most_pinned ? a->objects_pinned : most_pinned);
}

bool
archive_objects_may_pin(const struct archive *a, uint64_t bytes)
{
	/* Without a share no copy is stored any more: all that there are may be pinned. */
	return a->objects_share == 0 || a->objects_pinned + bytes <= a->objects_share / 2;
}

uint64_t
archive_objects_reserved(const struct archive *a)
{
	const uint64_t most = a->objects_pinned + unpinned_share(a);

	return a->objects_asked && most > a->objects ? most : a->objects;
}

uint32_t
archive_objects_drop(struct archive *a, uint64_t bytes)
{
	uint64_t most = unpinned(a) > bytes ? unpinned(a) - bytes : 0;
	uint32_t deleted = unpinned(a) ? look(a, most, most) : 0;

	/* Bytes or inodes are short: readers of deleted files lose them. */
	archive_gone_done(a);
	return deleted;
}

void
archive_objects_scan(struct archive *a)
{
	(void)look(a, UINT64_MAX, UINT64_MAX);
}

static int
make_directory(struct archive *a)
{
	if (mkdirat(a->dir_fd, STORED_DIRECTORY, ARCHIVE_DIR_MODE) == 0 || errno == EEXIST)
		return 0;
	log_warning("%s/" STORED_DIRECTORY ": cannot be made, and objects are not stored: %s",
		    a->path, strerror(errno));
	return -1;
}

static uint64_t
allow(struct archive *a)
{
	uint64_t fs_free = archive_fs_free(a), share, part, room, spare;

	if (a->objects_share < SHARE_MIN || make_directory(a) < 0)
		return 0;
	archive_objects_scan(a);
	share = unpinned_share(a);
	part = share / SHARE_PARTS;
	/* Not only when they are over their bound: a copy that did not fit is gone with its program. */
	if (unpinned(a) > share - 2 * part)
		(void)look(a, share - 2 * part, share - 3 * part);
	room = share - part > unpinned(a) ? share - part - unpinned(a) : 0;
	spare = fs_free > a->limits.keep_free ? fs_free - a->limits.keep_free : 0;
	return room < spare ? room : spare;
}

void
archive_objects(struct archive *a, struct archive_objects *ret)
{
	pthread_mutex_lock(&a->lock);
	a->objects_asked = true;
	*ret = (struct archive_objects){ .allowed_bytes = allow(a),
					 .user_bytes = a->objects_share / 4 };
	(void)snprintf(ret->dir, sizeof(ret->dir), "%s/" STORED_DIRECTORY, a->path);
	pthread_mutex_unlock(&a->lock);
}
