/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * method_call: a call of a method on its way: what came, who asks, and what is answered. What
 * handlers of methods have in common.
 */
#ifndef DAEMON_CONTROL_METHOD_CALL_H
#define DAEMON_CONTROL_METHOD_CALL_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/control/control.h"
#include "daemon/control/varlink.h"

#define METHODS_INTERFACE "io.spoor.Recorder"

enum methods_access {
	METHODS_ANYONE, /* only to be told what there is */
	METHODS_MEMBER, /* of the control group */
	METHODS_ROOT,
};

enum methods_wait {
	METHODS_ANSWERED,
	METHODS_CAPTURE, /* until it ends; with "more" also when it begins, and each second */
	METHODS_MONITOR, /* until the client is gone */
	METHODS_DISK, /* methods_run() is still to be called, maybe again, where a disk can be waited for */
	METHODS_RELOAD, /* until that reload is over */
};

/*
 * What a call that waited is answered with. client: who waits for it, or NULL: gone; the last reply,
 * taken over; error NULL: a good one.
 */
typedef void method_call_answer_fn(void *arg, void *client, const char *error, json_t *parameters);

struct archive_pins;
struct capture_calls; /* those that were started here and run: capture_calls.h */

/*
 * When users may have a segment closed again; who has waited longest is forgotten. While all places are those of users who
 * wait, others do, too.
 */
#define METHODS_ROTATIONS 8
struct methods_rotations {
	struct {
		uid_t uid;
		uint64_t again_ns; /* 0: has not asked yet */
	} last[METHODS_ROTATIONS];
};

struct method_call {
	/* What control knows. */
	const struct control_context *context;
	struct capture_calls *captures;
	const struct varlink_call *message;
	enum methods_access access;
	uid_t uid;     /* whose share it takes, and who is told of */
	uid_t process; /* who asks: uid, or a subordinate of his */
	gid_t gid;
	int fd; /* came along with the call, or -1; a handler that takes it leaves -1 */
	uint64_t now_ns, asked_ns;	     /* asked_ns: when methods_run() was put off */
	void *client;			     /* who waits: handed to capture_calls.h */
	struct methods_rotations *rotations; /* DISK */
	struct methods_rotations *dumps;     /* likewise: when users may have another one */
	/* What the handler says. */
	const char *error;	/* NULL: none */
	json_t *parameters;	/* of the reply; NULL: none, or no memory was left */
	enum methods_wait wait; /* ANSWERED: the above is the last reply; else a first one, if any */
	uint64_t wait_id;	/* CAPTURE, RELOAD: which */
	void (*run)(struct method_call *call); /* DISK: methods_run()'s */
	struct archive_pins *pins;	       /* DISK: that run() has begun, and goes on with */
	uint64_t again_ns; /* DISK: run() is not called again before then (CLOCK_MONOTONIC) */
	uint64_t wait_ns;  /* MONITOR: between replies */
};

/* Answer it with an error of varlink or of ours; parameters, which may be NULL, are taken over. */
void method_call_error(struct method_call *call, const char *error, json_t *parameters);
bool method_call_invalid(struct method_call *call, const char *parameter); /* false */
void method_call_fail(struct method_call *call, int error, const char *message);
void method_call_limit(struct method_call *call, const char *key, uint64_t value);

/*
 * An integer parameter between min and max, the default where it is absent or null. false: out
 * of range, and the call is answered so.
 */
bool method_call_int(struct method_call *call, const char *name, int64_t min, int64_t max,
		     int64_t absent, int64_t *ret);
/* NULL where it is absent or null. */
json_t *method_call_parameter(const struct method_call *call, const char *name);

#endif
