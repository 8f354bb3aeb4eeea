/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cgroup_verdicts: which control groups --cgroup asks for. There are few groups and many samples:
 * who asks remembers what was said of a path.
 */
#ifndef SYMBOLIZER_PROFILE_CGROUP_VERDICTS_H
#define SYMBOLIZER_PROFILE_CGROUP_VERDICTS_H

#include <stdbool.h>
#include <stddef.h>

struct cgroup_verdicts;

struct cgroup_verdicts *cgroup_verdicts_new(void); /* NULL: out of memory */
void cgroup_verdicts_free(struct cgroup_verdicts *c);

/*
 * Does one of n patterns, always the same ones, match the path (NULL: "[unknown]") or a group
 * above it? One that does not begin with '/' may begin at any component. n 0: any path will do. c
 * may be NULL.
 */
bool cgroup_verdict(struct cgroup_verdicts *c, char *const *patterns, size_t n, const char *path);

#endif
