/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * who_finder: whose a sample is, by what is asked for, and what the filter says of it; and the names
 * of the events that took samples.
 */
#ifndef SYMBOLIZER_PROFILE_WHO_FINDER_H
#define SYMBOLIZER_PROFILE_WHO_FINDER_H

#include <stddef.h>
#include <stdint.h>

#include "format/record/tracepoint.h"
#include "symbolizer/profile/gather.h"
#include "symbolizer/profile/raw_profile.h"
#include "symbolizer/profile/replay.h"
#include "symbolizer/text/intern.h"

struct who_finder;

/*
 * All are borrowed for its life, but replay for the last who_finder_find(). processes: whos are kept apart by process,
 * and it gets their names; NULL: nobody asks. NULL: out of memory.
 */
struct who_finder *who_finder_new(const struct replay *replay, struct intern *strings,
				  struct raw_profile *raw, const struct profile_options *options,
				  struct process_table *processes);
void who_finder_free(struct who_finder *f);

/* The number of the who in the raw profile, new or known; detail: as in raw_who. 0, -FMT_E_NOMEM. */
int who_finder_find(struct who_finder *f, const struct replay_sample *s, uint32_t detail,
		    uint32_t *ret);

/* With by_time: the same one's at another time. 0, -FMT_E_NOMEM. */
int who_finder_later(struct who_finder *f, uint32_t known, uint64_t time_ns, uint32_t *ret);

/* What the bytes of an event's samples mean; NULL: not known. Good until who_finder_free(). */
const struct tracepoint *who_finder_tracepoint(struct who_finder *f, int event);

/* Events, by their numbers in raw_who.event. */
size_t who_finder_events(const struct who_finder *f);
const char *who_finder_event(const struct who_finder *f, size_t event);

#endif
