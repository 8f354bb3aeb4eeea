/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * time_text: times as people write them: "10m", and points in time in journalctl's way
 * (systemd.time(7)). Knows no clock: now is an argument; the time zone is libc's.
 */
#ifndef FORMAT_TIME_TEXT_H
#define FORMAT_TIME_TEXT_H

#include <stdint.h>

#define SECOND_NS INT64_C(1000000000) /* signed: what is subtracted may be below zero */

/*
 * "500ms", "5s", "2m", "1h30m", "0.3s", "2 days"; units ns us ms s m h d w and the longer names
 * that systemd has for them; a bare number: seconds. What is below a nanosecond is dropped. 0;
 * -FMT_E_CORRUPT: it is none; -FMT_E_TOO_BIG: more ns than there are. *ret_ns is untouched then.
 */
int time_text_duration(const char *text, uint64_t *ret_ns);

/*
 * ns since 1970 of "[WEEKDAY] 2026-11-21[ 03:12[:00[.5]]][ UTC]" (T for the blank is fine),
 * "03:12[:00]" (today), "now", "today", "yesterday", "tomorrow" (their midnights), "-10m" and
 * "10m ago", "+10m", "@SECONDS[.5]". Local time where UTC does not stand. 0; -FMT_E_CORRUPT.
 */
int time_text_instant(const char *text, int64_t now_ns, int64_t *ret_ns);

#endif
