/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * capture_calls: the captures that were asked for over the control socket and run: who asked,
 * and who waits.
 *
 * The recording itself is capture.h. A capture that was given no duration ends with the
 * connection that asked for it; others go on when nobody waits any more.
 */
#ifndef DAEMON_CONTROL_CAPTURE_CALLS_H
#define DAEMON_CONTROL_CAPTURE_CALLS_H

#include <jansson.h>
#include <stdint.h>

#include "daemon/control/method_call.h"
#include "daemon/stream/capture.h"

struct capture_calls;

/* It records. client: who waits for it, or NULL. */
typedef void capture_calls_begun_fn(void *arg, void *client);

struct capture_calls *capture_calls_new(struct capture_set *captures, capture_calls_begun_fn *begun,
					method_call_answer_fn *ended, void *arg);
/* Forgets those that run: capture.h ends them. */
void capture_calls_free(struct capture_calls *c);

/* The client is gone. */
void capture_calls_leave(struct capture_calls *c, const void *client);

/* Losses by cause, as an object. NULL: out of memory. */
json_t *capture_calls_lost(const struct session_stats *stats);

/* A reply of Capture, of one that records: {"capture": ...}. NULL: it does not, or no memory. */
json_t *capture_calls_reply(struct capture_calls *c, uint64_t id);

/* The methods Capture, StopCapture and ListCaptures. */
void capture_calls_start(struct method_call *call);
void capture_calls_stop(struct method_call *call);
void capture_calls_list(struct method_call *call);

#endif
