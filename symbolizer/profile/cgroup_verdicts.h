/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cgroup_verdicts: which control groups --cgroup and --unit ask for. There are few groups and many
 * samples: who asks remembers what was said of a path.
 */
#ifndef SYMBOLIZER_PROFILE_CGROUP_VERDICTS_H
#define SYMBOLIZER_PROFILE_CGROUP_VERDICTS_H

#include <stdbool.h>
#include <stddef.h>

#include "symbolizer/profile/value_list.h"

/* Both have to have a path; an empty list has any. */
struct cgroup_choice {
	struct name_list groups; /* patterns of --cgroup */
	struct name_list units;
};

/* Take an option. 0, or -1 with a message in *reterr (static). */
int cgroup_choice_groups(struct cgroup_choice *c, const char *arg, const char **reterr);
/*
 * As systemctl takes names: "nginx" is nginx.service, and "getty@" any of its instances. One with a
 * '/' is a pattern of groups, and the 12 digits or more of a container's id are any unit that has
 * them in its name.
 */
int cgroup_choice_units(struct cgroup_choice *c, const char *arg, const char **reterr);
void cgroup_choice_done(struct cgroup_choice *c);

struct cgroup_verdicts;

struct cgroup_verdicts *cgroup_verdicts_new(void); /* NULL: out of memory */
void cgroup_verdicts_free(struct cgroup_verdicts *v);

/*
 * Does one of the patterns of each list match the path (NULL: "[unknown]") or a group above it? A
 * pattern of groups that does not begin with '/' may begin at any component; a unit is any
 * component. Ids of containers may be as unit_name_shorten() has them. v may be NULL, and is of one
 * choice.
 */
bool cgroup_verdict(struct cgroup_verdicts *v, const struct cgroup_choice *c, const char *path);

#endif
