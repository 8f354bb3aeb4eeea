/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/host/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <bsd/string.h>
#include <linux/magic.h>

#define DEPTH_MAX 64 /* cgroups nest without a limit of the kernel's; ours keeps the walk flat */
#define HANDLE_BYTES 8

/* Is one of the comma-separated words of s this one? */
static bool
word_in(const char *s, const char *word)
{
	size_t len = strlen(word);

	for (; s; s = strchr(s, ',') ? strchr(s, ',') + 1 : NULL)
		if (strncmp(s, word, len) == 0 && (s[len] == ',' || s[len] == '\0'))
			return true;
	return false;
}

int
cgroup_root(const char *mounts, char *ret_path, size_t cap)
{
	char dir[2][4096] = { "", "" }, type[64], options[1024], path[4096];
	const char *found;
	char *line = NULL;
	size_t size = 0;
	FILE *f;

	f = fopen(mounts ? mounts : "/proc/self/mounts", "re");
	if (!f)
		return -errno;
	while (getline(&line, &size, f) > 0) {
		if (sscanf(line, "%*s %4095s %63s %1023s", path, type, options) != 3)
			continue;
		/* The first mount of each kind; a v1 hierarchy of perf_event goes before. */
		if (strcmp(type, "cgroup") == 0 && word_in(options, "perf_event") && !dir[0][0])
			(void)strlcpy(dir[0], path, sizeof(dir[0]));
		if (strcmp(type, "cgroup2") == 0 && !dir[1][0])
			(void)strlcpy(dir[1], path, sizeof(dir[1]));
	}
	free(line);
	(void)fclose(f);
	found = dir[0][0] ? dir[0] : dir[1];
	if (!found[0])
		return -ENOENT;
	return strlcpy(ret_path, found, cap) < cap ? 0 : -ENAMETOOLONG;
}

/* Id of a group's directory, as PERF_SAMPLE_CGROUP and PERF_RECORD_CGROUP tell it. */
static bool
cgroup_id(int fd, uint64_t *ret_id)
{
	union {
		struct file_handle handle;
		char room[sizeof(struct file_handle) + HANDLE_BYTES];
	} u;
	int mount;

	u.handle.handle_bytes = HANDLE_BYTES;
	if (name_to_handle_at(fd, "", &u.handle, &mount, AT_EMPTY_PATH) < 0 ||
	    u.handle.handle_bytes != HANDLE_BYTES)
		return false;
	memcpy(ret_id, u.handle.f_handle, HANDLE_BYTES);
	return true;
}

struct walk {
	int (*fn)(void *arg, uint64_t id, const char *path);
	void *arg;
	char path[4096];
};

/* The group that fd (taken over) is the directory of, whose path is w->path, and those below. */
static int
walk_group(struct walk *w, int fd, int depth)
{
	size_t len = strlen(w->path);
	struct dirent *e;
	uint64_t id;
	DIR *d;
	int rc, sub;

	if (cgroup_id(fd, &id)) {
		rc = w->fn(w->arg, id, len ? w->path : "/");
		if (rc) {
			(void)close(fd);
			return rc;
		}
	}
	d = fdopendir(fd);
	if (!d) {
		(void)close(fd);
		return 0;
	}
	rc = 0;
	while (!rc && depth < DEPTH_MAX && (e = readdir(d))) {
		if (e->d_type != DT_DIR || e->d_name[0] == '.')
			continue;
		if ((size_t)snprintf(w->path + len, sizeof(w->path) - len, "/%s", e->d_name) <
		    sizeof(w->path) - len) {
			sub = openat(fd, e->d_name,
				     O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
			if (sub >= 0)
				rc = walk_group(w, sub, depth + 1);
		}
		w->path[len] = '\0';
	}
	(void)closedir(d);
	return rc;
}

int
cgroup_walk(const char *root, int (*fn)(void *arg, uint64_t id, const char *path), void *arg)
{
	struct walk w = { .fn = fn, .arg = arg };
	char mounted[4096];
	int fd, rc = root ? 0 : cgroup_root(NULL, mounted, sizeof(mounted));

	if (rc < 0)
		return rc;
	fd = open(root ? root : mounted, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : walk_group(&w, fd, 0);
}

struct ending {
	const char *end;
	char path[4096];
	unsigned int groups;
};

bool
cgroup_ends_in(const char *path, const char *end)
{
	const size_t len = strlen(path), n = strlen(end);

	return len > n && path[len - n - 1] == '/' && strcmp(path + len - n, end) == 0;
}

static int
see_ending(void *arg, uint64_t id, const char *path)
{
	struct ending *e = arg;

	(void)id;
	if (!cgroup_ends_in(path, e->end))
		return 0;
	(void)strlcpy(e->path, path, sizeof(e->path));
	return ++e->groups > 1 ? -ENOTUNIQ : 0;
}

/* The one group below root whose path ends so, in whole components. */
static int
open_by_end(const char *root, const char *end)
{
	struct ending e = { .end = end };
	char path[8192];
	int rc = cgroup_walk(root, see_ending, &e);

	if (rc == 0 && e.groups == 0)
		rc = -ENOENT;
	if (rc < 0)
		return rc;
	(void)snprintf(path, sizeof(path), "%s%s", root, e.path);
	rc = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return rc < 0 ? -errno : rc;
}

int
cgroup_open(const char *argument)
{
	char root[4096], path[8192];
	struct statfs fs;
	int fd, rc;

	rc = cgroup_root(NULL, root, sizeof(root));
	fd = -1;
	if (rc == 0) {
		(void)snprintf(path, sizeof(path), "%s/%s", root, argument);
		fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0 && errno == ENOENT && argument[0] && argument[0] != '/')
			rc = fd = open_by_end(root, argument);
	}
	if (fd < 0 && argument[0] == '/')
		fd = open(argument, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return rc < 0 ? rc : -errno;
	if (fstatfs(fd, &fs) < 0 ||
	    (fs.f_type != CGROUP2_SUPER_MAGIC && fs.f_type != CGROUP_SUPER_MAGIC)) {
		(void)close(fd);
		return -EINVAL;
	}
	return fd;
}
