/* SPDX-License-Identifier: GPL-2.0-or-later */
/* names_choice: the processes that are asked: some, all, or those of a control group, as they are now. */
#ifndef SYMBOLIZER_NAMES_NAMES_CHOICE_H
#define SYMBOLIZER_NAMES_NAMES_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct names_pids {
	pid_t *v;
	size_t nr, cap;
};

void names_pids_done(struct names_pids *p);
/* 0, -ENOMEM. */
int names_pids_add(struct names_pids *p, pid_t pid);

/* Every process but the caller; 0, -errno. */
int names_choice_all(struct names_pids *p);
/* Those of a control group and the groups in it, as cgroup_open() takes it. 0, -errno. */
int names_choice_cgroup(struct names_pids *p, const char *argument);

#endif
