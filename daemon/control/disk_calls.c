/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/control/disk_calls.h"

#include <errno.h>
#include <stdlib.h>

#include <bsd/sys/queue.h>

#include "daemon/archive/archive.h"
#include "daemon/process/chores.h"

/* Of clients that are gone, too: who calls and leaves again and again is told to wait. */
#define CALLS_MAX 256 /* of root, and of all others together */
#define CALLS_EACH 64 /* of a user but root */

struct disk_call {
	struct chore chore; /* first: a chore of ours is one of these */
	struct disk_calls *owner;
	struct method_call call;
	struct control_context context;
	struct varlink_call message;
	LIST_ENTRY(disk_call) link;
};

struct disk_calls {
	struct chores *chores;
	method_call_answer_fn *done;
	void *arg;
	size_t nr;
	LIST_HEAD(, disk_call) calls;
	struct methods_rotations rotations, dumps; /* the chores' */
};

struct disk_calls *
disk_calls_new(struct chores *chores, method_call_answer_fn *done, void *arg)
{
	struct disk_calls *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->chores = chores;
	d->done = done;
	d->arg = arg;
	LIST_INIT(&d->calls);
	return d;
}

void
disk_calls_free(struct disk_calls *d)
{
	/* One that a thread still does, as it was given up, needs its owner for no more. */
	if (d && LIST_EMPTY(&d->calls))
		free(d);
}

static void
disk_calls_run(struct chore *chore)
{
	struct disk_call *one = (struct disk_call *)chore;

	one->call.asked_ns = chore->asked_ns;
	one->call.again_ns = 0;
	methods_run(&one->call);
	chore->again = one->call.wait == METHODS_DISK;
	chore->again_ns = one->call.again_ns;
}

static void
disk_calls_done(struct chore *chore)
{
	struct disk_call *one = (struct disk_call *)chore;
	struct disk_calls *d = one->owner;
	struct method_call call = one->call;

	if (chore->dropped) {
		archive_pins_free(call.pins);
		method_call_fail(&call, -ESHUTDOWN, "the daemon ends");
	}
	LIST_REMOVE(one, link);
	d->nr--;
	json_decref(one->message.message);
	free(one);
	/* Last, as the client's next call may come from within. */
	d->done(d->arg, call.client, call.error, call.parameters);
}

static bool
has_room(const struct disk_calls *d, uid_t uid)
{
	const struct disk_call *one;
	size_t its = 0, roots = 0;

	LIST_FOREACH(one, &d->calls, link) {
		its += one->call.uid == uid;
		roots += one->call.uid == 0;
	}
	if (uid == 0)
		return roots < CALLS_MAX;
	return its < CALLS_EACH && d->nr - roots < CALLS_MAX;
}

int
disk_calls_add(struct disk_calls *d, const struct method_call *call, struct varlink_call *message)
{
	struct disk_call *one;

	if (!has_room(d, call->uid))
		return -EBUSY;
	one = calloc(1, sizeof(*one));
	if (!one)
		return -ENOMEM;
	one->chore = (struct chore){
		.run = disk_calls_run, .done = disk_calls_done, .for_client = true, .uid = call->uid
	};
	one->owner = d;
	one->message = *message;
	*message = (struct varlink_call){ .message = NULL };
	one->call = *call;
	one->call.message = &one->message;
	/* The configuration may be another one when it is done: methods that wait have none. */
	one->context = *call->context;
	one->context.config = NULL;
	one->call.context = &one->context;
	one->call.rotations = &d->rotations;
	one->call.dumps = &d->dumps;
	LIST_INSERT_HEAD(&d->calls, one, link);
	d->nr++;
	chores_add(d->chores, &one->chore);
	return 0;
}

void
disk_calls_leave(struct disk_calls *d, const void *client)
{
	struct disk_call *one;

	LIST_FOREACH(one, &d->calls, link)
		if (one->call.client == client)
			one->call.client = NULL;
}
