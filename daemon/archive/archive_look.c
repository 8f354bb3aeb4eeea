/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What others do to the archive under the daemon: is each file that is being written still what
 * its name leads to? A hard link more is nobody's business.
 */
#include "daemon/archive/archive_internal.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <bsd/string.h>

#include "daemon/process/log.h"
#include "format/bytes/time_text.h"

/* The name that the file has in this directory now. */
static bool
find_name(const char *directory, const struct stat *file, char out[NAME_MAX + 1])
{
	DIR *dir = opendir(directory);
	struct dirent *e;
	bool found = false;

	while (dir && !found && (e = readdir(dir))) {
		struct stat at;

		found = fstatat(dirfd(dir), e->d_name, &at, AT_SYMLINK_NOFOLLOW) == 0 &&
			at.st_dev == file->st_dev && at.st_ino == file->st_ino;
		if (found)
			(void)strlcpy(out, e->d_name, NAME_MAX + 1);
	}
	if (dir)
		closedir(dir);
	return found;
}

static void
lose(struct archive *a, struct archive_sink *s, const struct stat *st)
{
	bool segment = s->kind == RETENTION_SEGMENT;
	char from[TIME_TEXT_UTC_BYTES], until[TIME_TEXT_UTC_BYTES], text[ARCHIVE_LOST_BYTES];

	time_text_utc((time_t)s->start_s, from);
	time_text_utc((time_t)archive_now_s(), until);
	snprintf(text, sizeof(text),
		 "%s/%s" ARCHIVE_ACTIVE " was %s: what was recorded from %s to %s is lost", a->path,
		 s->name, st->st_nlink ? "moved away" : "removed", from, until);
	s->gone = true;
	if (!segment && st->st_nlink)
		log_warning("%s/%s" ARCHIVE_ACTIVE " was moved or renamed: nothing more is written "
			    "to it, and the capture ends",
			    a->path, s->name);
	else
		log_warning("%s%s", text, segment ? "" : ", and the capture ends");
	if (!segment)
		return;
	a->lost_files++;
	(void)strlcpy(a->lost, text, sizeof(a->lost));
}

void
archive_look_at_sink(struct archive *a, struct archive_sink *s)
{
	char path[PATH_MAX], name[NAME_MAX + 1];
	const char *base;
	struct stat st;

	if (s->gone || fstat(s->fd, &st) != 0 || (s->renamed && st.st_nlink))
		return;
	snprintf(path, sizeof(path), "%s/%s" ARCHIVE_ACTIVE, a->path, s->name);
	if (archive_is_at(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, &st))
		return;
	a->scan_wanted = true;
	(void)archive_dirfd(a, s->name, &base);
	path[strlen(a->path) + (size_t)(base - s->name) + 1] = '\0';
	/* Who waits for a capture was told its name: under another one it does not end in order. */
	if (st.st_nlink == 0 || s->kind != RETENTION_SEGMENT || !find_name(path, &st, name)) {
		lose(a, s, &st);
		return;
	}
	s->renamed = true;
	log_notice("%s/%s" ARCHIVE_ACTIVE " was renamed to %s: it ends under that name", a->path,
		   s->name, name);
}

int
archive_look_around(struct archive *a, struct session_error *error)
{
	struct archive_sink *s;
	int r = archive_settle(a, error);

	if (r < 0 && !a->astray)
		log_error("%s; retrying every 2 s", error->text);
	if (r >= 0 && a->astray)
		log_notice("archive_directory %s is in use again", a->path);
	a->astray = r < 0 ? r : 0;
	LIST_FOREACH(s, &a->sinks, link)
		archive_look_at_sink(a, s);
	if (r > 0)
		(void)archive_scan(a);
	return r < 0 ? r : 0;
}

void
archive_look(struct archive *a, struct archive_sight *ret)
{
	struct session_error error = { .text = "" };
	const struct archive_sink *s;

	pthread_mutex_lock(&a->lock);
	(void)archive_look_around(a, &error);
	*ret = (struct archive_sight){ .astray = a->astray != 0, .lost_files = a->lost_files };
	(void)strlcpy(ret->lost, a->lost, sizeof(ret->lost));
	LIST_FOREACH(s, &a->sinks, link) {
		ret->gone |= s->kind == RETENTION_SEGMENT && s->gone;
		ret->renamed |= s->renamed;
	}
	pthread_mutex_unlock(&a->lock);
}
