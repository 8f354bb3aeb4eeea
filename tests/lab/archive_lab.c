/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lab/archive_lab.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <bsd/string.h>

#include "format/block/recording_header.h"

#define START_NS (UINT64_C(1767323045) * 1000000000u) /* 2026-01-02 03:04:05 */

bool
lab_init(struct lab *l, unsigned int tmpfs_kib)
{
	char options[64];

	memset(l, 0, sizeof(*l));
	l->clock_ns = START_NS;
	strlcpy(l->tmp, "/tmp/spoor-archive-XXXXXX", sizeof(l->tmp));
	assert_non_null(mkdtemp(l->tmp));
	if (tmpfs_kib) {
		snprintf(options, sizeof(options), "size=%uk,mode=700", tmpfs_kib);
		if (mount("spoor-test", l->tmp, "tmpfs", 0, options) != 0) {
			rmdir(l->tmp);
			return false;
		}
		l->mounted = true;
	}
	snprintf(l->dir, sizeof(l->dir), "%.50s/archive", l->tmp);
	l->config = config_new();
	assert_non_null(l->config);
	free(l->config->archive_directory);
	l->config->archive_directory = strdup(l->dir);
	l->config->max_use = (struct config_space){ .given = true, .bytes = 1 << 20 };
	l->config->keep_free = (struct config_space){ .given = true };
	return true;
}

static int
remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

void
lab_done(struct lab *l)
{
	lab_close(l);
	if (l->mounted) {
		umount2(l->tmp, MNT_DETACH);
		rmdir(l->tmp);
	} else {
		nftw(l->tmp, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	}
	config_free(l->config);
}

void
lab_open(struct lab *l)
{
	struct session_error error = { 0 };

	if (archive_open(l->config, &l->archive, &error) != 0)
		fail_msg("%s", error.text);
}

void
lab_close(struct lab *l)
{
	archive_close(l->archive);
	l->archive = NULL;
}

struct io_sink *
lab_segment(struct lab *l)
{
	static const uint8_t boot[16] = { 0xab, 0xcd, 0xef, 0x01 };
	struct session_error error = { 0 };
	struct io_sink *sink = NULL;

	l->clock_ns += UINT64_C(1500000000);
	if (archive_segment(l->archive, l->clock_ns, boot, false, &sink, &error) != 0)
		fail_msg("%s", error.text);
	return sink;
}

struct io_sink *
lab_capture(struct lab *l)
{
	struct session_error error = { 0 };
	struct io_sink *sink = NULL;
	char name[ARCHIVE_NAME_MAX];

	l->clock_ns += UINT64_C(1500000000);
	if (archive_capture(l->archive, l->clock_ns, false, &sink, name, &error) != 0)
		fail_msg("%s", error.text);
	assert_memory_equal(name, "captures/", 9);
	return sink;
}

int
lab_write(struct io_sink *sink, size_t n, bool first)
{
	char *p = calloc(1, n ? n : 1);
	int error;

	assert_non_null(p);
	if (first && n >= RECORDING_MAGIC_BYTES)
		memcpy(p, RECORDING_MAGIC, RECORDING_MAGIC_BYTES);
	error = sink->write(sink, p, n);
	free(p);
	return error;
}

int
lab_file(struct lab *l, size_t n)
{
	struct io_sink *sink = lab_segment(l);
	int error = lab_write(sink, n, true);

	if (error)
		(void)sink->cut(sink, 0);
	sink->close(sink);
	return error;
}

void
lab_plant(const struct lab *l, const char *name, const void *p, size_t n)
{
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", l->dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, p, n), n);
	close(fd);
}

bool
lab_exists(const struct lab *l, const char *name)
{
	char path[512];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", l->dir, name);
	return lstat(path, &st) == 0;
}

/* nftw() has no argument for its visitor. Racing with deletion is part of the job. */
static __thread uint64_t du_total;
static __thread ino_t du_linked[4096];
static __thread size_t du_nr_linked;

static int
add_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	uint64_t blocks = (uint64_t)st->st_blocks * 512;

	if (type == FTW_NS)
		return 0;
	if (S_ISREG(st->st_mode) && st->st_nlink > 1) {
		for (size_t i = 0; i < du_nr_linked; i++) {
			if (du_linked[i] == st->st_ino)
				return 0;
		}
		assert_true(du_nr_linked < sizeof(du_linked) / sizeof(du_linked[0]));
		du_linked[du_nr_linked++] = st->st_ino;
	}
	du_total += (uint64_t)st->st_size > blocks ? (uint64_t)st->st_size : blocks;
	return 0;
}

uint64_t
lab_du(const struct lab *l)
{
	du_total = 0;
	du_nr_linked = 0;
	(void)nftw(l->dir, add_one, 16, FTW_PHYS);
	return du_total;
}

void
lab_check(const struct lab *l, uint64_t bound)
{
	struct archive_usage u;
	uint64_t du = lab_du(l);
	char command[256];

	archive_usage(l->archive, &u);
	if (du <= u.bytes && du <= bound && u.bytes <= bound)
		return;
	/* What it was, for whoever reads the log of a run elsewhere. */
	snprintf(command, sizeof(command), "find %s -printf '# %%b %%s %%i %%P\\n' >&2", l->dir);
	(void)!system(command);
	fail_msg("du %llu, account %llu, bound %llu", (unsigned long long)du,
		 (unsigned long long)u.bytes, (unsigned long long)bound);
}

unsigned int
lab_count(const struct lab *l, const char *subdir, const char *suffix)
{
	char path[512];
	struct dirent *e;
	unsigned int n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/%s", l->dir, subdir);
	dir = opendir(path);
	if (!dir)
		return 0;
	while ((e = readdir(dir))) {
		size_t length = strlen(e->d_name), m = strlen(suffix);

		n += length > m && strcmp(e->d_name + length - m, suffix) == 0;
	}
	closedir(dir);
	return n;
}
