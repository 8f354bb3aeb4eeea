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
#include "format/stored/stored_object.h"
#include "recorder/host/host.h"

/* Others wait for one step, and the watchdog sees each: far below WATCHDOG_STUCK_NS. */
#define STEP_NS (50 * UINT64_C(1000000))

/* Builds that were mapped, each at least once. */
struct pinned_ids {
	struct buildid *ids;
	size_t nr, cap;
	size_t distinct; /* when they were last sorted */
};

struct archive_pins {
	struct archive *archive;
	int label;   /* the directory */
	bool member; /* for one */
	char **names;
	size_t nr, cap, at;		    /* at: that is being read, or is next */
	struct recording_reader *reader;    /* of it; NULL: not begun */
	struct pinned_ids mapped, left_out; /* in it; by all, as there is no room */
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
static bool
begin_recording(struct archive_pins *p)
{
	int fd = openat(p->label, p->names[p->at], O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	struct io_source *source = fd < 0 ? NULL : io_source_fd(fd);

	p->mapped.nr = p->mapped.distinct = 0;
	if (!source || recording_reader_open(source, &p->reader, NULL) != 0) {
		p->reader = NULL;
		return false;
	}
	return recording_reader_seek(p->reader, tells_builds, NULL, NULL) == 0;
}

/* For a moment. False: it is over. */
static bool
read_on(struct archive_pins *p)
{
	const uint64_t until_ns = host_now_ns() + STEP_NS;
	struct block b;

	if (!p->reader && !begin_recording(p))
		return false;
	while (recording_reader_next(p->reader, tells_builds, NULL, &b, NULL) > 0) {
		if (add_block(&p->mapped, recording_reader_meta(p->reader)->events, &b) < 0)
			return false;
		if (host_now_ns() >= until_ns)
			return true;
	}
	return false;
}

/*
 * One copy, by its name below by_id, as name in the label's directory. false: there is no room for another pin. Members do
 * not pin beyond half of that room.
 */
static bool
link_copy(const struct archive_pins *p, int by_id, const char *copy, const char *name)
{
	struct archive *a = p->archive;
	const uint64_t for_root = p->member ? a->objects_share / 4 : 0;
	struct stat st;
	uint64_t bytes;

	/* Most builds have no copy. */
	if (fstatat(by_id, copy, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
		return true;
	bytes = st.st_nlink > 1 ? 0 : archive_objects_bytes(&st);
	if (bytes && !archive_objects_may_pin(a, bytes + for_root))
		return false;
	if (linkat(by_id, copy, p->label, name, 0) == 0)
		a->objects_pinned += bytes;
	else if (errno != ENOENT && errno != EEXIST)
		log_user_warning(LOG_NO_USER, 1,
				 "%s/" ARCHIVE_KEPT ": a copy of a program cannot be pinned: %s",
				 a->path, strerror(errno));
	return true;
}

/* Copies of users' files of a build: who reads what is kept chooses. */
static bool
link_users(struct archive_pins *p, int by_id, const char *sub, const char *first)
{
	const int fd = openat(by_id, sub, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	char to[STORED_NAME_BYTES + 2];
	const struct dirent *e;
	bool room = true;
	uint32_t uid;

	if (!dir && fd >= 0)
		close(fd);
	while (dir && (e = readdir(dir)))
		if (stored_object_is_user(e->d_name, first, &uid) &&
		    snprintf(to, sizeof(to), "%s%s", sub, e->d_name) < (int)sizeof(to))
			room &= link_copy(p, fd, e->d_name, to);
	if (dir)
		closedir(dir);
	return room;
}

static void
link_copies(struct archive_pins *p)
{
	const int by_id = archive_objects_open(p->archive);
	char sub[3], name[STORED_NAME_BYTES], from[STORED_NAME_BYTES + 3],
		to[STORED_NAME_BYTES + 2];

	sort_ids(&p->mapped);
	for (size_t i = 0; i < p->mapped.nr && by_id >= 0; i++) {
		const struct buildid *id = &p->mapped.ids[i];

		if (!stored_object_name(id, sub, name))
			continue;
		(void)snprintf(from, sizeof(from), "%s/%s", sub, name);
		(void)snprintf(to, sizeof(to), "%s%s", sub, name);
		if (!link_copy(p, by_id, from, to) || !link_users(p, by_id, sub, name))
			(void)add_id(&p->left_out, id);
	}
	if (by_id >= 0)
		close(by_id);
}

static void
finish(struct archive_pins *p)
{
	struct archive *a = p->archive;

	(void)fsync(p->label);
	sort_ids(&p->left_out);
	if (p->left_out.nr)
		log_user_warning(
			LOG_NO_USER, 1,
			"%s/" ARCHIVE_KEPT
			": %zu of the copies of programs that name what is kept may be deleted: those "
			"that stay have half of objects_share; set it higher, or delete labels there",
			a->path, p->left_out.nr);
	/* The directory may have grown. */
	pthread_mutex_lock(&a->lock);
	a->scan_wanted = true;
	pthread_mutex_unlock(&a->lock);
}

struct archive_pins *
archive_pins_new(struct archive *a, int label, bool member)
{
	struct archive_pins *p = calloc(1, sizeof(*p));

	if (!p) {
		close(label);
		return NULL;
	}
	p->archive = a;
	p->label = label;
	p->member = member;
	return p;
}

int
archive_pins_add(struct archive_pins *p, const char *name)
{
	char *copy = NULL;

	if (array_reserve(p->names, p->nr, p->cap, 1) < 0 || !(copy = strdup(name)))
		return -ENOMEM;
	p->names[p->nr++] = copy;
	return 0;
}

bool
archive_pins_step(struct archive_pins *p)
{
	if (p->at == p->nr)
		return false;
	if (read_on(p))
		return true;
	recording_reader_close(p->reader);
	p->reader = NULL;
	/* A copy that is being looked at must not go meanwhile. */
	pthread_mutex_lock(&p->archive->lock);
	link_copies(p);
	pthread_mutex_unlock(&p->archive->lock);
	if (++p->at < p->nr)
		return true;
	finish(p);
	return false;
}

void
archive_pins_free(struct archive_pins *p)
{
	if (!p)
		return;
	recording_reader_close(p->reader);
	close(p->label);
	for (size_t i = 0; i < p->nr; i++)
		free(p->names[i]);
	free(p->names);
	free(p->mapped.ids);
	free(p->left_out.ids);
	free(p);
}
