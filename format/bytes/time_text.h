/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * time_text: times as people write them: "10m", and points in time in journalctl's way
 * (systemd.time(7)). Knows no clock: now is an argument; local time is libc's.
 */
#ifndef FORMAT_BYTES_TIME_TEXT_H
#define FORMAT_BYTES_TIME_TEXT_H

#include <stdint.h>
#include <time.h>

#define SECOND_NS INT64_C(1000000000) /* signed: what is subtracted may be below zero */

static inline int64_t
time_text_ns(const struct timespec *t)
{
	return t->tv_sec * SECOND_NS + t->tv_nsec;
}

/*
 * As systemd.time(7) has time spans: "500ms", "5s", "1h30m", "0.3s", "2 days", "1month"; units
 * ns us ms s m h d w M y and the longer names; a number without one is seconds. What is below a
 * nanosecond is dropped. 0; -FMT_E_CORRUPT: it is none; -FMT_E_TOO_BIG: more ns than there are.
 * *ret_ns is untouched then.
 */
int time_text_duration(const char *text, uint64_t *ret_ns);

/*
 * ns since 1970 of a timestamp of systemd.time(7): "[WEEKDAY] 2026-11-21[ 03:12[:00[.5]]]" (T for
 * the blank is fine), "03:12[:00]" (today), "today", "yesterday", "tomorrow" (their midnights),
 * with "Z", "+01:00", " UTC", " Europe/Berlin" or the local zone's name behind it where it is not
 * local time; "now", "-10m", "10m ago", "+10m", "10m left", "@SECONDS". Besides, "10m" is 10m
 * ago, and "yesterday 03:10" what it says. 0; -FMT_E_CORRUPT, also when it is before 1970;
 * -FMT_E_NOMEM. *ret_ns is untouched then. tz is the TZ of the environment (NULL: it has none),
 * which is set to that of another zone, and then to tz again, when one is named: not while other
 * threads run.
 */
int time_text_instant(const char *text, int64_t now_ns, const char *tz, int64_t *ret_ns);

/* "2026-11-22T12:03:10Z" of seconds since 1970; "?" of a year that libc cannot tell. */
#define TIME_TEXT_UTC_BYTES 32
void time_text_utc(time_t t, char ret[TIME_TEXT_UTC_BYTES]);

#endif
