/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/ground/session_stats.h"

static void
add_over(struct session_stats *to, const struct session_over *more)
{
	size_t i = 0;

	while (i < to->nr_over && to->over[i].uid != more->uid)
		i++;
	if (i == SESSION_OVER_MAX)
		return;
	if (i == to->nr_over)
		to->over[to->nr_over++] = (struct session_over){ .uid = more->uid };
	to->over[i].records += more->records;
}

void
session_stats_add(struct session_stats *to, const struct session_stats *more)
{
	for (size_t i = 0; i < more->nr_over; i++)
		add_over(to, &more->over[i]);
	to->sideband_bytes += more->sideband_bytes;
	to->cpu_ns += more->cpu_ns;
	to->sideband_ns += more->sideband_ns;
	to->samples += more->samples;
	to->records += more->records;
	to->lost += more->lost;
	to->throttled += more->throttled;
	for (size_t i = 0; i < LOSS_CAUSES; i++)
		to->loss[i] += more->loss[i];
}
