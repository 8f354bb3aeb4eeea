/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cgroup_unit: the control group that a unit of systemd has now, by the unit's name; and what can have been
 * meant by a group that is not there. Prints nothing.
 */
#ifndef RECORDER_HOST_CGROUP_UNIT_H
#define RECORDER_HOST_CGROUP_UNIT_H

#include <stddef.h>

#define CGROUP_UNIT_WORDS 384

/*
 * The path below root (NULL: as of cgroup_root()) of the group of the unit that a name of --unit (type ".service")
 * or of --slice (".slice") stands for, as unit_name_pattern() has it. Units of the host's own systemd go before
 * those of users and of containers. A name with a '/' is the path itself. words, printable ASCII: of 0 what else
 * is called so, or ""; else why there is none. -ENOENT; -ENOTUNIQ: several, which words lists; -EINVAL: no name
 * of one unit; -ENAMETOOLONG, -ENOMEM, -errno.
 */
int cgroup_unit_find(const char *root, const char *name, const char *type, char *ret_path,
		     size_t cap, char words[CGROUP_UNIT_WORDS]);

/*
 * What to say behind an error of cgroup_open() about its argument: of -ENOENT which unit or group can have been
 * meant, of -ENOTUNIQ which groups have that end. "; did you mean ...?", likewise printable, or "".
 */
void cgroup_unit_hint(const char *root, int error, const char *argument,
		      char words[CGROUP_UNIT_WORDS]);

#endif
