/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cgroup_verdicts: which control groups --cgroup, --unit and --slice ask for. There are few groups and many
 * samples: who asks remembers what was said of a path.
 */
#ifndef SYMBOLIZER_PROFILE_CGROUP_VERDICTS_H
#define SYMBOLIZER_PROFILE_CGROUP_VERDICTS_H

#include <stdbool.h>
#include <stddef.h>

#include "symbolizer/profile/value_list.h"

/* Each has to have a path; an empty list has any. */
struct cgroup_choice {
	struct name_list groups; /* patterns of --cgroup */
	struct name_list units;
	struct name_list slices;
};

/* Take an option. 0, or -1 with a message in *reterr (static). */
int cgroup_choice_groups(struct cgroup_choice *c, const char *arg, const char **reterr);
/* Names as of unit_name_pattern(); one with a '/' is a pattern of groups. */
int cgroup_choice_units(struct cgroup_choice *c, const char *arg, const char **reterr);
int cgroup_choice_slices(struct cgroup_choice *c, const char *arg, const char **reterr);
/* Does any of the lists ask for something? */
bool cgroup_choice_given(const struct cgroup_choice *c);
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
