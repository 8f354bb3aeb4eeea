/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/ground/session_stats.h"

size_t
session_stats_over(struct session_stats *s, uint32_t uid, uint64_t records)
{
	size_t i = 0;

	while (i < s->nr_over && s->over[i].uid != uid)
		i++;
	if (i == SESSION_OVER_MAX)
		return i;
	if (i == s->nr_over)
		s->over[s->nr_over++] = (struct session_over){ .uid = uid };
	s->over[i].records += records;
	return i;
}

void
session_stats_add(struct session_stats *to, const struct session_stats *more)
{
	for (size_t i = 0; i < more->nr_over; i++)
		(void)session_stats_over(to, more->over[i].uid, more->over[i].records);
	unwind_stops_add(&to->stacks, &more->stacks);
	to->sideband_bytes += more->sideband_bytes;
	to->cpu_ns += more->cpu_ns;
	to->sideband_ns += more->sideband_ns;
	to->samples += more->samples;
	to->records += more->records;
	to->lost += more->lost;
	for (size_t i = 0; i < LOSS_CAUSES; i++)
		to->loss[i] += more->loss[i];
}
