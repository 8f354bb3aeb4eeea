/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/record/read_counts.h"

#include <linux/perf_event.h>
#include <stdlib.h>

#include "format/bytes/array.h"

void
read_counts_done(struct read_counts *c)
{
	free(c->of);
	slots_done(&c->slots);
	*c = (struct read_counts){ 0 };
}

static bool
same_id(const void *owner, uint32_t index, const void *key)
{
	const struct read_counts *c = owner;

	return c->of[index].id == ((const struct read_count *)key)->id;
}

static int
read_counts_keep(struct read_counts *c, const struct read_count *count)
{
	struct read_count *known;
	uint32_t at;
	int r = slots_keep(&c->slots, (uint32_t)slots_mix(0, count->id), same_id, c, count, c->of,
			   c->nr, c->cap, &at);

	if (r < 0)
		return r;
	known = &c->of[at];
	known->before_only &= count->before_only;
	if (count->first_ns < known->first_ns) {
		known->first_ns = count->first_ns;
		known->before = count->before;
	}
	if (count->level || count->value > known->value)
		known->value = count->value;
	if (count->enabled_ns > known->enabled_ns)
		known->enabled_ns = count->enabled_ns;
	if (count->running_ns > known->running_ns)
		known->running_ns = count->running_ns;
	return 0;
}

int
read_counts_push(struct read_counts *c, const struct read_count *count)
{
	int r = array_reserve(c->of, c->nr, c->cap, 1);

	if (r == 0)
		c->of[c->nr++] = *count;
	return r;
}

bool
read_counts_are_in(const struct perf_record *record)
{
	return record->attr && !event_attr_has(record->attr, EVENT_ATTR_inherit_stat);
}

bool
read_counts_alone(const struct event_attr *attr)
{
	return attr->sample_period == 0 && !(attr->sample_type & PERF_SAMPLE_READ);
}

bool
read_count_at(const struct event_set *events, const struct perf_record *record, uint64_t i,
	      struct read_count *ret)
{
	const struct perf_read *read = &record->read.read;
	const struct perf_read_value v = perf_read_at(read, i);
	const uint64_t id = read->format & PERF_FORMAT_ID ? v.id : record->sid.id;
	const int event = event_set_find(events, id);

	*ret = (struct read_count){ .id = id,
				    .event = (uint32_t)event,
				    .task = record->read.tid,
				    .cpu = record->sid.cpu,
				    .value = v.value,
				    .level = event >= 0 &&
					    event_set_at(events, (size_t)event)->unit.snapshot,
				    .enabled_ns = read->time_enabled,
				    .running_ns = read->time_running };
	return event >= 0;
}

int
read_counts_add(struct read_counts *c, const struct event_set *events,
		const struct perf_record *record)
{
	const bool before = record->misc & READ_MISC_BEFORE;
	struct read_count count;
	bool begins;
	int r = 0;

	if (!read_counts_are_in(record))
		return 0;
	begins = before || (c->at_intervals && read_counts_alone(record->attr));
	for (uint64_t i = 0; r == 0 && i < record->read.read.nr; i++) {
		if (!read_count_at(events, record, i, &count))
			continue;
		count.first_ns = record->sid.time;
		count.before_only = before;
		if (begins) {
			count.before.value = count.level ? 0 : count.value;
			count.before.enabled_ns = count.enabled_ns;
			count.before.running_ns = count.running_ns;
		}
		r = read_counts_keep(c, &count);
	}
	return r;
}

static int
compare_counts(const void *a, const void *b)
{
	const struct read_count *x = a, *y = b;

	if (x->event != y->event)
		return x->event < y->event ? -1 : 1;
	return (x->task > y->task) - (x->task < y->task);
}

void
read_counts_settle(struct read_counts *c)
{
	slots_done(&c->slots);
	if (c->nr > 0)
		qsort(c->of, c->nr, sizeof(*c->of), compare_counts);
}

/* The first one of an event, or where it would be. */
static size_t
first_of(const struct read_counts *c, size_t event)
{
	size_t low = 0, high = c->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (c->of[middle].event < event)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * An event of a task is opened on each CPU, and is enabled on all of them as long as the task runs
 * on any: of its CPUs the longest tells how long it should have counted. CPUs add up.
 */
struct read_total
read_counts_total(const struct read_counts *c, size_t event)
{
	struct read_total total = { 0 };
	uint64_t longest = 0;

	for (size_t i = first_of(c, event); i < c->nr && c->of[i].event == event; i++) {
		const struct read_count *k = &c->of[i];
		bool last = i + 1 == c->nr || compare_counts(k, k + 1) != 0;

		total.known |= !k->before_only;
		total.level |= k->level;
		total.value += k->value - k->before.value;
		total.running_ns += k->running_ns - k->before.running_ns;
		if (k->enabled_ns - k->before.enabled_ns > longest)
			longest = k->enabled_ns - k->before.enabled_ns;
		if (k->task != UINT32_MAX && !last)
			continue;
		total.enabled_ns += longest;
		longest = 0;
	}
	return total;
}

uint64_t
read_total_scaled(const struct read_total *t)
{
	double scaled;

	if (t->level || !read_total_shared(t) || t->running_ns == 0)
		return t->value;
	scaled = (double)t->value * (double)t->enabled_ns / (double)t->running_ns;
	/* A recording may say anything. */
	return scaled < 0x1p64 ? (uint64_t)scaled : UINT64_MAX;
}

bool
read_total_shared(const struct read_total *t)
{
	return t->known && t->running_ns < t->enabled_ns &&
		t->enabled_ns - t->running_ns > t->enabled_ns / 100;
}

double
read_total_percent(const struct read_total *t)
{
	if (!t->known || t->enabled_ns == 0 || t->running_ns >= t->enabled_ns)
		return 100;
	return 100 * (double)t->running_ns / (double)t->enabled_ns;
}
