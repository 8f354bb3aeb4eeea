/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The account is read from the directory, at start and again now and then: an administrator
 * may have removed files, or pins. A header is only looked at when a file is new to us.
 */
#include "daemon/archive/archive_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "daemon/process/log.h"
#include "format/block/recording_header.h"
#include "format/bytes/array.h"
#include "format/bytes/time_text.h"
#include "format/recording/recording_reader.h"
#include "format/stored/stored_object.h"
#include "recorder/host/host.h"

#define PIN_SUFFIX ".debug" /* of a link to a copy, behind its build-id (archive_pins.c) */
/* What has no recording in so much of it is none: a large file would take minutes to search. */
#define FRONT_BYTES (64u << 20)

struct scan {
	struct archive *a;
	const struct archive_file *old; /* sorted by name */
	size_t nr_old;
	struct archive_file *files;
	size_t nr, cap;
	uint64_t other, members_labels;
	bool renamed;
	/* The directory being read. */
	int fd;
	const char *prefix; /* "", "captures/", "kept/LABEL/" */
	enum retention_kind kind;
	bool of_members; /* a label of members */
};

static int
compare_names(const void *a, const void *b)
{
	return strcmp(((const struct archive_file *)a)->name,
		      ((const struct archive_file *)b)->name);
}

static const struct archive_file *
find_old(const struct scan *s, const char *name)
{
	struct archive_file key;

	/* bsearch() takes the key as it gives the elements. */
	memset(&key, 0, sizeof(key));
	key.name = (char *)(uintptr_t)name;
	return s->nr_old ? bsearch(&key, s->old, s->nr_old, sizeof(key), compare_names) : NULL;
}

int
archive_rename(int dirfd, const char *from, const char *to)
{
	struct stat st;

	if (renameat2(dirfd, from, dirfd, to, RENAME_NOREPLACE) == 0)
		return 0;
	/* A file system without the flag: nobody else makes names here, so that asking does. */
	if (errno != EINVAL)
		return -errno;
	if (fstatat(dirfd, to, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return -EEXIST;
	return renameat(dirfd, from, dirfd, to) == 0 ? 0 : -errno;
}

/*
 * Is this a recording, at least in part? When it cannot be known, it is. Finds its start when
 * *start_s is 0. why is for the log.
 */
static bool
is_recording(int dirfd, const char *base, uint64_t *start_s, char *why, size_t size)
{
	int fd = openat(dirfd, base, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	char magic[RECORDING_MAGIC_BYTES];
	struct recording_reader *r;
	struct fmt_where where = { 0 };
	struct io_source *source;
	struct stat st;
	int error;

	if (fd < 0)
		return true;
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return true;
	}
	if (*start_s && pread(fd, magic, sizeof(magic), 0) == (ssize_t)sizeof(magic) &&
	    memcmp(magic, RECORDING_MAGIC, sizeof(magic)) == 0) {
		close(fd);
		return true;
	}
	source = io_source_fd(fd);
	if (source)
		source = io_source_front(source, FRONT_BYTES);
	if (!source)
		return true;
	error = recording_reader_open(source, &r, &where);
	if (!error) {
		*start_s = recording_reader_meta(r)->start.realtime / 1000000000u;
		recording_reader_close(r);
		return true;
	}
	snprintf(why, size, "%s%s%s", fmt_error_text(error), where.detail[0] ? ": " : "",
		 where.detail);
	return error != -FMT_E_NOT_RECORDING && error != -FMT_E_EMPTY && error != -FMT_E_CORRUPT;
}

static int
archive_scan_push(struct scan *s, const struct archive_file *f)
{
	if (array_reserve(s->files, s->nr, s->cap, 1) < 0)
		return -ENOMEM;
	s->files[s->nr++] = *f;
	return 0;
}

/* Moves a file out of the readers' way, to NAME~ or NAME~~...; base is changed to it. */
static int
quarantine(struct scan *s, char *base, size_t size, const char *why)
{
	size_t n = strlen(base);
	char to[NAME_MAX + 8];
	int error = -EEXIST;

	snprintf(to, sizeof(to), "%s", base);
	for (int i = 0; i < 4 && error == -EEXIST && n + 1 < size; i++) {
		to[n++] = '~';
		to[n] = '\0';
		error = archive_rename(s->fd, base, to);
	}
	if (error) {
		log_warning("%s/%s%s: %s; it cannot be set aside: %s", s->a->path, s->prefix, base,
			    why, strerror(-error));
		return error;
	}
	log_warning("%s/%s%s: %s; set aside as %s", s->a->path, s->prefix, base, why, to);
	snprintf(base, size, "%s", to);
	s->renamed = true;
	return 0;
}

/* What a dead daemon left active is a segment now, as it is. base becomes the new name. */
static int
seal_leftover(struct scan *s, char *base, const struct stat *st)
{
	char to[NAME_MAX + 8];
	int error;

	snprintf(to, sizeof(to), "%.*s", (int)(strlen(base) - strlen(ARCHIVE_ACTIVE)), base);
	if (st->st_size == 0) {
		error = unlinkat(s->fd, base, 0) == 0 ? -ENOENT : -errno;
	} else {
		error = archive_rename(s->fd, base, to);
		if (!error)
			snprintf(base, NAME_MAX + 8, "%s", to);
		s->renamed |= !error;
	}
	if (error && error != -ENOENT)
		log_warning("%s/%s%s: cannot be sealed: %s", s->a->path, s->prefix, base,
			    strerror(-error));
	return error;
}

static bool
is_ours(const struct scan *s, const struct stat *st)
{
	const struct archive_sink *sink;

	LIST_FOREACH(sink, &s->a->sinks, link) {
		if (!sink->gone && sink->ino == st->st_ino && sink->dev == st->st_dev)
			return true;
	}
	return false;
}

/* Decides what a file is; may rename it. 0: *kind is set; 1: foreign; negative: it is gone. */
static int
classify(struct scan *s, char *base, size_t size, const struct stat *st, struct archive_file *f)
{
	char full[NAME_MAX * 2 + 32], why[256] = "";
	const struct archive_file *old;

	f->kind = s->kind;
	if (s->kind == RETENTION_KEPT)
		return 0;
	if (segment_name_is_recording(base) && segment_name_is_active(base)) {
		int error = seal_leftover(s, base, st);

		if (error == -ENOENT)
			return error;
		/* Tried again at the next scan; until then it counts, and stays. */
		if (error) {
			f->kind = RETENTION_ACTIVE;
			return 0;
		}
	}
	if (strstr(base, ARCHIVE_SUFFIX "~")) {
		f->kind = RETENTION_QUARANTINE;
		return 0;
	}
	/* Nor is a hidden one, which no reader lists either: others' tools have such while they copy. */
	if (!segment_name_is_recording(base))
		return 1;
	snprintf(full, sizeof(full), "%s%s", s->prefix, base);
	old = find_old(s, full);
	if (old && old->ino == st->st_ino && old->dev == st->st_dev) {
		f->start_s = old->start_s;
	} else if (!is_recording(s->fd, base, &f->start_s, why, sizeof(why)) &&
		   quarantine(s, base, size, why) == 0) {
		f->kind = RETENTION_QUARANTINE;
	}
	return 0;
}

/* Is a file in kept/LABEL/ a link to a copy, by its name? */
static bool
is_pin(const char *name)
{
	const size_t length = strlen(name), suffix = strlen(PIN_SUFFIX);

	return length > suffix && strcmp(name + length - suffix, PIN_SUFFIX) == 0 &&
		strspn(name, "0123456789abcdef") == length - suffix;
}

static int
scan_entry(struct scan *s, const char *entry)
{
	struct archive_file f = { 0 };
	char base[NAME_MAX + 8];
	struct stat st;
	struct segment_name name;
	int what;

	if (fstatat(s->fd, entry, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return 0;
	if (!S_ISREG(st.st_mode)) {
		/* The directories of the archive itself are counted by archive_dirs(). */
		if (s->kind != RETENTION_SEGMENT ||
		    (strcmp(entry, ARCHIVE_CAPTURES) != 0 && strcmp(entry, ARCHIVE_KEPT) != 0 &&
		     strcmp(entry, STORED_DIRECTORY) != 0))
			s->other += archive_bytes(s->a, &st);
		return 0;
	}
	if (is_ours(s, &st))
		return 0;
	/* It counts among the copies, as long as it is there as well. */
	if (s->kind == RETENTION_KEPT && is_pin(entry)) {
		s->other += st.st_nlink > 1 ? 0 : archive_bytes(s->a, &st);
		return 0;
	}
	snprintf(base, sizeof(base), "%s", entry);
	segment_name_parse(base, &name);
	f.start_s = name.start_ns / SECOND_NS;
	what = classify(s, base, sizeof(base), &st, &f);
	if (what < 0)
		return 0;
	f.bytes = archive_bytes(s->a, &st);
	if (what == 1) {
		s->other += f.bytes;
		return 0;
	}
	f.dev = st.st_dev;
	f.ino = st.st_ino;
	f.linked = st.st_nlink > 1;
	f.of_label = s->of_members;
	f.end_s = st.st_mtime > 0 ? (uint64_t)st.st_mtime : 0;
	if (f.start_s == 0)
		f.start_s = f.end_s;
	if (f.end_s < f.start_s)
		f.end_s = f.start_s;
	f.seq = name.seq;
	/* The next one's is higher than any there is. */
	if (f.seq >= s->a->seq && f.seq < SEGMENT_NAME_SEQ_MAX)
		s->a->seq = f.seq + 1;
	if (asprintf(&f.name, "%s%s", s->prefix, base) < 0)
		return -ENOMEM;
	if (archive_scan_push(s, &f) != 0) {
		free(f.name);
		return -ENOMEM;
	}
	return 0;
}

static int
is_entry(const struct dirent *e)
{
	return strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
}

static int
scan_dir(struct scan *s, int fd, const char *prefix, enum retention_kind kind,
	 int (*visit)(struct scan *s, const char *entry))
{
	int outer_fd = s->fd, error = 0;
	const char *outer_prefix = s->prefix;
	enum retention_kind outer_kind = s->kind;
	struct dirent **entries;
	/* All of them, before any name is changed. */
	int nr = scandirat(fd, ".", &entries, is_entry, NULL);

	if (nr < 0)
		return -errno;
	s->fd = fd;
	s->prefix = prefix;
	s->kind = kind;
	for (int i = 0; i < nr; i++) {
		if (!error)
			error = visit(s, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	if (s->renamed)
		(void)fsync(fd);
	s->renamed = false;
	s->fd = outer_fd;
	s->prefix = outer_prefix;
	s->kind = outer_kind;
	return error;
}

/* An entry of kept/: a label, or something foreign. */
static int
scan_label(struct scan *s, const char *entry)
{
	char prefix[NAME_MAX + 16];
	struct stat st;
	int fd, error;

	if (fstatat(s->fd, entry, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return 0;
	s->other += archive_bytes(s->a, &st);
	if (!S_ISDIR(st.st_mode))
		return 0;
	snprintf(prefix, sizeof(prefix), ARCHIVE_KEPT "/%s/", entry);
	fd = openat(s->fd, entry, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return 0;
	s->of_members = st.st_mode & ARCHIVE_MEMBERS_MODE;
	s->members_labels += s->of_members ? archive_bytes(s->a, &st) : 0;
	error = scan_dir(s, fd, prefix, RETENTION_KEPT, scan_entry);
	s->of_members = false;
	close(fd);
	/* One that cannot be read, or is no more, is nothing to fail for. */
	return error == -ENOMEM ? error : 0;
}

static void
free_files(struct archive_file *files, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		free(files[i].name);
	free(files);
}

static void
look_at_times(const struct archive *a, struct timespec times[3])
{
	const int fds[] = { a->dir_fd, a->captures_fd, a->kept_fd };
	struct stat st;

	for (size_t i = 0; i < 3; i++)
		times[i] = fstat(fds[i], &st) == 0 ? st.st_mtim : (struct timespec){ 0 };
}

bool
archive_changed(const struct archive *a)
{
	struct timespec now[3];

	look_at_times(a, now);
	for (size_t i = 0; i < 3; i++)
		if (now[i].tv_sec != a->changed[i].tv_sec ||
		    now[i].tv_nsec != a->changed[i].tv_nsec)
			return true;
	return false;
}

int
archive_scan(struct archive *a)
{
	struct scan s = { .a = a, .old = a->files, .nr_old = a->nr };
	int error;

	a->scan_wanted = false;
	look_at_times(a, a->changed);
	error = scan_dir(&s, a->dir_fd, "", RETENTION_SEGMENT, scan_entry);
	if (!error)
		error = scan_dir(&s, a->captures_fd, ARCHIVE_CAPTURES "/", RETENTION_CAPTURE,
				 scan_entry);
	if (!error)
		error = scan_dir(&s, a->kept_fd, ARCHIVE_KEPT "/", RETENTION_KEPT, scan_label);
	if (!error && array_reserve(s.files, s.nr, s.cap, a->nr_sinks) < 0)
		error = -ENOMEM;
	if (error) {
		/* The old account stays, which is better than half a new one. */
		a->scan_wanted = true;
		free_files(s.files, s.nr);
		return error;
	}
	free_files(a->files, a->nr);
	a->files = s.files;
	a->nr = s.nr;
	a->cap = s.cap;
	a->other = s.other;
	a->members_labels = s.members_labels;
	archive_objects_scan(a);
	if (a->nr)
		qsort(a->files, a->nr, sizeof(*a->files), compare_names);
	archive_recount(a);
	archive_order(a);
	archive_dirs(a);
	a->scanned_ns = host_now_ns();
	return 0;
}
