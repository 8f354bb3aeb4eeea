/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * methods: what a call of each method of io.spoor.Recorder does.
 *
 * One table: name, who may call it, handler, parameters; a test holds it, and what is answered,
 * against the interface's description. Knows nothing of sockets: a call comes as a struct method_call and
 * leaves answered, or waiting for a capture or the next second.
 */
#ifndef DAEMON_CONTROL_METHODS_H
#define DAEMON_CONTROL_METHODS_H

#include "daemon/control/method_call.h"
#include "daemon/control/varlink_idl.h"

struct method {
	const char *name;
	enum methods_access access;
	void (*call)(struct method_call *call);
	const struct varlink_field *in; /* ended by a NULL name */
	bool disk; /* call() may wait for one, on another thread; its context has no config */
};
/* Ended by a NULL name. */
extern const struct method methods_table[];

/*
 * Finds the method, checks the caller's right and the parameters, and calls. Whatever comes is
 * answered, or comes back as METHODS_DISK. The reply's parameters are the caller's.
 */
void methods_call(struct method_call *call);
/*
 * The rest of a METHODS_DISK call, which then is METHODS_ANSWERED, or still METHODS_DISK: that was a part, and others may
 * have their turn before the next. From any thread, but always
 * the same; call and what it points to, but for the client, live until it returns.
 */
void methods_run(struct method_call *call);

/* Status as GetStatus and Monitor reply it. NULL: out of memory. */
json_t *methods_status(const struct control_context *context);

#endif
