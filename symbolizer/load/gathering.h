/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gathering: the recordings of an input_set, several of them gathered at a time, each by a thread
 * of its own; and taken one after another, in their order, by the one who asks.
 *
 * What is wrong with a recording is said when its turn has come; that it cannot be opened, before.
 */
#ifndef SYMBOLIZER_LOAD_GATHERING_H
#define SYMBOLIZER_LOAD_GATHERING_H

#include "symbolizer/input/input_set.h"
#include "symbolizer/profile/gather.h"
#include "symbolizer/resolve/resolve.h"

struct gathering;

/*
 * opened sees each recording before it is read, in this thread; NULL: nobody does. set is borrowed, and options'
 * filter. Copied stacks are unwound by files where the resolver finds them; NULL: they are not.
 * Nobody else opens recordings of the set until gathering_free(). NULL: out of memory.
 */
struct gathering *gathering_new(struct input_set *set, const struct profile_options *options,
				struct resolver *resolver,
				void (*opened)(void *arg, const struct input *in), void *arg);
void gathering_free(struct gathering *g);

/* The next recording: 1; 0: that was all; -1: it failed, with a message. */
int gathering_next(struct gathering *g, struct resolver_recording *ret, uint64_t *ret_shift_ns);
/*
 * What was gathered of it goes to take, in this thread. 0, or what gather_run() says. *ret is for
 * what it tells at the end, until gathering_finish().
 */
int gathering_take(struct gathering *g, gather_take_fn *take, void *arg, struct gather **ret,
		   struct fmt_where *where);
/* Is done with it, which is the set's open one now: the set's input_set_finish() is next. */
void gathering_finish(struct gathering *g);

#endif
