/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * helper: processes that touch what belongs to others, so that nobody else has to wait for it.
 *
 * open(2) of somebody's file waits for the server of its file system, and a read of
 * /proc/PID/maps for an exec of PID (exec_update_lock); both may take for ever, in a sleep that
 * no signal ends. So a worker does it: a process of its own, asked by messages, which is left
 * behind when it does not answer. It has none of our descriptors, nor locks, and of the
 * capabilities only those that its work needs (helper_rights); one that cannot give up the others does nothing.
 *
 * Workers are forked by the keeper, a process that was forked early and does nothing else: a
 * fork of a program with threads and a large heap would keep that heap for as long as it is
 * stuck. Keeper and workers end when our ends of their sockets are closed.
 */
#ifndef RECORDER_HELPER_HELPER_H
#define RECORDER_HELPER_HELPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define HELPER_MESSAGE_MAX (128u << 10) /* bytes; room for one record, however large */

struct helper;

/* What a worker does: it takes messages from fd until there is no more to come. */
typedef void helper_serve_fn(int fd);

struct helper_work {
	helper_serve_fn *serve; /* of this program, and not of a library */
	uint64_t rights;	/* the capabilities that it needs, as of helper_rights_shed() */
};

/*
 * Forks the keeper, if there is none. Best while the process has one thread; the first
 * helper_open() does it otherwise. 0, -errno.
 */
int helper_start(void);

/*
 * Asks for a worker, and does not wait for it. 0; -EPERM: one could not give up capabilities that it does not need, and
 * so none will; -errno.
 */
int helper_open(const struct helper_work *work, struct helper **ret);

/* Kills it, and does not wait until that has come to pass. */
void helper_kill(struct helper *h);
/* Likewise, and frees. NULL: nothing. */
void helper_close(struct helper *h);

/* Sends a message of two parts. Never waits. 0; -EAGAIN: no room now; -errno: it is gone. */
int helper_send(struct helper *h, const void *head, size_t head_bytes, const void *tail,
		size_t tail_bytes);

/* Likewise one part, with a descriptor, which stays the caller's. */
int helper_send_fd(struct helper *h, const void *p, size_t bytes, int fd);

/*
 * Gives two workers the ends of a socket between them, each with a message: what the giver sends is the taker's. bytes: room
 * in the socket. 0, -errno.
 */
struct helper_end {
	struct helper *worker;
	const void *p;
	size_t bytes;
};
int helper_join(const struct helper_end *taker, const struct helper_end *giver, int bytes);

/* Takes a message. Never waits. Its bytes; 0: there is none now; -errno: it is gone. */
ssize_t helper_receive(struct helper *h, void *to, size_t cap);

/* Polls readable when there is a message. */
int helper_fd(const struct helper *h);

/*
 * Does it sleep, or wait for a disk? One that only wants for a CPU is not stuck. Asked of /proc;
 * false as well when it has ended.
 */
bool helper_sleeps(const struct helper *h);

/* CPU time that it has told of, in ns. */
uint64_t helper_used_ns(const struct helper *h);
/* CPU time that all workers have told of, in ns. From any thread. */
uint64_t helper_cpu_ns(void);

/* --- in the worker --- */

/* Waits for a message. Its bytes; 0: there will be no more. */
ssize_t helper_take(int fd, void *to, size_t cap);
/* The same, with the descriptor that came along; *ret_fd: -1, none did. */
ssize_t helper_take_fd(int fd, void *to, size_t cap, int *ret_fd);
/* Sends one part and a descriptor on another socket. Never waits. 0; -EAGAIN: no room now; -errno. */
int helper_pass_fd(int socket, const void *p, size_t bytes, int fd);
/* Waits until it is sent. 0, -errno. */
int helper_give(int fd, const void *head, size_t head_bytes, const void *tail, size_t tail_bytes);

#endif
