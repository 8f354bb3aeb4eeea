/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What people do with the archive: look, pin, vacuum. */
#include "daemon/archive/archive_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bsd/string.h>

#include "daemon/config/config_value.h"

/* Segments that must still fit beside everything that is pinned. */
#define SEGMENTS_FREE 2
/* Links in kept/, which nothing here removes: each is in memory, and listed, and scanned. */
#define LINKS_MAX 8192
/* With this much free beyond keep_free it is not the file system that is full. */
#define ROOM_ENOUGH (UINT64_C(1) << 20)

static bool
overlaps(const struct archive_file *f, uint64_t from_s, uint64_t until_s)
{
	return f->kind == RETENTION_SEGMENT && f->end_s >= from_s && f->start_s <= until_s;
}

/* What kept/ would have, with what is wanted: of all labels, and of members'. */
struct bill {
	int wanted, links, members_links;
	uint64_t pinned, members;
};

static void
add_up(const struct archive *a, uint64_t from_s, uint64_t until_s, bool member, struct bill *b)
{
	/* A label's directory stays as well: many of them must not take what segments need. */
	*b = (struct bill){
		.pinned = a->other + a->dirs + a->unit + archive_objects_reserved(a),
		.members = a->members_labels + (member ? a->unit : 0),
	};
	for (size_t i = 0; i < a->nr; i++) {
		const struct archive_file *f = &a->files[i];
		const bool wanted = overlaps(f, from_s, until_s);

		b->wanted += wanted;
		b->links += wanted || f->kind == RETENTION_KEPT;
		b->members_links += (wanted && member) || f->of_label;
		if (f->second)
			continue;
		if (wanted || f->pinned || f->kind == RETENTION_KEPT)
			b->pinned += f->bytes;
		if ((wanted && member) || f->of_members)
			b->members += f->bytes;
	}
}

/* What all members pin together is bounded: what is pinned is no one's to delete, and is not recorded over. */
static int
check_members(const struct archive *a, const struct bill *now, struct session_error *error)
{
	const uint64_t half = a->limits.max_use / 2;
	struct bill before;

	if (now->members_links > LINKS_MAX / 2)
		return archive_fail(
			error, -EDQUOT,
			"labels of members would have %d files, and may have %d: ask root "
			"to delete labels of members in %s/" ARCHIVE_KEPT,
			now->members_links, LINKS_MAX / 2, a->path);
	if (half == 0 || now->members <= half)
		return 0;
	add_up(a, UINT64_MAX, 0, false, &before);
	return archive_fail(
		error, -EDQUOT,
		"labels of members pin %llu bytes, with this one %llu: they may pin half of "
		"max_use, which is %llu; keep less, or ask root to delete labels of members "
		"in %s/" ARCHIVE_KEPT " (rm -r; ls -l shows a T in their mode)",
		(unsigned long long)before.members, (unsigned long long)now->members,
		(unsigned long long)half, a->path);
}

/* Would the archive go on with these pinned too? Marks them, so that making room spares them. */
static int
pin(struct archive *a, uint64_t from_s, uint64_t until_s, bool member, struct session_error *error)
{
	struct bill b;
	int r;

	add_up(a, from_s, until_s, member, &b);
	if (b.wanted == 0)
		return 0;
	r = member ? check_members(a, &b, error) : 0;
	if (r < 0)
		return r;
	if (b.links > LINKS_MAX)
		return archive_fail(error, -ENOSPC,
				    "%s/" ARCHIVE_KEPT " would have %d files, more than %d: "
				    "delete labels there",
				    a->path, b.links, LINKS_MAX);
	if (a->limits.max_use &&
	    b.pinned + SEGMENTS_FREE * archive_segment_bytes(a) > a->limits.max_use)
		return archive_fail(error, -ENOSPC,
				    "pinning %llu bytes would not leave enough of max_use "
				    "to record on",
				    (unsigned long long)b.pinned);
	for (size_t i = 0; i < a->nr; i++)
		a->files[i].pinned |= overlaps(&a->files[i], from_s, until_s);
	if (archive_room(a, a->unit, false) != 0)
		return archive_fail(error, -ENOSPC, "no room for a directory");
	return b.wanted;
}

/* The directory of a label, made or found. Its mode tells whose it is. -errno. */
static int
open_label(struct archive *a, const char *label, bool member, struct session_error *error)
{
	const mode_t mode = ARCHIVE_DIR_MODE | (member ? ARCHIVE_MEMBERS_MODE : 0);
	struct stat st = { .st_mode = 0 };
	int fd;

	if (mkdirat(a->kept_fd, label, mode) != 0 && errno != EEXIST)
		return archive_fail(error, -errno, "%s/" ARCHIVE_KEPT "/%s", a->path, label);
	fd = openat(a->kept_fd, label, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return archive_fail(error, -errno, "%s/" ARCHIVE_KEPT "/%s", a->path, label);
	if (!member || (fstat(fd, &st) == 0 && (st.st_mode & ARCHIVE_MEMBERS_MODE)))
		return fd;
	close(fd);
	return archive_fail(error, -EEXIST,
			    "%s/" ARCHIVE_KEPT "/%s is a label of root's: use another", a->path,
			    label);
}

/*
 * Links all segments that are wanted into an open directory; how many, or -errno. pins gets the names of those that were
 * not in it before.
 */
static int
link_all(struct archive *a, int label_fd, uint64_t from_s, uint64_t until_s,
	 struct archive_pins *pins)
{
	int n = 0, r;

	for (size_t i = 0; i < a->nr; i++) {
		const struct archive_file *f = &a->files[i];

		if (!overlaps(f, from_s, until_s))
			continue;
		r = linkat(a->dir_fd, f->name, label_fd, f->name, 0) == 0 ? 0 : -errno;
		if (r == 0 || r == -EEXIST)
			n++;
		else if (r != -ENOENT)
			return r;
		if (r == 0 && archive_pins_add(pins, f->name) < 0)
			return -ENOMEM;
	}
	return fsync(label_fd) == 0 && fsync(a->kept_fd) == 0 ? n : -errno;
}

static int
archive_keep_keep(struct archive *a, const char *label, uint64_t from_s, uint64_t until_s,
		  bool member, struct archive_pins **ret_pins, struct session_error *error)
{
	int n = pin(a, from_s, until_s, member, error), fd;
	struct archive_pins *pins;

	if (n <= 0)
		return n;
	fd = open_label(a, label, member, error);
	if (fd < 0)
		return fd;
	pins = archive_pins_new(a, fd, member);
	n = pins ? link_all(a, fd, from_s, until_s, pins) : -ENOMEM;
	if (n > 0 && ret_pins)
		*ret_pins = pins;
	else
		archive_pins_free(pins);
	if (n < 0)
		archive_fail(error, n, "%s/" ARCHIVE_KEPT "/%s", a->path, label);
	/* Nothing pinned: not even the directory stays (if it is empty). */
	if (n <= 0)
		(void)unlinkat(a->kept_fd, label, AT_REMOVEDIR);
	return n;
}

int
archive_keep(struct archive *a, const char *label, uint64_t from_s, uint64_t until_s, bool member,
	     struct archive_pins **ret_pins, struct session_error *error)
{
	int n;

	if (ret_pins)
		*ret_pins = NULL;
	if (!config_label_good(label))
		return archive_fail(error, -EINVAL, LABEL_RULE);
	pthread_mutex_lock(&a->lock);
	n = archive_keep_keep(a, label, from_s, until_s, member, ret_pins, error);
	/* The truth again, be it for what is pinned now or for what is not after all. */
	(void)archive_scan(a);
	pthread_mutex_unlock(&a->lock);
	return n;
}

int
archive_vacuum(struct archive *a, uint64_t max_use, uint64_t max_age_s, uint64_t max_segments,
	       uint64_t *ret_bytes, uint32_t *ret_copies, struct session_error *error)
{
	struct archive_purge p = {
		.question = { .limits = { .max_use = max_use,
					  .max_age_s = max_age_s,
					  .max_segments = max_segments },
			      .fs_free = UINT64_MAX / 2,
			      .now_s = archive_now_s() },
	};
	uint32_t copies = 0;
	int r;

	pthread_mutex_lock(&a->lock);
	r = archive_scan(a);
	if (!r)
		archive_purge(a, &p);
	if (!r && max_use && archive_used(a) > max_use) {
		p.bytes += a->objects;
		copies = archive_objects_drop(a, archive_used(a) - max_use);
		p.bytes -= a->objects;
	}
	pthread_mutex_unlock(&a->lock);
	if (r)
		return archive_fail(error, r, "%s", a->path);
	*ret_bytes = p.bytes;
	if (ret_copies)
		*ret_copies = copies;
	return (int)p.files;
}

static const char *
kind_name(enum retention_kind kind)
{
	static const char *const names[] = {
		[RETENTION_SEGMENT] = "segment",	[RETENTION_ACTIVE] = "active",
		[RETENTION_QUARANTINE] = "quarantined", [RETENTION_KEPT] = "kept",
		[RETENTION_CAPTURE] = "capture",
	};

	return names[kind];
}

static int
compare_entries(const void *a, const void *b)
{
	const struct archive_entry *x = a, *y = b;

	if (x->start_s != y->start_s)
		return x->start_s < y->start_s ? -1 : 1;
	return strcmp(x->name, y->name);
}

static size_t
fill_entries(const struct archive *a, struct archive_entry *entries)
{
	const struct archive_sink *s;
	size_t n = 0;

	for (size_t i = 0; i < a->nr; i++, n++) {
		const struct archive_file *f = &a->files[i];

		entries[n].kind = kind_name(f->kind);
		entries[n].bytes = f->bytes;
		entries[n].start_s = f->start_s;
		entries[n].end_s = f->end_s;
		strlcpy(entries[n].name, f->name, sizeof(entries[n].name));
	}
	LIST_FOREACH(s, &a->sinks, link) {
		if (s->gone)
			continue;
		entries[n].kind = kind_name(RETENTION_ACTIVE);
		entries[n].bytes = s->bytes;
		entries[n].start_s = s->start_s;
		entries[n].end_s = archive_now_s();
		strlcpy(entries[n].name, s->name, sizeof(entries[n].name));
		strlcat(entries[n].name, ARCHIVE_ACTIVE, sizeof(entries[n].name));
		n++;
	}
	return n;
}

ssize_t
archive_list(struct archive *a, struct archive_entry **ret)
{
	struct archive_entry *entries;
	size_t n = 0;

	pthread_mutex_lock(&a->lock);
	entries = calloc(a->nr + a->nr_sinks + 1, sizeof(*entries));
	if (entries)
		n = fill_entries(a, entries);
	pthread_mutex_unlock(&a->lock);
	if (!entries)
		return -ENOMEM;
	qsort(entries, n, sizeof(*entries), compare_entries);
	*ret = entries;
	return (ssize_t)n;
}

static void
count_usage(const struct archive *a, struct archive_usage *u)
{
	*u = (struct archive_usage){
		.bytes = archive_used(a),
		.max_use = a->limits.max_use,
		.objects_bytes = a->objects,
		.keep_free = a->limits.keep_free,
		.fs_free = archive_fs_free(a),
		.segment_bytes = archive_segment_bytes(a),
		.deleted_segments = a->deleted_segments,
		.deleted_bytes = a->deleted_bytes,
		.lost_files = a->lost_files,
		.astray = a->astray,
	};
	(void)strlcpy(u->lost, a->lost, sizeof(u->lost));
	for (size_t i = 0; i < a->nr; i++) {
		u->segments += a->files[i].kind == RETENTION_SEGMENT;
		u->kept += a->files[i].kind == RETENTION_KEPT;
		u->captures += a->files[i].kind == RETENTION_CAPTURE;
		u->quarantined += a->files[i].kind == RETENTION_QUARANTINE;
	}
}

void
archive_usage(struct archive *a, struct archive_usage *ret)
{
	struct archive_usage u;
	bool fresh = pthread_mutex_trylock(&a->lock) == 0;

	if (fresh) {
		count_usage(a, &u);
		pthread_mutex_unlock(&a->lock);
	}
	pthread_mutex_lock(&a->usage_lock);
	if (fresh)
		a->usage = u;
	*ret = a->usage;
	pthread_mutex_unlock(&a->usage_lock);
}

void
archive_trouble(struct archive *a, char out[ARCHIVE_TROUBLE_BYTES])
{
	int error = a->refused;
	struct archive_usage u;

	archive_usage(a, &u);
	if (error == ESTALE)
		snprintf(out, ARCHIVE_TROUBLE_BYTES,
			 "%s: the file is gone, and there is no new one yet", a->path);
	else if (error != ENOSPC && error != EDQUOT)
		snprintf(out, ARCHIVE_TROUBLE_BYTES, "%s: %s: see to the disk", a->path,
			 strerror(error));
	else if (error == ENOSPC && u.fs_free > u.keep_free + ROOM_ENOUGH)
		snprintf(out, ARCHIVE_TROUBLE_BYTES,
			 "%s: %llu of max_use = %llu bytes are taken, and nothing there may be "
			 "deleted: delete labels in " ARCHIVE_KEPT ", or raise max_use",
			 a->path, (unsigned long long)u.bytes, (unsigned long long)u.max_use);
	else
		snprintf(out, ARCHIVE_TROUBLE_BYTES,
			 "%s: %s: %llu bytes are free of which keep_free = %llu are not to be "
			 "used: free space there, or lower keep_free",
			 a->path, strerror(error), (unsigned long long)u.fs_free,
			 (unsigned long long)u.keep_free);
}
