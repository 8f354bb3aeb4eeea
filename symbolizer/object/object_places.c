/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/object/object_places.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/bytes/plain_file.h"
#include "symbolizer/object/elf_object.h"

int
object_places_open(const char *path, struct stat *ret)
{
	int fd = plain_file_open_name(AT_FDCWD, path, 0);

	if (fd >= 0 && fstat(fd, ret) != 0) {
		close(fd);
		fd = -EIO;
	}
	if (fd >= 0)
		return fd;
	errno = -fd;
	return -1;
}

static void
hex_of(char hex[2 * ELF_BUILD_ID_MAX + 1], const uint8_t *id, size_t size)
{
	for (size_t i = 0; i < size; i++)
		snprintf(hex + 2 * i, 3, "%02x", id[i]);
}

/* "ROOT/DIR/.build-id/ab/cdef...TAIL"; empty: too long, or there is no id, root or dir. */
static void
by_id(char path[PATH_MAX], const char *root, const char *dir, const uint8_t *id, size_t size,
      const char *tail)
{
	char hex[2 * ELF_BUILD_ID_MAX + 1];

	path[0] = '\0';
	if (size < 2 || size > ELF_BUILD_ID_MAX || root == NULL || dir == NULL)
		return;
	hex_of(hex, id, size);
	if (snprintf(path, PATH_MAX, "%s%s/.build-id/%.2s/%s%s", root, dir, hex, hex + 2, tail) >=
	    PATH_MAX)
		path[0] = '\0';
}

/* In perf's cache; until perf 5.10 a shorter id stands there with zeros up to 20 bytes. */
static void
in_debug_cache(char path[PATH_MAX], const struct object_places *p, const uint8_t *id, size_t size,
	       bool padded, const char *tail)
{
	uint8_t whole[BUILDID_MAX] = { 0 };

	path[0] = '\0';
	if (!padded) {
		by_id(path, "", p->debug_cache, id, size, tail);
	} else if (size < sizeof(whole)) {
		memcpy(whole, id, size);
		by_id(path, "", p->debug_cache, whole, sizeof(whole), tail);
	}
}

/* A file without bytes there says that the servers had none: it is no ELF file either. */
void
object_places_fetched(const struct object_places *p, enum object_fetch_what what, const uint8_t *id,
		      size_t size, char ret_path[PATH_MAX])
{
	static const char *const names[] = {
		[OBJECT_FETCH_DEBUGINFO] = "debuginfo", [OBJECT_FETCH_EXECUTABLE] = "executable"
	};
	char hex[2 * ELF_BUILD_ID_MAX + 1];

	ret_path[0] = '\0';
	if (size < 2 || size > ELF_BUILD_ID_MAX || p->debuginfod_cache == NULL)
		return;
	hex_of(hex, id, size);
	if (snprintf(ret_path, PATH_MAX, "%s/%s/%s", p->debuginfod_cache, hex, names[what]) >=
	    PATH_MAX)
		ret_path[0] = '\0';
}

bool
object_places_debug(const struct object_places *p, const char *root, size_t i, const uint8_t *id,
		    size_t size, char ret_path[PATH_MAX])
{
	size_t dirs = 0;

	while (p->debug_dirs[dirs] != NULL)
		dirs++;
	if (i < dirs)
		by_id(ret_path, root, p->debug_dirs[i], id, size, ".debug");
	else if (i < 2 * dirs)
		by_id(ret_path, "", p->debug_dirs[i - dirs], id, size, ".debug");
	else if (i < 2 * dirs + 2)
		in_debug_cache(ret_path, p, id, size, i > 2 * dirs, "/debug");
	else if (i == 2 * dirs + 2)
		object_places_fetched(p, OBJECT_FETCH_DEBUGINFO, id, size, ret_path);
	else
		return false;
	return true;
}

bool
object_places_by_id(const struct object_places *p, size_t i, const uint8_t *id, size_t size,
		    char ret_path[PATH_MAX])
{
	/* Of perf's cache; in its oldest form the link is the file itself. */
	static const char *const tails[] = { "/elf", "/vdso", "" };
	const size_t nr = sizeof(tails) / sizeof(tails[0]);

	if (i == 0)
		by_id(ret_path, p->symfs, "/usr/lib", id, size, "");
	else if (i == 1)
		by_id(ret_path, "", "/usr/lib", id, size, "");
	else if (i < 2 + 2 * nr)
		in_debug_cache(ret_path, p, id, size, i >= 2 + nr, tails[(i - 2) % nr]);
	else if (i == 2 + 2 * nr)
		object_places_fetched(p, OBJECT_FETCH_EXECUTABLE, id, size, ret_path);
	else
		return false;
	return true;
}

char *
object_places_debug_cache(void)
{
	const char *home = getenv("HOME");
	char *path = NULL;

	return home && asprintf(&path, "%s/.debug", home) >= 0 ? path : NULL;
}

char *
object_places_debuginfod_cache(void)
{
	const char *given = getenv("DEBUGINFOD_CACHE_PATH"), *base = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");
	char *path = NULL;

	if (given && *given)
		return strdup(given);
	if (base && *base)
		return asprintf(&path, "%s/debuginfod_client", base) < 0 ? NULL : path;
	return home && asprintf(&path, "%s/.cache/debuginfod_client", home) >= 0 ? path : NULL;
}
