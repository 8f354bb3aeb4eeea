/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * methods: what a call of each method of io.spoor.Recorder does.
 *
 * One table: name, who may call it, parameters, results, handler; a test holds it against the
 * interface's description. Knows nothing of sockets: a call comes as a struct method_call and
 * leaves answered, or waiting for a capture or the next second.
 */
#ifndef DAEMON_METHODS_H
#define DAEMON_METHODS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/control.h"
#include "daemon/varlink.h"
#include "daemon/varlink_idl.h"

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
	METHODS_DISK,	 /* methods_run() is still to be called, where a disk can be waited for */
	METHODS_RELOAD,	 /* until that reload is over */
};

struct capture_calls; /* those that were started here and run: capture_calls.h */

/* When users last had a segment closed; those of whom it is longest ago are forgotten. */
#define METHODS_ROTATIONS 64
struct methods_rotations {
	struct {
		uid_t uid;
		uint64_t at_ns; /* 0: never */
	} last[METHODS_ROTATIONS];
};

struct method_call {
	/* What control knows. */
	const struct control_context *context;
	struct capture_calls *captures;
	const struct varlink_call *message;
	enum methods_access access;
	uid_t uid;
	gid_t gid;
	int fd; /* came along with the call, or -1; a handler that takes it leaves -1 */
	uint64_t now_ns, asked_ns;	     /* asked_ns: when methods_run() was put off */
	void *client;			     /* who waits: handed to capture_calls.h */
	struct methods_rotations *rotations; /* DISK */
	/* What the handler says. */
	const char *error;	/* NULL: none */
	json_t *parameters;	/* of the reply; NULL: none, or no memory was left */
	enum methods_wait wait; /* ANSWERED: the above is the last reply; else a first one, if any */
	uint64_t wait_id;	/* CAPTURE, RELOAD: which */
	void (*run)(struct method_call *call); /* DISK: methods_run()'s */
	uint64_t wait_ns;		       /* MONITOR: between replies */
};

struct method {
	const char *name;
	enum methods_access access;
	void (*call)(struct method_call *call);
	const struct varlink_field *in, *out; /* ended by a NULL name */
	bool disk; /* call() may wait for one, on another thread; its context has no config */
};
/* Ended by a NULL name. */
extern const struct method methods_table[];

struct methods_type {
	const char *name;
	const struct varlink_field *fields;
};
extern const struct methods_type methods_types[], methods_errors[]; /* ended by a NULL name */

/*
 * Finds the method, checks the caller's right and the parameters, and calls. Whatever comes is
 * answered, or comes back as METHODS_DISK. The reply's parameters are the caller's.
 */
void methods_call(struct method_call *call);
/*
 * The rest of a METHODS_DISK call, which then is METHODS_ANSWERED. From any thread, but always
 * the same; call and what it points to, but for the client, live until it returns.
 */
void methods_run(struct method_call *call);

/* Status as GetStatus and Monitor reply it. NULL: out of memory. */
json_t *methods_status(const struct control_context *context);

/* For handlers. json may be NULL. */
void methods_invalid(struct method_call *call, const char *parameter);
void methods_fail(struct method_call *call, int error, const char *message);
void methods_limit(struct method_call *call, const char *key, uint64_t value);

/*
 * An integer parameter between min and max, the default where it is absent or null. false: out
 * of range, and the call is answered so.
 */
bool methods_int(struct method_call *call, const char *name, int64_t min, int64_t max,
		 int64_t absent, int64_t *ret);
/* NULL where it is absent or null. */
json_t *methods_parameter(const struct method_call *call, const char *name);

#endif
