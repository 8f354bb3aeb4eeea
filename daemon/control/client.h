/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * client: one connection to the control socket: bytes in and out, both bounded, never
 * blocking, and the one descriptor that may come along.
 */
#ifndef DAEMON_CONTROL_CLIENT_H
#define DAEMON_CONTROL_CLIENT_H

#include <bsd/sys/queue.h>

#include "daemon/control/method_call.h"
#include "format/bytes/buf.h"

#define CLIENT_OUT_BYTES (1u << 20) /* that a client has not read; over it, it is dropped */

struct client {
	TAILQ_ENTRY(client) next;
	int fd;
	uid_t uid;     /* whose share it takes: subuid_owner() of who asks */
	uid_t process; /* who asks */
	gid_t gid;
	enum methods_access access;
	uint32_t events; /* that are waited for */
	bool parked;	 /* waits for a turn (call_meter.h), and is not in the epoll set */
	bool paid;	 /* for the turn of what it does next */
	bool dead;	 /* to be closed when nobody looks at it any more */
	bool ended;	 /* will send nothing more */

	struct buf in;
	int passed; /* descriptor that came and has not been claimed, or -1 */
	struct buf out;
	size_t sent; /* of out */

	enum methods_wait wait;
	bool more;
	bool silent;			    /* waits, but the call was oneway */
	uint64_t wait_id, wait_ns, next_ns; /* see struct method_call */

	uint64_t idle_ns;  /* since when nothing is asked or answered */
	uint64_t begun_ns; /* when the first byte of an unfinished call came; 0: there is none */
	uint64_t stuck_ns; /* since when out has not moved */
};

/* Takes fd over. NULL: out of memory, and fd is closed. */
struct client *client_new(int fd, uid_t uid, enum methods_access access, uint64_t now_ns);
void client_free(struct client *c);

/* Reads what fits. 0 (c->ended: end of file), -EAGAIN, or another -errno: drop the client. */
int client_receive(struct client *c, uint64_t now_ns);
/* The whole call at the front, to its NUL, until client_consume(). NULL: there is none. */
const char *client_message(const struct client *c);
void client_consume(struct client *c, uint64_t now_ns);
/* Has it sent more than a call can have, without an end? */
bool client_overfull(const struct client *c);

/* Queues a reply (parameters taken over) and sends what goes. 0; -errno: drop the client. */
int client_reply(struct client *c, const char *error, json_t *parameters, bool continues,
		 uint64_t now_ns);
/* Sends what goes. */
int client_send(struct client *c, uint64_t now_ns);
bool client_unsent(const struct client *c);

/* Has it been silent, slow, or deaf for this long? */
bool client_expired(const struct client *c, uint64_t now_ns, uint64_t timeout_ns);

#endif
