/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * capture_internal: what the two parts of captures share: the set with those that run
 * (capture.c), and how one begins, if its limits allow it (capture_start.c).
 */
#ifndef DAEMON_STREAM_CAPTURE_INTERNAL_H
#define DAEMON_STREAM_CAPTURE_INTERNAL_H

#include <bsd/sys/queue.h>

#include "daemon/stream/capture.h"
#include "daemon/stream/client_file.h"
#include "daemon/stream/session_thread.h"

struct capture {
	TAILQ_ENTRY(capture) entry;
	struct capture_progress progress;
	struct session_thread *thread;
	uint64_t asked_ns, begun_ns;
	uint64_t over_ns; /* since when it has no slot any more; 0: it has one */
	uid_t uid;
	uint64_t cpu_ns;	 /* that is in its user's account */
	struct client_file *out; /* NULL: into the archive */
	bool given_up;		 /* its file */
	struct archive *archive;
	const struct io_sink *sink;  /* of the archive's file, until the thread records */
	char file[ARCHIVE_NAME_MAX]; /* the thread's until it records or has ended */
	struct capture_waiter waiter;
	/* Our copies of what the session borrows. */
	char **events;
	size_t nr_events;
	pid_t *pids;
	char *cgroup, *cgroups, *cpus;
	char *notes; /* NULL: it has not begun */
};

TAILQ_HEAD(capture_list, capture);

/* A slot after its capture, which had more of the CPUs than its share: so no more of them, either. */
struct capture_debt {
	uid_t uid;
	uint64_t until_ns; /* 0: none */
};
#define CAPTURE_DEBTS 64

struct capture_set {
	const struct config *config;
	struct archive *archive;
	int wake_fd;
	uint64_t next_id, numbers;  /* numbers: that were given */
	uint32_t running;	    /* that have a slot */
	unsigned int seconds;	    /* waited for clients' files at the end */
	_Atomic uint32_t cpu_share; /* of each of them: sample_bound.h */
	struct capture_debt debts[CAPTURE_DEBTS];
	struct capture_cpu cpu[CAPTURE_CPU_USERS];
	struct capture_list list; /* somebody may wait for */
	struct capture_list left; /* that could not be begun, until their threads end */
};

void capture_free(struct capture *c);
/*
 * Slots that are still owed for, of a user; -1: of all but root. *ret_ns (may be NULL): until there is
 * one less.
 */
uint32_t capture_debts(const struct capture_set *set, uid_t uid, uint64_t *ret_ns);
/*
 * All alike, so that what one takes is not the others'. With one more: of what is about to be
 * opened, which is bounded by what it will have.
 */
void capture_share_cpu(struct capture_set *set, uint32_t with);

#endif
