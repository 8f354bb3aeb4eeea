/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/helper/object_copy.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/bytes/array.h"
#include "format/bytes/file_reach.h"
#include "format/bytes/fmt_error.h"
#include "format/stored/stored_reduce.h"

#define DIR_MODE 0750
#define FILE_MODE 0640
#define BLOCK 512 /* of st_blocks */

/* Root's files, and our own, have the first place. */
static bool
is_first(uid_t owner)
{
	return owner == 0 || owner == geteuid();
}

/* Each memfd has mode 0777: those of programs are sealed. */
uid_t
object_copy_owner(int fd, const struct stat *st)
{
	int seals;

	if (!is_first(st->st_uid) || !(st->st_mode & S_IWOTH))
		return st->st_uid;
	seals = fcntl(fd, F_GET_SEALS);
	return seals >= 0 && seals & F_SEAL_WRITE ? st->st_uid : OBJECT_COPY_NOBODY;
}

/* --- reading --------------------------------------------------------------------------------- */

/* A file whose reader is asked before each read whether to go on. */
struct watched {
	struct io_source source;
	struct io_source *of;
	object_copy_fn *go_on;
	void *arg;
	bool enough;
};

static ssize_t
watched_read(struct io_source *self, uint64_t offset, void *p, size_t n)
{
	struct watched *w = (struct watched *)self;

	w->enough |= w->go_on(w->arg) != 0;
	return w->enough ? -ETIMEDOUT : w->of->read(w->of, offset, p, n);
}

static int64_t
watched_size(struct io_source *self)
{
	struct io_source *of = ((struct watched *)self)->of;

	return of->size(of);
}

static int
take_piece(void *arg, uint64_t offset, const void *p, size_t n)
{
	struct object_copy *c = arg;

	if (array_reserve(c->pieces, c->nr, c->cap, 1) < 0)
		return -FMT_E_NOMEM;
	c->pieces[c->nr++] = (struct object_piece){ offset, n };
	buf_append(&c->bytes, p, n);
	return buf_failed(&c->bytes) ? -FMT_E_NOMEM : 0;
}

static int
errno_of(int error)
{
	switch (-error) {
	case FMT_OK:
		return 0;
	case FMT_E_NOMEM:
		return -ENOMEM;
	case FMT_E_TOO_BIG:
		return -EFBIG;
	case FMT_E_TRUNCATED:
		return -ESTALE;
	case FMT_E_IO:
		return -EIO;
	default:
		return -ENOEXEC;
	}
}

static bool
same_times(const struct stat *a, const struct stat *b)
{
	return a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
		a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static bool
is_build(struct io_source *file, const struct buildid *id)
{
	struct buildid now;

	return buildid_read(file, &now) == 0 && buildid_cmp(&now, id) == 0;
}

static int
read_file(struct object_copy *c, struct io_source *file, int fd, const struct buildid *id)
{
	struct stat before, after;
	int r;

	if (fstat(fd, &before) < 0)
		return -errno;
	c->mark = (struct stored_mark){ .id = *id,
					.uid = object_copy_owner(fd, &before),
					.rules = STORED_RULES };
	c->mark.whole = before.st_size <= OBJECT_COPY_WHOLE_MAX && file_reach_all(fd);
	if (!is_build(file, id))
		return -ESTALE;
	r = (c->mark.whole ? stored_copy : stored_reduce)(file, OBJECT_COPY_BYTES_MAX, take_piece,
							  c, &c->mark.elf_size);
	if (r < 0)
		return errno_of(r);
	if (fstat(fd, &after) < 0)
		return -errno;
	return same_times(&before, &after) && is_build(file, id) ? 0 : -ESTALE;
}

int
object_copy_read(struct object_copy *c, int fd, const struct buildid *id, object_copy_fn *go_on,
		 void *arg)
{
	struct watched w = { .source = { .read = watched_read, .size = watched_size },
			     .of = io_source_dup(fd),
			     .go_on = go_on,
			     .arg = arg };
	int r;

	if (!w.of)
		return -errno;
	buf_init(&c->bytes);
	r = read_file(c, &w.source, fd, id);
	w.of->close(w.of);
	return w.enough ? -ETIMEDOUT : r;
}

void
object_copy_done(struct object_copy *c)
{
	buf_done(&c->bytes);
	free(c->pieces);
	*c = (struct object_copy){ 0 };
}

/* --- writing --------------------------------------------------------------------------------- */

/* A directory of ours, made where there is none and make says so. Its descriptor, -errno. */
static int
open_dir(int at, const char *name, bool make)
{
	struct stat st;
	int fd;

	if (make && mkdirat(at, name, DIR_MODE) < 0 && errno != EEXIST)
		return -errno;
	fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) == 0 && st.st_uid == geteuid() && !(st.st_mode & (S_IWGRP | S_IWOTH)))
		return fd;
	(void)close(fd);
	return -EPERM;
}

/* The one that copies of this build are in; the name there of that of a file of this owner. */
static int
open_place(const char *dir, const struct buildid *id, uid_t owner, bool make,
	   char name[STORED_NAME_BYTES])
{
	char sub[3];
	int top, by_id, fd;

	if (is_first(owner) ? !stored_object_name(id, sub, name)
			    : !stored_object_name_of(id, owner, sub, name))
		return -EINVAL;
	top = open_dir(AT_FDCWD, dir, false);
	if (top < 0)
		return top;
	by_id = open_dir(top, STORED_BY_ID, make);
	(void)close(top);
	if (by_id < 0)
		return by_id;
	fd = open_dir(by_id, sub, make);
	(void)close(by_id);
	return fd;
}

/* Into a file that has no bytes yet. */
static int
write_pieces(const struct object_copy *c, int fd, uint64_t *ret_bytes)
{
	uint8_t mark[STORED_MARK_BYTES];
	const uint8_t *from = c->bytes.p;
	struct stat st;
	int r = 0;

	for (size_t i = 0; i < c->nr && r == 0; i++) {
		r = io_write_at(fd, from, c->pieces[i].len, c->pieces[i].offset);
		from += c->pieces[i].len;
	}
	stored_mark_put(&c->mark, mark);
	if (r == 0)
		r = io_write_at(fd, mark, sizeof(mark), c->mark.elf_size);
	if (r == 0 && fstat(fd, &st) < 0)
		r = -errno;
	/* Half a copy after a power cut would have its name for ever. */
	if (r == 0 && fdatasync(fd) < 0)
		r = -errno;
	if (r == 0)
		*ret_bytes = stored_object_count((uint64_t)st.st_blocks * BLOCK);
	return r;
}

int
object_copy_write(const struct object_copy *c, const char *dir, uint64_t *ret_bytes)
{
	char name[STORED_NAME_BYTES], temporary[32];
	int place = open_place(dir, &c->mark.id, c->mark.uid, true, name), fd, r;

	if (place < 0)
		return place;
	(void)snprintf(temporary, sizeof(temporary), ".%d.new", (int)getpid());
	(void)unlinkat(place, temporary, 0);
	fd = openat(place, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		    FILE_MODE);
	r = fd < 0 ? -errno : write_pieces(c, fd, ret_bytes);
	/* Some file systems say only here that the disk is full. */
	if (fd >= 0 && close(fd) < 0 && r == 0)
		r = -errno;
	if (r == 0 && renameat(place, temporary, place, name) < 0)
		r = -errno;
	if (r < 0 && fd >= 0)
		(void)unlinkat(place, temporary, 0);
	(void)close(place);
	return r;
}

/* --- copies of earlier recorders ------------------------------------------------------------- */

/* Of a copy as it is, what the rules leave of it. */
static int
reduce_copy(struct object_copy *c, struct io_source *file)
{
	buf_init(&c->bytes);
	c->mark.whole = false;
	c->mark.rules = STORED_RULES;
	return errno_of(
		stored_reduce(file, OBJECT_COPY_BYTES_MAX, take_piece, c, &c->mark.elf_size));
}

/*
 * In its place: what is kept has links to it. Its bytes and its mark go first: a reader finds no copy until it is made.
 */
static int
rewrite(const struct object_copy *c, int fd, const struct stat *st)
{
	const struct timespec times[2] = { st->st_atim, st->st_mtim };
	uint64_t bytes;
	int r = 0;

	if (fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, st->st_size) < 0)
		r = errno == EOPNOTSUPP && ftruncate(fd, 0) == 0 ? 0 : -errno;
	if (r == 0 && ftruncate(fd, (off_t)c->mark.elf_size) < 0)
		r = -errno;
	if (r == 0)
		r = write_pieces(c, fd, &bytes);
	/* It was not used now. */
	(void)futimens(fd, times);
	return r;
}

/* 0: it is as the rules say, or none of ours (ret_mark's id has no size); else it is not to be read any more. */
static int
renew_file(int fd, struct stored_mark *ret_mark)
{
	struct object_copy c = { .nr = 0 };
	struct io_source *file = io_source_dup(fd);
	struct stat st;
	int r = file && fstat(fd, &st) == 0 ? 0 : -errno;

	if (r == 0 && stored_mark_read(file, &c.mark) == 0 && c.mark.rules < STORED_RULES) {
		r = reduce_copy(&c, file);
		if (r == 0)
			r = rewrite(&c, fd, &st);
	}
	if (file)
		file->close(file);
	*ret_mark = c.mark;
	object_copy_done(&c);
	return r;
}

/* A user's file has the first place no more. */
static void
make_way(int place, const char *name, const struct stored_mark *mark)
{
	char sub[3], first[STORED_NAME_BYTES], users[STORED_NAME_BYTES];

	if (is_first(mark->uid) || !stored_object_name(&mark->id, sub, first) ||
	    strcmp(name, first) != 0 || !stored_object_name_of(&mark->id, mark->uid, sub, users))
		return;
	if (renameat(place, name, place, users) < 0)
		(void)unlinkat(place, name, 0);
}

static void
renew_name(int place, const char *name)
{
	struct stored_mark mark;
	struct stat st;
	const size_t n = strlen(name), end = strlen(".debug");
	const int fd = n > end && strcmp(name + n - end, ".debug") == 0
		? openat(place, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
		: -1;

	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid()) {
		if (renew_file(fd, &mark) == 0)
			make_way(place, name, &mark);
		else if (ftruncate(fd, 0) == 0)
			(void)unlinkat(place, name, 0);
	}
	(void)close(fd);
}

void
object_copy_renew(const char *dir, unsigned int part)
{
	char sub[3];
	int place = -1, top = open_dir(AT_FDCWD, dir, false), by_id;
	const struct dirent *e;
	DIR *entries;

	(void)snprintf(sub, sizeof(sub), "%02x", part % OBJECT_COPY_PARTS);
	by_id = top < 0 ? top : open_dir(top, STORED_BY_ID, false);
	if (by_id >= 0)
		place = open_dir(by_id, sub, false);
	if (top >= 0)
		(void)close(top);
	if (by_id >= 0)
		(void)close(by_id);
	entries = place < 0 ? NULL : fdopendir(place);
	if (!entries) {
		if (place >= 0)
			(void)close(place);
		return;
	}
	while ((e = readdir(entries)))
		renew_name(place, e->d_name);
	(void)closedir(entries);
}

static bool
use(int place, const char *name)
{
	return utimensat(place, name, NULL, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Whose file is it a copy of? False: it is none. */
static bool
read_owner(int place, const char *name, uid_t *ret)
{
	const int fd = openat(place, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct io_source *file = fd < 0 ? NULL : io_source_fd(fd);
	struct stored_mark mark;
	bool good = file && stored_mark_read(file, &mark) == 0;

	if (good)
		*ret = mark.uid;
	if (file)
		file->close(file);
	return good;
}

bool
object_copy_touch(const char *dir, const struct buildid *id, uid_t owner)
{
	char name[STORED_NAME_BYTES];
	int place = open_place(dir, id, owner, false, name);
	uid_t has;
	bool there;

	if (place < 0)
		return false;
	/* Before there were places for users' files, theirs stood in the first one. */
	there = read_owner(place, name, &has) && (has == owner || (has == 0 && is_first(owner))) &&
		use(place, name);
	(void)close(place);
	return there;
}

void
object_copy_use(const char *dir, const struct buildid *id)
{
	char name[STORED_NAME_BYTES];
	int place = open_place(dir, id, 0, false, name);
	const struct dirent *e;
	DIR *entries;
	uint32_t uid;

	if (place < 0)
		return;
	/* Those of users are not read where that is there. */
	entries = use(place, name) ? NULL : fdopendir(place);
	while (entries && (e = readdir(entries)))
		if (stored_object_is_user(e->d_name, name, &uid))
			(void)use(place, e->d_name);
	if (entries)
		(void)closedir(entries);
	else
		(void)close(place);
}
