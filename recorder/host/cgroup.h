/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cgroup: the control groups that the kernel's perf knows: of the perf_event controller's
 * own hierarchy where that is mounted (v1), else of the unified one (v2).
 */
#ifndef RECORDER_HOST_CGROUP_H
#define RECORDER_HOST_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Where the hierarchy is mounted, from a mounts file (NULL: /proc/self/mounts).
 * -ENOENT: nowhere; -ENAMETOOLONG; -errno.
 */
int cgroup_root(const char *mounts, char *ret_path, size_t cap);

/*
 * Calls fn for every group below root (NULL: as of cgroup_root()), parents first, with its path
 * below the root ("/" for the root itself), as the kernel's CGROUP records have it. Groups that
 * vanish are left out. Stops at fn's first nonzero result and returns it. -errno.
 */
int cgroup_walk(const char *root, int (*fn)(void *arg, uint64_t id, const char *path), void *arg);

/* Does a group's path end so, in whole components? */
bool cgroup_ends_in(const char *path, const char *end);

/*
 * Opens the directory of a --cgroup argument: a path below the root ("system.slice/x"), the end of
 * one group's path ("x.service"), or an absolute directory inside a hierarchy; for
 * PERF_FLAG_PID_CGROUP. Returns a descriptor or -errno (-EINVAL: not a control group; -ENOTUNIQ:
 * several have a path with that end).
 */
int cgroup_open(const char *argument);

#endif
