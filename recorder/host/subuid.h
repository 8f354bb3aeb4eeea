/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * subuid: users who are others' subordinates: subuid(5).
 *
 * In a user namespace of his own somebody is as many users as his range has. Whatever is shared out
 * by user, or held against one, goes by the range.
 */
#ifndef RECORDER_HOST_SUBUID_H
#define RECORDER_HOST_SUBUID_H

#include <sys/types.h>

/* The first user of the range that this one is in; itself, where it is in none. From any thread. */
uid_t subuid_first(uid_t uid);
/*
 * Whose subordinate it is; the first of the range, where /etc/passwd does not have that name; itself, where it is in none,
 * or in one of root's. Never root, but of root. From any thread.
 */
uid_t subuid_owner(uid_t uid);
/* Likewise, of another file than /etc/subuid. For tests; not while another thread asks. */
void subuid_path(const char *path);

#endif
