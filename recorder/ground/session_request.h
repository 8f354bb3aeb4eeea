/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session_request: what other threads ask of a running session, and how they wait for it.
 *
 * A caller posts and sleeps; the drain takes requests one after another, does them or hands
 * them on to the writer, and whoever did one says so. The drain itself never waits here: the
 * lock is held for a few instructions only.
 */
#ifndef RECORDER_GROUND_SESSION_REQUEST_H
#define RECORDER_GROUND_SESSION_REQUEST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "recorder/ground/session_error.h"

struct session_requests;

enum session_request_kind {
	REQUEST_ROTATE,
	REQUEST_SYNC,
	REQUEST_AT_ONCE, /* the drain does these itself */
	REQUEST_FREQUENCY = REQUEST_AT_ONCE,
	REQUEST_ENABLE,
	REQUEST_COUNT,
	REQUEST_SNAPSHOT,
	REQUEST_CALL
};

/* On the stack of the caller that waits for it. */
struct session_request {
	enum session_request_kind kind;
	struct io_sink *sink;	 /* ROTATE: whoever does it takes it over, and leaves NULL */
	bool dump;		 /* ROTATE: the file that ends gets what the rings have */
	uint64_t hz, limit_hz;	 /* FREQUENCY */
	bool on;		 /* ENABLE, COUNT */
	const char *event;	 /* ENABLE: its name; NULL: all */
	void (*call)(void *arg); /* CALL: where what the drain owns stands still */
	void *arg;
	int result;
	struct session_error error;
	_Atomic bool done; /* a caller that does not wait may look at it, and then at the result */
	STAILQ_ENTRY(session_request) next;
};

/* 0, -ENOMEM, -errno. */
int session_requests_new(struct session_requests **ret);

/* After session_requests_shut(). Waits until the last caller has gone. */
void session_requests_free(struct session_requests *q);

/* An eventfd that is readable when there is one; reading it is the taker's business. */
int session_requests_fd(const struct session_requests *q);

/* Any thread: posts it and waits. Returns its result; error (may be NULL) is filled from it. */
int session_request_wait(struct session_requests *q, struct session_request *rq,
			 struct session_error *error);

/* The drain: the oldest request not taken; NULL: none. */
struct session_request *session_request_take(struct session_requests *q);

/* Any thread: it is done, and is not to be touched any more. */
void session_request_done(struct session_requests *q, struct session_request *rq, int result);

/*
 * From now on all requests fail; so do those that nobody has taken, and one that was taken and will
 * not be done (NULL: there is none).
 */
void session_requests_shut(struct session_requests *q, struct session_request *taken);

#endif
