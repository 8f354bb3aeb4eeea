/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The periods of clocks where buckets of time are narrower than these: a sample stands for the time since the one before
 * it. Put where it was taken, 20 ms buckets of 19 Hz would be empty and full by turns, and would have 5.26 CPUs of two.
 */
#include "symbolizer/profile/gather_internal.h"

#define BUCKETS_MAX 1000 /* of one sample; the rest is in the last of them: spoor-timeline(1) */

/* Not of a wait, whose period is of another time, and which the stream has no event for. */
static bool
is_clock(const struct gather *g, int event)
{
	const struct event_set *events = record_stream_events(g->stream);
	const struct event_attr *attr;

	event = wait_samples_stream_event(replay_first_wait(g->replay), event);
	if (event < 0 || (size_t)event >= event_set_count(events))
		return false;
	attr = &event_set_at(events, (size_t)event)->attr;
	return event_attr_counts_time(attr->type, attr->config);
}

/* Nothing is spread to before this. */
static bool
is_first(const struct profile_options *o, uint64_t bucket_from_ns)
{
	return bucket_from_ns <= o->spread_from_ns || bucket_from_ns < o->bucket_ns;
}

uint64_t
gather_before_bucket(const struct gather *g, int event, uint64_t period, uint64_t time_ns)
{
	const struct profile_options *o = g->options;
	uint64_t from_ns;

	if (!o->by_time)
		return 0;
	from_ns = gather_bucket(o, time_ns);
	if (period <= time_ns - from_ns || is_first(o, from_ns) || !is_clock(g, event))
		return 0;
	return period - (time_ns - from_ns);
}

int
gather_spread(struct gather *g, struct raw_key key, uint64_t before, uint64_t time_ns)
{
	const struct profile_options *o = g->options;
	uint64_t until_ns = gather_bucket(o, time_ns);
	int err = 0;

	for (unsigned int i = 0; err == 0 && before > 0; i++) {
		uint64_t part = before < o->bucket_ns ? before : o->bucket_ns;
		struct raw_sample counted;
		uint32_t who;

		if (i == BUCKETS_MAX || is_first(o, until_ns - o->bucket_ns))
			part = before;
		err = who_finder_later(g->whos, key.who, until_ns - 1, &who);
		if (err)
			break;
		g->raw.whos[who].seen.period += part;
		if (key.stack != GATHER_NO_STACK) {
			counted =
				raw_sample((struct raw_key){ who, key.stack }, part, until_ns - 1);
			counted.samples = 0;
			err = raw_profile_count(&g->raw, &counted);
		}
		g->spread_parts++;
		before -= part;
		until_ns -= o->bucket_ns;
	}
	return err;
}
