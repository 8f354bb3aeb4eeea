/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/input/covered_span.h"

#include <linux/perf_event.h>
#include <string.h>

#define CPUS_MAX 65536 /* as many are looked at, whatever the file says */

static bool
see_header(const struct block_header *h, void *arg)
{
	struct covered_span *s = arg;

	if (h->type != BLOCK_RECORDS)
		return false;
	if (h->samples > 0 && h->t_min < s->from_ns)
		s->from_ns = h->t_min;
	if (h->t_max > s->until_ns)
		s->until_ns = h->t_max;
	/* Of what is imported all is complete, for ever. */
	if (h->complete != UINT64_MAX && h->complete > s->until_ns)
		s->until_ns = h->complete;
	return false;
}

/*
 * Only events of tasks are inherited by their children. But perf asks for that whatever it records, and has
 * the CPU in samples only where it records CPUs.
 */
static bool
is_of_tasks(const struct recording_meta *m)
{
	const bool perf = strncmp(m->writer, "perf ", 5) == 0;

	for (size_t i = 0; i < event_set_count(m->events); i++) {
		const struct event_attr *a = &event_set_at(m->events, i)->attr;

		if (event_attr_has(a, EVENT_ATTR_inherit) &&
		    !(perf && (a->sample_type & PERF_SAMPLE_CPU)))
			return true;
	}
	return false;
}

static uint32_t
count_cpus(const struct recording_meta *m, const struct filter *filter)
{
	const uint32_t online = m->cpus_online ? m->cpus_online : 1;
	const uint32_t possible = m->cpus_possible > online ? m->cpus_possible : online;
	uint32_t n = 0;

	if (!filter || !filter_by_cpu(filter))
		return online;
	for (uint32_t cpu = 0; cpu < possible && cpu < CPUS_MAX && n < online; cpu++)
		n += filter_wants_cpu(filter, cpu);
	return n;
}

bool
covered_span_find(struct input *in, const struct filter *filter, uint64_t shift_ns,
		  struct covered_span *ret)
{
	const struct recording_meta *m = recording_reader_meta(in->reader);
	struct covered_span s = { .from_ns = UINT64_MAX };
	uint64_t from = 0, until = UINT64_MAX;
	struct fmt_where where = { 0 };
	struct block none;
	int error;

	recording_reader_rewind(in->reader);
	error = recording_reader_next(in->reader, see_header, &s, &none, &where);
	recording_reader_rewind(in->reader);
	if (error)
		return false;
	if (m->start.monotonic > 0 && m->start.monotonic < s.from_ns)
		s.from_ns = m->start.monotonic;
	if (filter && time_choice_window(filter_times_const(filter), &m->start, &from, &until) < 0)
		return false;
	s.from_ns = from > s.from_ns ? from : s.from_ns;
	s.until_ns = until < s.until_ns ? until : s.until_ns;
	if (s.from_ns >= s.until_ns)
		return false;
	s.from_ns += shift_ns;
	s.until_ns += shift_ns;
	s.tasks = is_of_tasks(m);
	s.cpus = s.tasks ? 1 : count_cpus(m, filter);
	*ret = s;
	return true;
}
