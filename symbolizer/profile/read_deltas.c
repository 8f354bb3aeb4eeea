/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/profile/read_deltas.h"

#include <stdlib.h>

#include <linux/perf_event.h>

#include "format/bytes/fmt_error.h"
#include "format/record/event_attr.h"

#define UNKNOWN UINT64_MAX /* of a count that was just entered */

void
read_deltas_done(struct read_deltas *d)
{
	free(d->last);
	slots_done(&d->slots);
	*d = (struct read_deltas){ 0 };
}

bool
read_deltas_has(const struct perf_record *sample)
{
	return sample->sample.have & PERF_SAMPLE_READ &&
		(sample->sample.read.format & PERF_FORMAT_ID ||
		 !(sample->sample.read.format & PERF_FORMAT_GROUP));
}

static bool
same_last(const void *owner, uint32_t index, const void *key)
{
	const struct read_last *a = &((const struct read_deltas *)owner)->last[index], *b = key;

	return a->id == b->id && a->tid == b->tid;
}

uint64_t
read_deltas_id(const struct perf_record *sample, uint64_t i)
{
	const struct perf_read *read = &sample->sample.read;

	return read->format & PERF_FORMAT_ID ? perf_read_at(read, i).id : sample->sid.id;
}

static void
read_deltas_forget(struct read_deltas *d)
{
	read_deltas_done(d);
	d->forgot = true;
}

int
read_deltas_at(struct read_deltas *d, const struct perf_record *sample, uint64_t i, bool begins,
	       uint64_t *ret)
{
	const struct perf_read_value v = perf_read_at(&sample->sample.read, i);
	const struct read_last key = {
		.id = read_deltas_id(sample, i),
		.value = UNKNOWN,
		.tid = event_attr_has(sample->attr, EVENT_ATTR_inherit) ? sample->sid.tid : 0,
	};
	uint64_t before;
	uint32_t at;
	int r;

	if (d->nr == READ_DELTAS_MAX)
		read_deltas_forget(d);
	r = slots_keep(&d->slots, (uint32_t)slots_mix(key.id, key.tid), same_last, d, &key, d->last,
		       d->nr, d->cap, &at);

	if (r < 0)
		return r;
	before = d->last[at].value;
	d->last[at].value = v.value;
	/* Less than before: another task has the number. */
	if (before != UNKNOWN || (begins && !d->forgot))
		*ret = before != UNKNOWN && before <= v.value ? v.value - before : v.value;
	else
		*ret = key.id == sample->sid.id ? sample->sample.period : 0;
	return 0;
}
