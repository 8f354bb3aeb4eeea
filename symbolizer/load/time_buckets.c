/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/load/time_buckets.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "format/bytes/time_text.h"

#define NS ((uint64_t)SECOND_NS)

/* Are they of the time of day? */
static bool
is_wall(const struct input_set *set, const struct profile_options *o)
{
	return (set->archive || o->bucket_wall) && set->start.realtime != 0;
}

/* By how much clocks here are ahead of UTC: one zone for all, whatever becomes of summer. */
static uint64_t
zone_ns(const struct input_set *set)
{
	time_t seconds = (time_t)(set->start.realtime / NS);
	struct tm tm;

	return localtime_r(&seconds, &tm) ? (uint64_t)tm.tm_gmtoff * NS : 0;
}

uint64_t
time_buckets_shift(const struct input_set *set, const struct profile_options *o)
{
	if (!is_wall(set, o))
		return 0;
	return set->start.realtime - set->start.monotonic + zone_ns(set);
}

uint64_t
time_buckets_start(const struct input_set *set, const struct profile_options *o, uint64_t bucket)
{
	return bucket * o->bucket_ns - time_buckets_shift(set, o);
}

void
time_buckets_text(const struct input_set *set, const struct profile_options *o, uint64_t bucket,
		  char out[TIME_BUCKETS_TEXT])
{
	uint64_t ns = time_buckets_start(set, o, bucket), part = o->bucket_ns % NS;
	int digits = part == 0 ? 0 : part % 1000000 == 0 ? 3 : part % 1000 == 0 ? 6 : 9;
	char day[TIME_BUCKETS_TEXT - 16], fraction[16] = "";
	time_t seconds;
	struct tm tm;

	if (!is_wall(set, o)) {
		snprintf(out, TIME_BUCKETS_TEXT, "%" PRIu64 ".%0*" PRIu64, ns / NS,
			 digits > 6 ? 9 : 6, ns % NS / (digits > 6 ? 1 : 1000));
		return;
	}
	ns += set->start.realtime - set->start.monotonic;
	seconds = (time_t)(ns / NS);
	if (!localtime_r(&seconds, &tm) || strftime(day, sizeof(day), "%F %T", &tm) == 0)
		snprintf(day, sizeof(day), "@%" PRIu64, ns / NS);
	if (digits > 0)
		snprintf(fraction, sizeof(fraction), ".%09" PRIu64, ns % NS);
	snprintf(out, TIME_BUCKETS_TEXT, "%s%.*s", day, digits ? digits + 1 : 0, fraction);
}
