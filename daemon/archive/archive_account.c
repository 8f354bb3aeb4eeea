/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the archive has, as it was last seen: files by their order, and the bytes of each kind. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include "daemon/archive/archive_internal.h"
#include "format/bytes/array.h"

uint64_t
archive_bytes(const struct archive *a, const struct stat *st)
{
	uint64_t size = st->st_size > 0 ? (uint64_t)st->st_size : 0;
	uint64_t blocks = (uint64_t)st->st_blocks * 512;
	uint64_t n = size > blocks ? size : blocks;

	return (n + a->unit - 1) / a->unit * a->unit;
}

int
archive_reserve(struct archive *a, size_t more)
{
	return array_reserve(a->files, a->nr, a->cap, a->nr_sinks + more) < 0 ? -ENOMEM : 0;
}

void
archive_add(struct archive *a, const struct archive_file *f)
{
	const char *base = strrchr(f->name, '/');
	struct segment_name name;
	size_t at = a->nr;

	while (at > 0 && strcmp(a->files[at - 1].name, f->name) > 0)
		at--;
	memmove(&a->files[at + 1], &a->files[at], (a->nr - at) * sizeof(*a->files));
	a->files[at] = *f;
	segment_name_parse(base ? base + 1 : f->name, &name);
	a->files[at].seq = name.seq;
	a->nr++;
	archive_order(a);
}

/* The last begun first; at the end those without a number. */
static int
compare_seq(const void *a, const void *b, void *arg)
{
	const struct archive_file *files = arg;
	uint64_t x = files[*(const size_t *)a].seq, y = files[*(const size_t *)b].seq;

	return (x < y) - (x > y);
}

void
archive_order(struct archive *a)
{
	size_t *order = calloc(a->nr + 1, sizeof(*order));
	uint64_t after_s = UINT64_MAX;

	for (size_t i = 0; i < a->nr; i++) {
		a->files[i].order_s = a->files[i].end_s;
		if (order)
			order[i] = i;
	}
	if (!order)
		return;
	qsort_r(order, a->nr, sizeof(*order), compare_seq, a->files);
	for (size_t i = 0; i < a->nr; i++) {
		struct archive_file *f = &a->files[order[i]];
		/* Captures go on beside segments that are begun later. */
		uint64_t at_s = f->kind == RETENTION_CAPTURE ? f->start_s : f->end_s;

		if (f->seq == 0 || (f->kind != RETENTION_CAPTURE && f->kind != RETENTION_SEGMENT))
			continue;
		if (at_s > after_s)
			f->order_s = after_s ? after_s - 1 : 0;
		if (f->kind == RETENTION_SEGMENT && f->order_s < after_s)
			after_s = f->order_s;
	}
	free(order);
}

/* By inode; of one inode what is in kept/ last, so that the archive's own link counts. */
static int
compare_inodes(const void *a, const void *b, void *arg)
{
	const struct archive_file *files = arg;
	const struct archive_file *x = &files[*(const size_t *)a], *y = &files[*(const size_t *)b];

	if (x->dev != y->dev)
		return x->dev < y->dev ? -1 : 1;
	if (x->ino != y->ino)
		return x->ino < y->ino ? -1 : 1;
	if (x->linked != y->linked)
		return x->linked ? 1 : -1;
	return (x->kind == RETENTION_KEPT) - (y->kind == RETENTION_KEPT);
}

void
archive_recount(struct archive *a)
{
	size_t *order = calloc(a->nr + 1, sizeof(*order)), end;

	for (size_t i = 0; i < a->nr; i++)
		a->files[i].of_members = a->files[i].of_label;
	/* Without memory links count twice: the bounds hold all the more. */
	if (!order)
		return;
	for (size_t i = 0; i < a->nr; i++)
		order[i] = i;
	qsort_r(order, a->nr, sizeof(*order), compare_inodes, a->files);
	for (size_t i = 0; i < a->nr; i = end) {
		const struct archive_file *first = &a->files[order[i]];
		bool pinned = false, of_members = false;

		for (end = i; end < a->nr; end++) {
			const struct archive_file *f = &a->files[order[end]];

			if (end > i &&
			    (!f->linked || !first->linked || f->ino != first->ino ||
			     f->dev != first->dev))
				break;
			pinned |= f->kind == RETENTION_KEPT;
			of_members |= f->of_label;
		}
		for (size_t k = i; k < end; k++) {
			a->files[order[k]].second = k > i;
			a->files[order[k]].pinned = pinned;
			a->files[order[k]].of_members = of_members;
		}
	}
	free(order);
}

void
archive_dirs(struct archive *a)
{
	const int fds[] = { a->dir_fd, a->captures_fd, a->kept_fd };
	struct stat st;

	/* With room to grow by a block where names are made. */
	a->dirs = 2 * a->unit;
	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
		if (fstat(fds[i], &st) == 0)
			a->dirs += archive_bytes(a, &st);
	}
}

int
archive_dirfd(const struct archive *a, const char *name, const char **ret_base)
{
	if (strncmp(name, ARCHIVE_CAPTURES "/", sizeof(ARCHIVE_CAPTURES)) == 0) {
		*ret_base = name + sizeof(ARCHIVE_CAPTURES);
		return a->captures_fd;
	}
	*ret_base = name;
	return a->dir_fd;
}

uint64_t
archive_fs_free(const struct archive *a)
{
	struct statvfs v;

	if (fstatvfs(a->dir_fd, &v) != 0)
		return 0;
	return (uint64_t)v.f_bavail * v.f_frsize;
}
