/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * chores: what may wait for a disk, done one after another on a thread of its own, so that the
 * main loop never does. Those of the daemon come first, in the order in which they were asked for:
 * who wants something freed that earlier chores use has a chore for it. Those of clients come in
 * turns by user, and use what they find when they run. What takes longer than others should wait is done in parts:
 * a client's chore that asks to be run again has its user's next turn, and the user's other ones come after it.
 *
 * All calls are from the main thread.
 */
#ifndef DAEMON_PROCESS_CHORES_H
#define DAEMON_PROCESS_CHORES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <bsd/sys/queue.h>

struct chores;

/* Part of what it is about; the owner's again when done() is called. */
struct chore {
	void (*run)(struct chore *one);	 /* on the thread */
	void (*done)(struct chore *one); /* on the main thread; may free it and ask for more */
	bool for_client;
	uid_t uid;  /* of the client */
	bool again; /* for_client: run() may set it, to be called once more before done() is */
	uint64_t again_ns; /* with again: the earliest time of that call (CLOCK_MONOTONIC); 0: in its turn */
	/* The chores' own from here on; may be read in run() and done(). */
	uint64_t asked_ns; /* CLOCK_MONOTONIC */
	bool dropped;	   /* run() was not called, or not again: the daemon ends */
	uint64_t turn;
	STAILQ_ENTRY(chore) next;
};

/* wake_fd: an eventfd that gets a 1 when one has been done. 0, -errno. */
int chores_new(int wake_fd, struct chores **ret);
void chores_add(struct chores *c, struct chore *one);
/* Calls done() of those that have been. */
void chores_dispatch(struct chores *c);

/* Does the thread get on with what it has to do? */
bool chores_alive(struct chores *c, uint64_t now_ns);

/*
 * Waits for the one that is being done, drops those that have not begun, calls done() of all.
 * each_second(arg) is called while it waits (may be NULL): false gives up, and c is left to the
 * end of the process. False: given up.
 */
bool chores_close(struct chores *c, bool (*each_second)(void *arg), void *arg);

#endif
