/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opening and closing, and the limits in force. */
#include "daemon/archive/archive.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <time.h>

#include "daemon/archive/archive_internal.h"
#include "daemon/process/log.h"
#include "format/bytes/time_text.h"
#include "recorder/host/host.h"

#define MAX_USE_PER_MILLE 100
#define KEEP_FREE_PER_MILLE 150
#define SHARE_CAP (UINT64_C(4) << 30)
#define SEGMENT_CAP (UINT64_C(128) << 20)
#define SEGMENTS_MIN 8
#define UNIT_MIN 4096
#define UNIT_MAX (1u << 20) /* a file system that says more is not believed */
#define SCAN_NS (60 * SECOND_NS)
#define CLOCK_STEP_NS (60 * SECOND_NS) /* more than what adjusts a clock does in a few seconds */
#define CLOCK_DOUBT_NS (3600 * SECOND_NS)

uint64_t
archive_now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec > 0 ? (uint64_t)now.tv_sec : 0;
}

uint64_t
archive_segment_bytes(const struct archive *a)
{
	uint64_t share = a->limits.max_use ? a->limits.max_use / SEGMENTS_MIN : SEGMENT_CAP;
	uint64_t want = a->segment_size ? a->segment_size : SEGMENT_CAP;

	return want < share ? want : share;
}

static uint64_t
space_bytes(const struct config_space *space, uint64_t fs_bytes, uint32_t default_per_mille)
{
	if (!space->given)
		return retention_share(fs_bytes, default_per_mille, SHARE_CAP);
	if (space->per_mille)
		return retention_share(fs_bytes, space->per_mille, UINT64_MAX);
	return space->bytes;
}

/* A share is one of the file system as it is now: it may have been made larger. */
static void
update_limits(struct archive *a)
{
	struct statvfs v;
	uint64_t fs_bytes;

	if (fstatvfs(a->dir_fd, &v) != 0)
		return;
	fs_bytes = (uint64_t)v.f_blocks * v.f_frsize;
	a->limits.max_use = space_bytes(&a->max_use, fs_bytes, MAX_USE_PER_MILLE);
	a->limits.keep_free = space_bytes(&a->keep_free, fs_bytes, KEEP_FREE_PER_MILLE);
	/* 0 would be "no limit"; this much of nothing is nothing. */
	if (a->limits.max_use == 0)
		a->limits.max_use = 1;
	a->limits.max_captures = a->limits.max_use / CONFIG_PERCENT_ALL * a->captures_share +
		a->limits.max_use % CONFIG_PERCENT_ALL * a->captures_share / CONFIG_PERCENT_ALL;
	if (a->limits.max_captures == 0)
		a->limits.max_captures = 1;
	a->limits.max_capture_files = ARCHIVE_CAPTURE_FILES;
	a->objects_share = a->limits.max_use / CONFIG_PERCENT_ALL * a->objects_per;
	a->unit = v.f_frsize > UNIT_MIN ? v.f_frsize : UNIT_MIN;
	if (a->unit > UNIT_MAX)
		a->unit = UNIT_MAX;
}

static void
take_config(struct archive *a, const struct config *c)
{
	a->max_use = c->max_use;
	a->keep_free = c->keep_free;
	a->captures_share = c->captures_share;
	a->segment_size = c->segment_size;
	a->objects_per = strcmp(c->store_objects, "none") != 0 ? c->objects_share : 0;
	/* Rounded up: a limit below a second is not none. */
	a->limits.max_age_s = c->max_age / 1000000000u + (c->max_age % 1000000000u != 0);
	a->limits.max_segments = c->max_segments;
	update_limits(a);
}

static void
archive_free(struct archive *a)
{
	archive_gone_done(a);
	archive_leave(a);
	for (size_t i = 0; i < a->nr; i++)
		free(a->files[i].name);
	free(a->files);
	pthread_mutex_destroy(&a->lock);
	pthread_mutex_destroy(&a->usage_lock);
	free(a->path);
	a->magic = 0;
	free(a);
}

int
archive_open(const struct config *c, struct archive **ret, struct session_error *error)
{
	struct archive *a = calloc(1, sizeof(*a));
	struct clock_triple now;
	int r;

	if (!a)
		return archive_fail(error, -ENOMEM, "the archive");
	a->magic = ARCHIVE_MAGIC;
	a->dir_fd = a->captures_fd = a->kept_fd = a->dir_lock.file_fd = -1;
	a->seq = 1;
	pthread_mutex_init(&a->lock, NULL);
	pthread_mutex_init(&a->usage_lock, NULL);
	LIST_INIT(&a->sinks);
	a->path = strdup(c->archive_directory);
	if (!a->path)
		r = archive_fail(error, -ENOMEM, "the archive");
	else
		r = archive_settle(a, error);
	if (r >= 0) {
		take_config(a, c);
		r = archive_scan(a);
		if (r)
			archive_fail(error, r, "archive_directory %s", a->path);
	}
	if (r) {
		archive_free(a);
		return r;
	}
	host_clocks(&now);
	a->clock_offset_ns = now.realtime - now.boottime;
	archive_enforce(a, now.realtime / SECOND_NS);
	*ret = a;
	return 0;
}

void
archive_close(struct archive *a)
{
	bool busy;

	if (!a)
		return;
	assert(a->magic == ARCHIVE_MAGIC);
	/* A thread that was given up at the stop may write until the process ends. */
	if (pthread_mutex_trylock(&a->lock) != 0)
		return;
	busy = !LIST_EMPTY(&a->sinks);
	pthread_mutex_unlock(&a->lock);
	if (!busy)
		archive_free(a);
}

/* A clock that was set may have been set wrong: until that is over nothing is deleted for its age. */
static void
look_at_clock(struct archive *a, const struct clock_triple *now)
{
	uint64_t offset_ns = now->realtime - now->boottime; /* modulo 2^64, as is the difference */
	uint64_t step_ns = offset_ns - a->clock_offset_ns + CLOCK_STEP_NS;

	if (step_ns > 2 * CLOCK_STEP_NS) {
		a->clock_set_ns = now->boottime;
		a->clock_doubted = true;
		if (a->limits.max_age_s)
			log_notice("the clock was set: nothing is deleted for its age for %llu min",
				   (unsigned long long)(CLOCK_DOUBT_NS / (60 * SECOND_NS)));
	} else if (a->clock_doubted && now->boottime - a->clock_set_ns >= CLOCK_DOUBT_NS) {
		a->clock_doubted = false;
	}
	a->clock_offset_ns = offset_ns;
}

static void
enforce(struct archive *a, const struct clock_triple *now)
{
	look_at_clock(a, now);
	archive_enforce(a, now->realtime / SECOND_NS);
}

void
archive_reload(struct archive *a, const struct config *c)
{
	struct clock_triple now;

	host_clocks(&now);
	assert(a->magic == ARCHIVE_MAGIC);
	pthread_mutex_lock(&a->lock);
	take_config(a, c);
	enforce(a, &now);
	pthread_mutex_unlock(&a->lock);
}

void
archive_tick(struct archive *a, const struct clock_triple *now)
{
	assert(a->magic == ARCHIVE_MAGIC);
	pthread_mutex_lock(&a->lock);
	update_limits(a);
	if (a->scan_wanted || archive_changed(a) || now->monotonic - a->scanned_ns >= SCAN_NS)
		(void)archive_scan(a);
	archive_gone_look(a);
	enforce(a, now);
	pthread_mutex_unlock(&a->lock);
}
