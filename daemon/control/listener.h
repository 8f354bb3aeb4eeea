/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * listener: the socket in the file system on which clients connect.
 */
#ifndef DAEMON_CONTROL_LISTENER_H
#define DAEMON_CONTROL_LISTENER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct listener {
	int fd;
	char path[108]; /* "" when it was passed to us: not ours to remove */
	dev_t dev;
	ino_t ino;
};

/*
 * Binds path with mode 0660 and the group (group NULL: 0600). A socket that is there already
 * is replaced if nobody listens on it. 0, or -errno with a message in text.
 */
int listener_open(struct listener *l, const char *path, const gid_t *group, char *text,
		  size_t size);
/* A listening AF_UNIX stream socket from socket activation; taken over if it is one. */
int listener_adopt(struct listener *l, int fd, char *text, size_t size);
/* Is the path no more the socket that was bound to it? Never of one from socket activation. */
bool listener_lost(const struct listener *l);
/* Closes; removes the path if it is still the one that was bound. */
void listener_close(struct listener *l);

#endif
