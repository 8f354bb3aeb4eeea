/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ctl_time: points in time as journalctl takes them: "2026-11-21 03:12:00", "2026-11-21 03:12",
 * "2026-11-21", "03:12[:00]", "now", "today", "yesterday", "tomorrow", "-10m" (ago), "@SECONDS".
 */
#ifndef DAEMON_CTL_TIME_H
#define DAEMON_CTL_TIME_H

#include <stdint.h>

/* Seconds since 1970. now_s: for what is relative. 0, -EINVAL. */
int ctl_time_parse(const char *text, int64_t now_s, int64_t *ret_s);

#endif
