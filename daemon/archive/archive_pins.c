/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The copies of mapped files that name what is kept: kept/LABEL has a hard link to each, "<build-id>.debug". A
 * copy with more than one link is never deleted (archive_objects.c), so that the directory is the truth here as
 * well: who deletes the label unpins them. Readers find them in spoor-objects/ as before.
 */
#include "daemon/archive/archive_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/process/log.h"
#include "format/block/buildids.h"
#include "format/bytes/array.h"
#include "format/recording/recording_reader.h"
#include "format/recording/segment_name.h"
#include "format/stored/stored_object.h"

#define SUFFIX ".debug"

/* Builds that were mapped, each at least once. */
struct pinned_ids {
	struct buildid *ids;
	size_t nr, cap;
	size_t distinct; /* when they were last sorted */
};

static int
compare_ids(const void *a, const void *b)
{
	return buildid_cmp(a, b);
}

static void
sort_ids(struct pinned_ids *p)
{
	size_t nr = 0;

	if (p->nr > 0)
		qsort(p->ids, p->nr, sizeof(*p->ids), compare_ids);
	for (size_t i = 0; i < p->nr; i++)
		if (nr == 0 || buildid_cmp(&p->ids[nr - 1], &p->ids[i]) != 0)
			p->ids[nr++] = p->ids[i];
	p->nr = p->distinct = nr;
}

/* Every process that maps a file has a record of it: they are made one when they have doubled. */
static int
add_id(struct pinned_ids *p, const struct buildid *id)
{
	if (id->size == 0)
		return 0;
	if (p->nr > 4096 && p->nr > 2 * p->distinct)
		sort_ids(p);
	if (array_reserve(p->ids, p->nr, p->cap, 1) < 0)
		return -ENOMEM;
	p->ids[p->nr++] = *id;
	return 0;
}

/* Who was who, without the blocks of samples. */
static bool
tells_builds(const struct block_header *h, void *arg)
{
	(void)arg;
	return h->type == BLOCK_STATE || h->type == BLOCK_BUILDIDS ||
		(h->type == BLOCK_RECORDS && h->records > h->samples);
}

static int
add_block(struct pinned_ids *p, const struct event_set *events, const struct block *b)
{
	struct span records = b->payload, bytes;
	struct buildid_entry entry;
	struct perf_record record;
	size_t cursor = 0;
	int error = 0;

	if (b->header.type == BLOCK_BUILDIDS) {
		while (!error && buildids_next(b->payload, &cursor, &entry) > 0)
			error = add_id(p, &entry.id);
		return error;
	}
	while (!error && perf_record_next(&records, &bytes) > 0)
		if (event_set_parse(events, bytes, &record, NULL) == 0 && record.type == REC_MMAP2)
			error = add_id(p, &record.mmap.build_id);
	return error;
}

/* What cannot be read pins nothing: its readers will find nothing, either. */
static int
add_recording(struct pinned_ids *p, int dir, const char *name)
{
	struct recording_reader *r;
	struct io_source *source;
	struct block b;
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK), error = 0;

	source = fd < 0 ? NULL : io_source_fd(fd);
	if (!source || recording_reader_open(source, &r, NULL) != 0)
		return 0;
	if (recording_reader_seek(r, tells_builds, NULL, NULL) == 0)
		while (!error && recording_reader_next(r, tells_builds, NULL, &b, NULL) > 0)
			error = add_block(p, recording_reader_meta(r)->events, &b);
	recording_reader_close(r);
	return error;
}

/* One copy, by its name below by_id, as name in the label's directory. false: there is no room for another pin. */
static bool
link_copy(struct archive *a, int by_id, const char *copy, int label, const char *name)
{
	struct stat st;
	uint64_t bytes;

	/* Most builds have no copy. */
	if (fstatat(by_id, copy, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
		return true;
	bytes = st.st_nlink > 1 ? 0 : (uint64_t)st.st_blocks * 512;
	if (bytes && !archive_objects_may_pin(a, bytes))
		return false;
	if (linkat(by_id, copy, label, name, 0) == 0)
		a->objects_pinned += bytes;
	else if (errno != ENOENT && errno != EEXIST)
		log_warning("%s/" ARCHIVE_KEPT ": a copy of a program cannot be pinned: %s",
			    a->path, strerror(errno));
	return true;
}

static void
link_copies(struct archive *a, struct pinned_ids *p, int label)
{
	const int by_id = archive_objects_open(a);
	char sub[3], name[STORED_NAME_BYTES], from[STORED_NAME_BYTES + 3],
		to[STORED_NAME_BYTES + 2];
	size_t left_out = 0;

	archive_objects_scan(a);
	sort_ids(p);
	for (size_t i = 0; i < p->nr && by_id >= 0; i++) {
		if (!stored_object_name(&p->ids[i], sub, name))
			continue;
		(void)snprintf(from, sizeof(from), "%s/%s", sub, name);
		(void)snprintf(to, sizeof(to), "%s%s", sub, name);
		left_out += !link_copy(a, by_id, from, label, to);
	}
	if (left_out)
		log_warning(
			"%s/" ARCHIVE_KEPT
			": %zu of the copies of programs that name what is kept may be deleted: those "
			"that stay have half of objects_share; set it higher, or delete labels there",
			a->path, left_out);
	if (by_id >= 0)
		close(by_id);
	(void)fsync(label);
}

void
archive_pins_make(struct archive *a, const char *label)
{
	int fd = openat(a->kept_fd, label, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct pinned_ids p = { .nr = 0 };
	struct dirent **entries;
	int nr = fd < 0 ? -1 : scandirat(fd, ".", &entries, NULL, NULL), error = 0;

	for (int i = 0; i < nr; i++) {
		if (!error && segment_name_is_recording(entries[i]->d_name))
			error = add_recording(&p, fd, entries[i]->d_name);
		free(entries[i]);
	}
	if (nr >= 0)
		free(entries);
	pthread_mutex_lock(&a->lock);
	if (nr >= 0)
		link_copies(a, &p, fd);
	pthread_mutex_unlock(&a->lock);
	if (fd >= 0)
		close(fd);
	free(p.ids);
}

bool
archive_pins_is(const char *name)
{
	const size_t length = strlen(name), suffix = strlen(SUFFIX);

	return length > suffix && strcmp(name + length - suffix, SUFFIX) == 0 &&
		strspn(name, "0123456789abcdef") == length - suffix;
}
