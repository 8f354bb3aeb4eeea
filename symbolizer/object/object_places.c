/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/object/object_places.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "symbolizer/object/elf_object.h"

int
object_places_open(const char *path, struct stat *ret)
{
	int fd;

	if (stat(path, ret) != 0 || !S_ISREG(ret->st_mode))
		return -1;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd >= 0 && (fstat(fd, ret) != 0 || !S_ISREG(ret->st_mode))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* "DIR/.build-id/ab/cdef...TAIL"; false: too long, or no id. */
static bool
by_id(char path[PATH_MAX], const char *dir, const uint8_t *id, size_t size, const char *tail)
{
	char hex[2 * ELF_BUILD_ID_MAX + 1];
	int n;

	if (size < 2 || size > ELF_BUILD_ID_MAX)
		return false;
	for (size_t i = 0; i < size; i++)
		snprintf(hex + 2 * i, 3, "%02x", id[i]);
	n = snprintf(path, PATH_MAX, "%s/.build-id/%.2s/%s%s", dir, hex, hex + 2, tail);
	return n > 0 && n < PATH_MAX;
}

bool
object_places_debug(const struct object_places *p, size_t i, const uint8_t *id, size_t size,
		    char ret_path[PATH_MAX])
{
	size_t dirs = 0;

	while (p->debug_dirs[dirs] != NULL)
		dirs++;
	if (i > dirs || (i == dirs && p->debug_cache == NULL))
		return false;
	return i < dirs ? by_id(ret_path, p->debug_dirs[i], id, size, ".debug")
			: by_id(ret_path, p->debug_cache, id, size, "/debug");
}

/* In its oldest form the link is the file itself. */
bool
object_places_cached(const struct object_places *p, size_t i, const uint8_t *id, size_t size,
		     char ret_path[PATH_MAX])
{
	static const char *const tails[] = { "/elf", "/vdso", "" };

	return p->debug_cache != NULL && i < sizeof(tails) / sizeof(tails[0]) &&
		by_id(ret_path, p->debug_cache, id, size, tails[i]);
}
