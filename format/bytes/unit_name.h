/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unit_name: which unit of systemd a control group belongs to, by its path alone; and paths of
 * containers, made short enough to be read.
 */
#ifndef FORMAT_BYTES_UNIT_NAME_H
#define FORMAT_BYTES_UNIT_NAME_H

#include <stdbool.h>
#include <stddef.h>

#define UNIT_NAME_MAX 256 /* as systemd has it, with the NUL */

/*
 * The unit that systemctl status shows for a process of this group: the first below all slices
 * ("/system.slice/nginx.service/worker" is "nginx.service"), below user@1000.service that of the
 * user's manager, else the innermost slice; "-.slice" of "/". Where systemd did not make the group
 * ("/docker/0123..."), all of the path. Points into path, or to a constant; *ret_len bytes.
 */
const char *unit_name_of_cgroup(const char *path, size_t *ret_len);

/* The innermost slice that a group is in: "app.slice" of a user's service. Likewise. */
const char *unit_name_slice_of_cgroup(const char *path, size_t *ret_len);

/* May a unit be called so: is there a known suffix, and something in front? */
bool unit_name_valid(const char *name, size_t len);

/* Likewise of one of those: type is ".slice", say. */
bool unit_name_is(const char *name, size_t len, const char *type);

/* Copies a name, cut to size, without the suffix that all units of its type have. */
void unit_name_stem(const char *name, char *out, size_t size);

/*
 * The pattern ('*' and '?') of units that a name stands for, which the caller frees; NULL: out of memory. As
 * systemctl takes them, of type ".service": "nginx" is nginx.service, "getty@" any of its instances, and the 12
 * digits or more of a container's id are any unit that has them in its name. Of another type: "user" and "user*"
 * are user.slice and user*.slice. One with a '/' stays as it is. name is not empty.
 */
char *unit_name_pattern(const char *name, const char *type);

/*
 * Copies path (or a unit) with the ids of containers cut to 12 digits, as docker ps and podman ps show them:
 * "docker-0123456789ab.scope". An id is 64 lower-case hexadecimal digits with none beside them.
 * As much as fits into size bytes. out may be path itself. True: there was one.
 */
bool unit_name_shorten(const char *path, char *out, size_t size);

#endif
