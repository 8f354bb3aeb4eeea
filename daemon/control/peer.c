/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/control/peer.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <sys/socket.h>

#include <bsd/stdlib.h>

#ifndef SO_PEERGROUPS
#define SO_PEERGROUPS 59
#endif

#define GROUPS_MAX 65536 /* of a process: NGROUPS_MAX of Linux */

int
peer_credentials(int fd, uid_t *ret_uid, gid_t *ret_gid)
{
	struct ucred cred;
	socklen_t size = sizeof(cred);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &size) < 0)
		return -errno;
	/* The kernel says -1 of a peer it does not know. */
	if (size != sizeof(cred) || cred.uid == (uid_t)-1)
		return -EPERM;
	*ret_uid = cred.uid;
	*ret_gid = cred.gid;
	return 0;
}

static bool
peer_has(const gid_t *groups, size_t nr, gid_t group)
{
	for (size_t i = 0; i < nr; i++)
		if (groups[i] == group)
			return true;
	return false;
}

/* 1: member, 0: not, -errno: cannot be told. groups: room for GROUPS_MAX, here and below. */
static int
in_credentials(int fd, gid_t group, gid_t *groups)
{
	socklen_t size = GROUPS_MAX * sizeof(*groups);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &size) < 0)
		return -errno;
	return peer_has(groups, size / sizeof(*groups), group);
}

static bool
in_database(uid_t uid, gid_t group, gid_t *groups)
{
	struct passwd *pw = getpwuid(uid);
	int nr = GROUPS_MAX;

	return pw && getgrouplist(pw->pw_name, pw->pw_gid, groups, &nr) >= 0 &&
		peer_has(groups, (size_t)nr, group);
}

bool
peer_in_group(int fd, uid_t uid, gid_t gid, gid_t group)
{
	gid_t *groups;
	int r;

	if (gid == group)
		return true;
	groups = reallocarray(NULL, GROUPS_MAX, sizeof(*groups));
	if (!groups)
		return false;
	r = in_credentials(fd, group, groups);
	if (r == -ENOPROTOOPT)
		r = in_database(uid, group, groups);
	free(groups);
	return r > 0;
}

bool
peer_group_find(const char *name, gid_t *ret)
{
	const struct group *g = *name ? getgrnam(name) : NULL;

	if (g)
		*ret = g->gr_gid;
	return g != NULL;
}
