/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * control: the varlink service io.spoor.Recorder on an AF_UNIX socket.
 *
 * Single-threaded, non-blocking, bounded: message size, nesting, clients, idle time, bytes a
 * client has not read. Who may do what is decided by SO_PEERCRED alone. Never opens a path
 * that a client names.
 */
#ifndef DAEMON_CONTROL_CONTROL_H
#define DAEMON_CONTROL_CONTROL_H

#include "daemon/archive/archive.h"
#include "daemon/config/config.h"
#include "daemon/stream/streams.h"

struct control;

struct control_context {
	const struct config *config; /* as in force; see control_reload() */
	struct archive *archive;
	struct streams *streams;
	/* Has it reload as SIGHUP does: the number that control_reloaded() is called with. */
	uint64_t (*reload)(void *arg);
	void *arg;
};

/*
 * listen_fd: from socket activation, or -1: the configured path is bound (mode 0660, the
 * control group) and unlinked at close. 0, or -errno with a message in text.
 */
int control_open(const struct control_context *context, int listen_fd, struct control **ret,
		 char *text, size_t size);
void control_close(struct control *c);
/* No more connections. Those that there are get their answers while streams_close() lasts. */
void control_leave(struct control *c);
void control_reload(struct control *c, const struct config *config);
/* That reload, and those before it, are over: r is 0, or -errno with a message. */
void control_reloaded(struct control *c, uint64_t number, int r, const char *text);

int control_fd(const struct control *c); /* polls readable */
void control_dispatch(struct control *c, uint64_t now_ns);
/* Time-outs and "more" replies of running captures and monitors: call each second. */
void control_tick(struct control *c, uint64_t now_ns);

#endif
