/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * peer: who is at the other end of a socket, by what the kernel says of the moment it
 * connected. Never by /proc/PID: a number is nobody's for ever.
 */
#ifndef DAEMON_CONTROL_PEER_H
#define DAEMON_CONTROL_PEER_H

#include <stdbool.h>
#include <sys/types.h>

/* What getsockopt() says: SO_PEERCRED. 0, -errno. */
int peer_credentials(int fd, uid_t *ret_uid, gid_t *ret_gid);

/*
 * Is the peer, of these credentials, a member of the group: by them (SO_PEERGROUPS), or on a
 * kernel before 4.13 by the group database?
 */
bool peer_in_group(int fd, uid_t uid, gid_t gid, gid_t group);

/* false: no such group. */
bool peer_group_find(const char *name, gid_t *ret);

#endif
