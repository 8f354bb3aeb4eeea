/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/names/names_choice.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bsd/stdlib.h>

#include "format/bytes/array.h"
#include "recorder/host/cgroup.h"

#define DEPTH_MAX 64

void
names_pids_done(struct names_pids *p)
{
	free(p->v);
	*p = (struct names_pids){ 0 };
}

int
names_pids_add(struct names_pids *p, pid_t pid)
{
	if (array_reserve(p->v, p->nr, p->cap, 1) < 0)
		return -ENOMEM;
	p->v[p->nr++] = pid;
	return 0;
}

int
names_choice_all(struct names_pids *p)
{
	DIR *proc = opendir("/proc");
	const struct dirent *d;
	int rc = proc ? 0 : -errno;

	while (rc == 0 && (d = readdir(proc))) {
		const char *problem;
		const pid_t pid = (pid_t)strtonum(d->d_name, 1, INT32_MAX, &problem);

		if (!problem && pid != getpid())
			rc = names_pids_add(p, pid);
	}
	if (proc)
		(void)closedir(proc);
	return rc;
}

static int
add_processes(struct names_pids *p, int group)
{
	const int fd = openat(group, "cgroup.procs", O_RDONLY | O_CLOEXEC);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	int rc = 0, pid;

	/* A group that goes, or whose processes are threads of another one's, has none. */
	if (!f) {
		if (fd >= 0)
			(void)close(fd);
		return 0;
	}
	/* 0: it is of another PID namespace. */
	while (rc == 0 && fscanf(f, "%d", &pid) == 1)
		if (pid > 0 && pid != getpid())
			rc = names_pids_add(p, pid);
	(void)fclose(f);
	return rc;
}

/* Takes the descriptor over. */
static int
add_group(struct names_pids *p, int group, int depth)
{
	DIR *dir = fdopendir(group);
	const struct dirent *d;
	int rc = dir ? add_processes(p, group) : -errno;

	if (!dir)
		(void)close(group);
	while (dir && rc == 0 && depth < DEPTH_MAX && (d = readdir(dir))) {
		int below;

		if (d->d_type != DT_DIR || *d->d_name == '.')
			continue;
		below = openat(group, d->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (below >= 0)
			rc = add_group(p, below, depth + 1);
	}
	if (dir)
		(void)closedir(dir);
	return rc;
}

int
names_choice_cgroup(struct names_pids *p, const char *argument)
{
	const int group = cgroup_open(argument);

	return group < 0 ? group : add_group(p, group, 0);
}
