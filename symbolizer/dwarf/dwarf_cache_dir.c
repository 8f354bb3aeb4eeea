/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/dwarf/dwarf_cache_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bsd/string.h>

#include "format/bytes/array.h"
#include "format/bytes/time_text.h"

/* Not by root in the home of another, who could not enter it: sudo may leave HOME as it was. */
static void
make_dir(const char *path)
{
	char above[PATH_MAX];
	struct stat st;
	char *slash;

	if (strlcpy(above, path, sizeof(above)) >= sizeof(above))
		return;
	slash = strrchr(above, '/');
	if (slash && slash != above)
		*slash = '\0';
	if (geteuid() != 0 || (stat(above, &st) == 0 && st.st_uid == 0))
		(void)mkdir(path, 0700);
}

char *
dwarf_cache_dir(void)
{
	const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	char *path = NULL;

	if (base && base[0] == '/')
		return asprintf(&path, "%s/spoor", base) < 0 ? NULL : path;
	if (!home || home[0] != '/' || asprintf(&path, "%s/.cache", home) < 0)
		return NULL;
	make_dir(path);
	free(path);
	return asprintf(&path, "%s/.cache/spoor", home) < 0 ? NULL : path;
}

int
dwarf_cache_dir_open(const char *path)
{
	struct stat st;
	int fd;

	if (!path)
		return -1;
	make_dir(path);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_uid == geteuid() && !(st.st_mode & 022))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

int
dwarf_cache_dir_file(int dir, const char *name, struct stat *ret)
{
	const int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd < 0 || (fstat(fd, ret) == 0 && S_ISREG(ret->st_mode) && ret->st_uid == geteuid()))
		return fd;
	close(fd);
	return -1;
}

bool
dwarf_cache_dir_write(int dir, const char *name, struct span bytes)
{
	char temporary[DWARF_CACHE_NAME_BYTES + 32];
	bool good = true;
	int fd;

	snprintf(temporary, sizeof(temporary), "%s.%ld", name, (long)getpid());
	fd = openat(dir, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return false;
	while (good && bytes.len > 0) {
		ssize_t n = write(fd, bytes.p, bytes.len);

		good = n > 0 ? span_skip(&bytes, (size_t)n) : n < 0 && errno == EINTR;
	}
	good = close(fd) == 0 && good && renameat(dir, temporary, dir, name) == 0;
	if (!good)
		(void)unlinkat(dir, temporary, 0);
	return good;
}

struct kept {
	char name[DWARF_CACHE_NAME_BYTES + 32];
	uint64_t bytes;
	struct timespec used;
};

static int
compare_kept(const void *x, const void *y)
{
	const struct kept *a = x, *b = y;

	return time_text_ns(&a->used) < time_text_ns(&b->used) ? -1 : 1;
}

void
dwarf_cache_dir_bound(int dir)
{
	struct kept *kept = NULL;
	size_t nr = 0, cap = 0;
	uint64_t bytes = 0;
	const struct dirent *e;
	struct stat st;
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd >= 0 ? fdopendir(fd) : NULL;

	if (!d) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((e = readdir(d)) && array_reserve(kept, nr, cap, 1) == 0) {
		if (!strstr(e->d_name, DWARF_CACHE_SUFFIX) ||
		    strlen(e->d_name) >= sizeof(kept->name) ||
		    fstatat(dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode))
			continue;
		kept[nr].bytes = (uint64_t)st.st_size;
		kept[nr].used = st.st_mtim;
		memcpy(kept[nr].name, e->d_name, strlen(e->d_name) + 1);
		bytes += kept[nr++].bytes;
	}
	closedir(d);
	if (bytes > DWARF_CACHE_BYTES_MAX)
		qsort(kept, nr, sizeof(*kept), compare_kept);
	for (size_t i = 0; i < nr && bytes > DWARF_CACHE_BYTES_MAX; i++)
		if (unlinkat(dir, kept[i].name, 0) == 0)
			bytes -= kept[i].bytes;
	free(kept);
}
