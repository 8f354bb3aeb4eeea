/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * usage: what this process costs: processor time of all its threads, resident memory, bytes
 * written. Rates are over the last minute. The kernel's part of sampling, spent in interrupts of
 * whoever was running, is not in it.
 */
#ifndef DAEMON_STREAM_USAGE_H
#define DAEMON_STREAM_USAGE_H

#include <stdint.h>

#define USAGE_POINTS 61

/* All zero to begin with. */
struct usage {
	struct usage_point {
		uint64_t at_ns, cpu_ns, written_bytes;
	} points[USAGE_POINTS]; /* a ring: one a second */
	unsigned int nr, last;
	uint64_t rss_bytes;
};

/* Reads the counters, once a second at most. written_bytes: since the start. */
void usage_take(struct usage *u, uint64_t now_ns, uint64_t written_bytes);
const struct usage_point *usage_now(const struct usage *u);
double usage_cpu_percent(const struct usage *u); /* of one CPU */
uint64_t usage_written_per_s(const struct usage *u);

#endif
