/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/object/object_split.h"

#include <elf.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "symbolizer/object/elf_object.h"
#include "symbolizer/object/file_owner.h"

static int __attribute__((format(printf, 2, 3)))
try_path(const struct object *o, const char *format, ...)
{
	char path[PATH_MAX], magic[SELFMAG];
	struct stat st;
	va_list args;
	int n, fd;

	va_start(args, format);
	n = vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	if (n < 0 || (size_t)n >= sizeof(path))
		return -1;
	fd = object_places_open(path, &st);
	if (fd < 0)
		return -1;
	if (file_owner_may_name_fd(fd, o->debug_fd) && pread(fd, magic, SELFMAG, 0) == SELFMAG &&
	    memcmp(magic, ELFMAG, SELFMAG) == 0)
		return fd;
	close(fd);
	return -1;
}

/* How much of a path is its directory, with the slash. */
static int
dir_length(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (int)(slash + 1 - path) : 0;
}

static int
find_package(const struct object *o, const char *debug)
{
	static const char suffix[] = ".debug";
	const size_t length = strlen(debug), bare = length - (sizeof(suffix) - 1);
	int fd = o->path ? try_path(o, "%s.dwp", o->path) : -1;

	if (fd < 0 && *debug)
		fd = try_path(o, "%s.dwp", debug);
	if (fd < 0 && length > sizeof(suffix) - 1 && strcmp(debug + bare, suffix) == 0)
		fd = try_path(o, "%.*s.dwp", (int)bare, debug);
	return fd;
}

/* A whole path, here or below symfs. */
static int
find_whole(const struct object_places *p, const struct object *o, const char *dir, const char *name)
{
	const char *slash = *dir ? "/" : "";
	int fd = p->symfs ? try_path(o, "%s%s%s%s", p->symfs, dir, slash, name) : -1;

	return fd < 0 ? try_path(o, "%s%s%s", dir, slash, name) : fd;
}

/* When what was built was moved, or without a path that is anybody's own. */
static int
find_beside(const struct object *o, const char *path, const char *name)
{
	const int length = dir_length(path);

	return length ? try_path(o, "%.*s%s", length, path, name + dir_length(name)) : -1;
}

/* As compilers call them; -gsplit-dwarf=single leaves the split-off half in the object file. */
static bool
is_split_name(const char *name)
{
	static const char *const ends[] = { ".dwo", ".dwp", ".o" };
	const size_t length = strlen(name);

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (length > strlen(ends[i]) &&
		    strcmp(name + length - strlen(ends[i]), ends[i]) == 0)
			return true;
	return false;
}

int
object_split_open(const struct object_places *p, const struct object *o, const char *dir,
		  const char *name)
{
	char debug[PATH_MAX] = "";
	int fd = -1;

	if (!elf_object_path_of(o->debug_fd, debug))
		debug[0] = '\0';
	if (!name)
		return find_package(o, debug);
	if (!is_split_name(name))
		return -1;
	if (name[0] == '/')
		fd = find_whole(p, o, "", name);
	else if (dir && dir[0] == '/')
		fd = find_whole(p, o, dir, name);
	if (fd < 0 && o->path)
		fd = find_beside(o, o->path, name);
	if (fd < 0 && (!o->path || strcmp(o->path, debug) != 0))
		fd = find_beside(o, debug, name);
	return fd;
}
