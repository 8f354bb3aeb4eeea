/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * live_offers: files that were found and are to be stored, until they are: those that the worker which
 * stores them had no room for, and those that it has, in case it is lost. They are asked for again.
 */
#ifndef RECORDER_LIVE_LIVE_OFFERS_H
#define RECORDER_LIVE_LIVE_OFFERS_H

#include <stdbool.h>
#include <stddef.h>

#include "recorder/live/live_wanted.h"

#define LIVE_OFFERS_MAX 1024

struct live_offers;

struct live_offers *live_offers_new(void); /* NULL: out of memory */
void live_offers_free(struct live_offers *o);

/*
 * A file of this build; its path is taken over. passed: the worker has it, else it had no room. False: it
 * is not kept, for want of room here.
 */
bool live_offers_keep(struct live_offers *o, struct live_wanted *w, const struct buildid *id,
		      bool passed, uint64_t now_ns);
/* The worker is done with this build; that may be known before it is known to have it. */
void live_offers_done(struct live_offers *o, const struct buildid *id);
/* The worker is gone, or its socket, and all that it had not done. */
void live_offers_lost(struct live_offers *o);

/* One that is to be asked for now, the caller's; hurry: who had no room a moment ago, too. False: none. */
bool live_offers_next(struct live_offers *o, uint64_t now_ns, bool hurry, struct live_wanted *ret);

#endif
