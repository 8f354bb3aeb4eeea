/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * time_buckets: what the numbers of a profile's buckets of time (by_time) are times of.
 *
 * Buckets of a single recording are counted from 0 of its clock, as perf has it; those of an archive,
 * and with bucket_wall, from 1970 on local clocks, so that they begin with the minute, or the day.
 */
#ifndef SYMBOLIZER_LOAD_TIME_BUCKETS_H
#define SYMBOLIZER_LOAD_TIME_BUCKETS_H

#include "symbolizer/input/input_set.h"
#include "symbolizer/profile/gather.h"

#define TIME_BUCKETS_TEXT 48

/*
 * What is added to times of the set's first recording (modulo 2^64) before they are divided by the
 * width. Once one was opened.
 */
uint64_t time_buckets_shift(const struct input_set *set, const struct profile_options *o);

/* Where a bucket begins, on the clock of the first recording; modulo 2^64. */
uint64_t time_buckets_start(const struct input_set *set, const struct profile_options *o,
			    uint64_t bucket);

/*
 * The same as people read it: "2026-11-22 07:15:01", with as many digits behind the second as the width
 * needs; of the recording's clock as dump prints it, "12.250000".
 */
void time_buckets_text(const struct input_set *set, const struct profile_options *o,
		       uint64_t bucket, char out[TIME_BUCKETS_TEXT]);

#endif
