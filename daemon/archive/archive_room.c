/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Room: what is taken, and deletion by retention's plan. Nothing else in the daemon deletes a
 * recording. After an unlink(2) that fails the file is still in the account.
 */
#include "daemon/archive/archive_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/process/log.h"
#include "recorder/host/host.h"

/* Metadata that a write may take beside its data: a block or two of the extent tree. */
#define SLACK_UNITS 2
/* Before bytes are refused the directory is read again, but not more often than this. */
#define RESCAN_NS UINT64_C(1000000000)

static uint64_t
reserved(const struct archive *a)
{
	const struct archive_sink *s;
	uint64_t n = 0;

	LIST_FOREACH(s, &a->sinks, link)
		n += s->reserved;
	return n;
}

/* What is being written of a kind. */
static uint64_t
sink_bytes(const struct archive *a, enum retention_kind kind)
{
	const struct archive_sink *s;
	uint64_t n = 0;

	LIST_FOREACH(s, &a->sinks, link)
		n += s->kind == kind ? s->bytes + s->reserved : 0;
	return n;
}

/* What no deletion gives back: what is being written, directories, foreign files, objects. */
static uint64_t
fixed_bytes(const struct archive *a)
{
	return a->other + a->dirs + a->objects + sink_bytes(a, RETENTION_SEGMENT) +
		sink_bytes(a, RETENTION_CAPTURE);
}

uint64_t
archive_used(const struct archive *a)
{
	uint64_t n = fixed_bytes(a);

	for (size_t i = 0; i < a->nr; i++)
		n += a->files[i].second ? 0 : a->files[i].bytes;
	return n;
}

/* As archive_fs_free(), without what has been promised to writes under way. */
static uint64_t
fs_unpromised(const struct archive *a)
{
	uint64_t fs_free = archive_fs_free(a), promised = reserved(a);

	return fs_free > promised ? fs_free - promised : 0;
}

/* What captures take, those that are being written too. */
static uint64_t
capture_bytes(const struct archive *a)
{
	uint64_t n = sink_bytes(a, RETENTION_CAPTURE);

	for (size_t i = 0; i < a->nr; i++)
		n += a->files[i].kind == RETENTION_CAPTURE && !a->files[i].second
			? a->files[i].bytes
			: 0;
	return n;
}

/* That could be deleted. */
static uint64_t
capture_files(const struct archive *a)
{
	uint64_t n = 0;

	for (size_t i = 0; i < a->nr; i++)
		n += a->files[i].kind == RETENTION_CAPTURE && !a->files[i].pinned &&
			!a->files[i].stuck;
	return n;
}

static bool
captures_fit(const struct archive *a, uint64_t need)
{
	const struct retention_limits *l = &a->limits;

	return (!l->max_captures || capture_bytes(a) + need <= l->max_captures) &&
		(!l->max_capture_files || capture_files(a) <= l->max_capture_files);
}

static bool
archive_room_fits(const struct archive *a, uint64_t need, bool capturing)
{
	const struct retention_limits *l = &a->limits;

	if (capturing && !captures_fit(a, need))
		return false;
	if (l->max_use &&
	    archive_used(a) - a->objects + archive_objects_reserved(a) + need > l->max_use)
		return false;
	return fs_unpromised(a) >= l->keep_free + need;
}

/* Deletes one; false: it is still there, and is not asked for again before the next scan. */
static bool
delete_file(struct archive *a, struct archive_file *f)
{
	const char *base;
	int fd = archive_dirfd(a, f->name, &base);
	int r = archive_delete(a, fd, base);
	struct stat st;

	if (r == 0 || r == -ENOENT)
		return true;
	log_warning("%s/%s: cannot be deleted: %s", a->path, f->name, strerror(-r));
	f->stuck = true;
	if (fstatat(fd, base, &st, AT_SYMLINK_NOFOLLOW) == 0)
		f->bytes = archive_bytes(a, &st);
	return false;
}

/* Takes the marked (name is NULL) out of the account. */
static void
compact(struct archive *a)
{
	size_t nr = 0;

	for (size_t i = 0; i < a->nr; i++) {
		if (a->files[i].name)
			a->files[nr++] = a->files[i];
	}
	a->nr = nr;
	archive_recount(a);
}

/* An end that is still to come tells no age; what came after it does. */
static uint64_t
aged_from_s(const struct archive_file *f, uint64_t now_s)
{
	return f->end_s > now_s ? f->order_s : f->end_s;
}

static struct retention_file *
question_files(const struct archive *a, uint64_t now_s, bool reserved_too)
{
	struct retention_file *files = calloc(a->nr + 2, sizeof(*files));

	for (size_t i = 0; files && i < a->nr; i++) {
		const struct archive_file *f = &a->files[i];

		files[i] = (struct retention_file){
			.kind = f->stuck ? RETENTION_ACTIVE : f->kind,
			.bytes = f->second ? 0 : f->bytes,
			.end_s = f->order_s,
			.aged_from_s = aged_from_s(f, now_s),
			.pinned = f->pinned,
		};
	}
	if (files) {
		uint64_t capturing = sink_bytes(a, RETENTION_CAPTURE);

		files[a->nr] = (struct retention_file){
			.kind = RETENTION_ACTIVE,
			.bytes = fixed_bytes(a) - capturing - a->objects +
				(reserved_too ? archive_objects_reserved(a) : a->objects),
		};
		files[a->nr + 1] = (struct retention_file){
			.kind = RETENTION_ACTIVE,
			.bytes = capturing,
			.capturing = true,
		};
	}
	return files;
}

/* One plan, carried out. false: something could not be deleted, and a new plan is due. */
static bool
purge_once(struct archive *a, struct archive_purge *p)
{
	struct retention_question *q = &p->question;
	struct retention_file *files =
		question_files(a, q->now_s, q->limits.max_use == a->limits.max_use);
	size_t *out = calloc(a->nr + 2, sizeof(*out)), nr;
	bool all = true;

	q->files = files;
	q->nr = a->nr + 2;
	nr = files && out ? retention_plan(q, out) : 0;
	for (size_t i = 0; i < nr; i++) {
		struct archive_file *f = &a->files[out[i]];

		if (!delete_file(a, f)) {
			all = false;
			continue;
		}
		p->files++;
		p->bytes += files[out[i]].bytes;
		q->fs_free += files[out[i]].bytes;
		a->deleted_segments += f->kind == RETENTION_SEGMENT;
		a->deleted_bytes += files[out[i]].bytes;
		free(f->name);
		f->name = NULL;
	}
	if (nr)
		compact(a);
	free(files);
	free(out);
	return all;
}

void
archive_purge(struct archive *a, struct archive_purge *p)
{
	/* Ends: each round that fails has one more file that is not asked for again. */
	while (!purge_once(a, p))
		;
}

static bool
scan_is_old(const struct archive *a)
{
	return host_now_ns() - a->scanned_ns >= RESCAN_NS;
}

int
archive_room(struct archive *a, uint64_t need, bool capturing)
{
	struct archive_purge p = {
		.question = { .limits = a->limits, .capturing = capturing, .only_need = true }
	};

	if (need == 0)
		return 0;
	need += SLACK_UNITS * a->unit;
	p.question.need = need;
	if (archive_room_fits(a, need, capturing))
		return 0;
	p.question.fs_free = fs_unpromised(a);
	archive_purge(a, &p);
	/*
	 * Asked anew, not reckoned: a file that a reader has open gives nothing back yet. Then
	 * the next write may try again, instead of all files going at once for nothing.
	 */
	if (archive_room_fits(a, need, capturing))
		return 0;
	if (fs_unpromised(a) < a->limits.keep_free + need)
		archive_gone_done(a);
	if (fs_unpromised(a) < a->limits.keep_free + need)
		(void)archive_objects_drop(a, a->limits.keep_free + need - fs_unpromised(a));
	if (archive_room_fits(a, need, capturing))
		return 0;
	if (!scan_is_old(a) || archive_scan(a) != 0)
		return -ENOSPC;
	return archive_room_fits(a, need, capturing) ? 0 : -ENOSPC;
}

void
archive_give_up(struct archive *a, uint64_t need)
{
	struct archive_purge p = {
		.question = { .limits.max_use = a->limits.max_use, .need = need, .only_need = true }
	};

	archive_purge(a, &p);
	archive_gone_done(a);
}

/* Is anything for a plan to do? Cheaper than a plan, for every few seconds. */
static bool
anything_due(const struct archive *a, uint64_t max_age_s, uint64_t now_s)
{
	uint64_t segments = 0;

	if (!archive_room_fits(a, 0, false) || !captures_fit(a, 0))
		return true;
	for (size_t i = 0; i < a->nr; i++) {
		const struct archive_file *f = &a->files[i];

		if (f->stuck || f->pinned || f->kind == RETENTION_KEPT ||
		    f->kind == RETENTION_ACTIVE)
			continue;
		segments += f->kind == RETENTION_SEGMENT;
		if (max_age_s && aged_from_s(f, now_s) < now_s &&
		    now_s - aged_from_s(f, now_s) > max_age_s)
			return true;
	}
	return a->limits.max_segments && segments > a->limits.max_segments;
}

void
archive_enforce(struct archive *a, uint64_t now_s)
{
	struct archive_purge p = { .question = { .limits = a->limits, .now_s = now_s } };
	struct retention_question *q = &p.question;

	if (a->clock_doubted)
		q->limits.max_age_s = 0;
	if (!anything_due(a, q->limits.max_age_s, now_s))
		return;
	q->fs_free = fs_unpromised(a);
	archive_purge(a, &p);
	if (fs_unpromised(a) < a->limits.keep_free)
		(void)archive_objects_drop(a, a->limits.keep_free - fs_unpromised(a));
}
