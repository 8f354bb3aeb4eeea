/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * capture: recordings on request, beside the base stream: each with its own events, frequency,
 * target, file and threads, within the limits of the configuration. The main thread's.
 */
#ifndef DAEMON_STREAM_CAPTURE_H
#define DAEMON_STREAM_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/archive/archive.h"
#include "daemon/config/config.h"
#include "recorder/session/session.h"

struct capture_set;

int capture_set_new(const struct config *c, struct archive *a, int wake_fd,
		    struct capture_set **ret);
/*
 * Ends all in order, telling those who wait; each_second as of session_thread_wait(). What is for a
 * client to answer is waited for a few seconds. False: threads are left, which still use what they
 * were given, until the process ends.
 */
bool capture_set_free(struct capture_set *set, bool (*each_second)(void *arg), void *arg);
void capture_set_reload(struct capture_set *set, const struct config *c);

void capture_set_dispatch(struct capture_set *set);
uint32_t capture_set_running(const struct capture_set *set);
/* Does any run, or still write its rest? */
bool capture_set_busy(const struct capture_set *set);
bool capture_set_alive(struct capture_set *set, uint64_t now_ns);

/* CPU time that captures of a user have taken since the daemon was started; the last one is of all whom there was no room for. */
struct capture_cpu {
	uint32_t uid; /* UINT32_MAX: the last one */
	uint64_t ns;  /* 0: none */
};
#define CAPTURE_CPU_USERS 16
/* The same; returns the sum. */
uint64_t capture_set_cpu(const struct capture_set *set, struct capture_cpu ret[CAPTURE_CPU_USERS]);

struct capture_progress {
	uint64_t id; /* as of capture_start() */
	uint64_t number; /* for people, when it records or is given up; 0: it has none, and may be refused yet */
	bool begun, ended;
	struct session_stats stats;
	uint64_t elapsed_ns, duration_ns; /* elapsed: of recording */
	char file[ARCHIVE_NAME_MAX];	  /* "" when the client's descriptor is written */
	const char *notes; /* as of session_notes(), of one that has begun, else "" */
	char error[512];   /* "" or why it failed */
	int saved_errno;   /* with it; 0: not known */
};

/* Who waits for a capture. Both are called from capture_set_dispatch() or capture_set_free(). */
struct capture_waiter {
	void (*on_begin)(void *arg); /* once, when it records */
	/* Once, after it or instead of it: a file or event may turn out to be no good. */
	void (*on_end)(void *arg, const struct capture_progress *last);
	void *arg;
};

/* Why one is not started. */
struct capture_refusal {
	const char *limit; /* the key of the configuration that has it; NULL: it is something else */
	uint64_t value;	   /* its value, seconds of a time */
	struct session_error error;
};

/*
 * Starts one, if all limits allow it; the id names it from here on. It is being opened when this
 * returns. 0, or -errno with *why: the waiter is then not called. wish: target, events, frequency,
 * call graph, duration; uid, who asked; out_fd, the client's descriptor, taken over in any case, or
 * -1: into captures/. What it points to is copied.
 */
int capture_start(struct capture_set *set, const struct session_options *wish,
		  const struct capture_waiter *waiter, uint64_t *ret_id,
		  struct capture_refusal *why);
int capture_stop(struct capture_set *set, uint64_t id); /* -ENOENT */
/* The one who waited is gone; the capture goes on. */
void capture_forget(struct capture_set *set, uint64_t id);
/* -ENOENT: there is none, or it has ended, which its waiter was told. */
int capture_progress(struct capture_set *set, uint64_t id, struct capture_progress *ret);

#endif
