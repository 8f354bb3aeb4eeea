/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/object/stored_objects.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/bytes/fmt_error.h"
#include "format/stored/stored_object.h"
#include "symbolizer/object/object_places.h"

/* Cuts the last component off; false: there is none. */
static bool
go_up(char *path)
{
	char *slash = strrchr(path, '/');

	if (!slash || slash == path)
		return false;
	*slash = '\0';
	return true;
}

static bool
is_called(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');

	return slash && strcmp(slash + 1, name) == 0;
}

/* From a directory of recordings to the one whose objects they share. */
static void
go_to_archive(char *dir)
{
	char up[PATH_MAX];

	snprintf(up, sizeof(up), "%s", dir);
	if (is_called(dir, "captures"))
		(void)go_up(dir);
	else if (go_up(up) && is_called(up, "kept") && go_up(up))
		memcpy(dir, up, strlen(up) + 1);
}

char *
stored_objects_dir(const char *recording)
{
	char dir[PATH_MAX], *path;
	struct stat of, st;

	if (!realpath(recording, dir) || stat(dir, &of) != 0)
		return NULL;
	if (!S_ISDIR(of.st_mode) && !go_up(dir))
		return NULL;
	go_to_archive(dir);
	if (asprintf(&path, "%s/" STORED_DIRECTORY, dir) < 0)
		return NULL;
	if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode) &&
	    (st.st_uid == of.st_uid || st.st_uid == geteuid() || st.st_uid == 0))
		return path;
	free(path);
	return NULL;
}

/* Does the mark, and the file where it can, say that it is this build? Takes fd over. */
static int
open_marked(int fd, const struct buildid *id, struct elf_object **ret, bool *ret_whole)
{
	const int dup = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	struct io_source *file = io_source_fd(fd);
	struct stored_mark mark;
	bool same = file && dup >= 0 && stored_mark_read(file, &mark) == 0 &&
		buildid_cmp(&mark.id, id) == 0;
	struct buildid inside;
	int error = 0;

	/* A surrogate is of the file as it was. */
	if (same && id->kind == BUILDID_GNU)
		same = buildid_read(file, &inside) == 0 && buildid_cmp(&inside, id) == 0;
	if (file)
		file->close(file);
	if (same)
		*ret_whole = mark.whole;
	if (same)
		error = elf_object_open(dup, ret);
	else if (dup >= 0)
		close(dup);
	return error == -FMT_E_NOMEM ? error : 0;
}

int
stored_objects_open(const char *dir, const struct buildid *id, struct elf_object **ret,
		    bool *ret_whole)
{
	char sub[3], name[STORED_NAME_BYTES], path[PATH_MAX];
	struct stat st;
	int fd;

	*ret = NULL;
	if (!dir || !stored_object_name(id, sub, name) ||
	    snprintf(path, sizeof(path), "%s/" STORED_BY_ID "/%s/%s", dir, sub, name) >=
		    (int)sizeof(path))
		return 0;
	fd = object_places_open(path, &st);
	return fd < 0 ? 0 : open_marked(fd, id, ret, ret_whole);
}
