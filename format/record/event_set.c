/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/record/event_set.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes/array.h"
#include "format/bytes/fmt_error.h"
#include "format/bytes/slots.h"

struct event_id {
	uint64_t id;
	uint32_t event;
};

struct event_set {
	struct event *events;
	size_t nr, cap;
	size_t format_bytes;

	struct event_id *ids; /* of all events */
	size_t nr_ids, cap_ids;
	struct slots slots; /* indexes of ids */

	/* Word of the payload that holds the id: from its front, from its end. */
	int in_sample, in_others;
	bool same_sample_shape, same_trailer, same_read_format;
	size_t trailer; /* bytes; SIZE_MAX: not of all events the same */

	/* Of events whose samples may have another one's id: how many, and the last. */
	size_t nr_shared;
	int shared;
};

/* ---- ids ---- */

static bool
event_id_same(const void *owner, uint32_t index, const void *key)
{
	const struct event_set *set = owner;

	return set->ids[index].id == *(const uint64_t *)key;
}

static uint32_t
event_id_hash(uint64_t id)
{
	return (uint32_t)slots_mix(0, id);
}

int
event_set_find(const struct event_set *set, uint64_t id)
{
	uint32_t at = slots_find(&set->slots, event_id_hash(id), event_id_same, set, &id);

	return at == SLOTS_NONE ? -1 : (int)set->ids[at].event;
}

int
event_set_of_sample(const struct event_set *set, uint64_t id)
{
	const int event = event_set_find(set, id);

	return event < 0 && id != 0 && set->nr_shared == 1 ? set->shared : event;
}

/* Doubles the array whenever its length is a power of two, so that no capacity is kept. */
static int
ids_append(struct event *e, uint64_t id)
{
	uint64_t *ids;

	if ((e->nr_ids & (e->nr_ids - 1)) == 0) {
		ids = reallocarray((void *)(uintptr_t)e->ids, e->nr_ids ? e->nr_ids : 1,
				   2 * sizeof(*ids));
		if (!ids)
			return -FMT_E_NOMEM;
		e->ids = ids;
	}
	ids = (uint64_t *)(uintptr_t)e->ids;
	ids[e->nr_ids++] = id;
	return 0;
}

int
event_set_add_id(struct event_set *set, size_t index, uint64_t id)
{
	int r;

	if (event_set_find(set, id) >= 0)
		return -FMT_E_CORRUPT;
	r = array_reserve(set->ids, set->nr_ids, set->cap_ids, 1);
	if (!r)
		r = ids_append(&set->events[index], id);
	if (r)
		return r;
	r = slots_add(&set->slots, event_id_hash(id), set->nr_ids);
	if (r)
		set->events[index].nr_ids--;
	else
		set->ids[set->nr_ids++] = (struct event_id){ id, (uint32_t)index };
	return r;
}

/* ---- where records hold their id ---- */

static int
count_bits(uint64_t bits)
{
	return __builtin_popcountll(bits);
}

static int
position_in_sample(const struct event_attr *a)
{
	if (a->sample_type & PERF_SAMPLE_IDENTIFIER)
		return 0;
	if (a->sample_type & PERF_SAMPLE_ID)
		return count_bits(
			a->sample_type &
			(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR));
	return EVENT_SET_NO_ID;
}

static int
position_in_others(const struct event_attr *a)
{
	if (!event_attr_has(a, EVENT_ATTR_sample_id_all))
		return EVENT_SET_NO_ID;
	if (a->sample_type & PERF_SAMPLE_IDENTIFIER)
		return 1;
	if (a->sample_type & PERF_SAMPLE_ID)
		return 1 + count_bits(a->sample_type & (PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU));
	return EVENT_SET_NO_ID;
}

/* Would a sample of the one be parsed the same by the other? */
static bool
same_sample_shape(const struct event_attr *a, const struct event_attr *b)
{
	return a->sample_type == b->sample_type && a->read_format == b->read_format &&
		a->branch_sample_type == b->branch_sample_type &&
		a->sample_regs_user == b->sample_regs_user &&
		a->sample_regs_intr == b->sample_regs_intr;
}

static bool
same_trailer(const struct event_attr *a, const struct event_attr *b)
{
	const bool all = event_attr_has(a, EVENT_ATTR_sample_id_all);

	return all == event_attr_has(b, EVENT_ATTR_sample_id_all) &&
		(!all || a->sample_type == b->sample_type);
}

static void
positions_update(struct event_set *set, const struct event_attr *a)
{
	const struct event_attr *first = &set->events[0].attr;

	if (set->nr == 1) {
		set->in_sample = position_in_sample(a);
		set->in_others = position_in_others(a);
		set->trailer = perf_sample_id_bytes(a);
		set->same_sample_shape = true;
		set->same_trailer = true;
		set->same_read_format = true;
		return;
	}
	if (set->in_sample != position_in_sample(a))
		set->in_sample = EVENT_SET_ID_DIFFERS;
	if (set->in_others != position_in_others(a))
		set->in_others = EVENT_SET_ID_DIFFERS;
	if (set->trailer != perf_sample_id_bytes(a))
		set->trailer = SIZE_MAX;
	if (!same_sample_shape(first, a))
		set->same_sample_shape = false;
	if (!same_trailer(first, a))
		set->same_trailer = false;
	if (first->read_format != a->read_format)
		set->same_read_format = false;
}

/* ---- the set ---- */

struct event_set *
event_set_new(void)
{
	return calloc(1, sizeof(struct event_set));
}

static void
event_done(struct event *e)
{
	free((void *)(uintptr_t)e->attr_raw.p);
	free((void *)(uintptr_t)e->name);
	free((void *)(uintptr_t)e->format);
	free((void *)(uintptr_t)e->ids);
}

void
event_set_free(struct event_set *set)
{
	size_t i;

	if (!set)
		return;
	for (i = 0; i < set->nr; i++)
		event_done(&set->events[i]);
	free(set->events);
	free(set->ids);
	slots_done(&set->slots);
	free(set);
}

static int
event_init(struct event *e, struct span attr_raw, const char *name)
{
	struct span s = attr_raw;
	uint8_t *copy;
	int r;

	memset(e, 0, sizeof(*e));
	r = event_attr_parse(&s, &e->attr);
	if (r < 0)
		return r;
	copy = malloc(attr_raw.len);
	e->name = strdup(name ? name : "");
	if (!copy || !e->name) {
		free(copy);
		free((void *)(uintptr_t)e->name);
		return -FMT_E_NOMEM;
	}
	memcpy(copy, attr_raw.p, attr_raw.len);
	e->attr_raw = span_of(copy, attr_raw.len - s.len);
	sample_layout_of(&e->attr, &e->layout);
	return 0;
}

int
event_set_add(struct event_set *set, struct span attr_raw, const char *name, size_t *ret_index)
{
	int r;

	if (set->nr == INT32_MAX)
		return -FMT_E_TOO_BIG;
	if (array_reserve(set->events, set->nr, set->cap, 1) < 0)
		return -FMT_E_NOMEM;
	r = event_init(&set->events[set->nr], attr_raw, name);
	if (r < 0)
		return r;
	set->nr++;
	positions_update(set, &set->events[set->nr - 1].attr);
	if (event_attr_is_shared(set->events[set->nr - 1].attr.type,
				 set->events[set->nr - 1].attr.config)) {
		set->nr_shared++;
		set->shared = (int)set->nr - 1;
	}
	if (ret_index)
		*ret_index = set->nr - 1;
	return 0;
}

int
event_set_rename(struct event_set *set, size_t index, const char *name)
{
	char *copy = strdup(name);

	if (!copy)
		return -FMT_E_NOMEM;
	free((void *)(uintptr_t)set->events[index].name);
	set->events[index].name = copy;
	return 0;
}

int
event_set_format(struct event_set *set, size_t index, const char *format)
{
	struct event *e = &set->events[index];
	size_t len = format ? strlen(format) : 0;

	if (len == 0 || e->format || len > EVENT_FORMAT_BYTES_MAX ||
	    len > EVENT_FORMATS_BYTES_MAX - set->format_bytes)
		return 0;
	e->format = strdup(format);
	if (!e->format)
		return -FMT_E_NOMEM;
	set->format_bytes += len;
	return 0;
}

void
event_set_unit(struct event_set *set, size_t index, const struct count_unit *unit)
{
	if (count_unit_valid(unit))
		set->events[index].unit = *unit;
}

int
event_set_copy(struct event_set *set, const struct event *event, size_t *ret_index)
{
	size_t index;
	int r = event_set_add(set, event->attr_raw, event->name, &index);

	if (r == 0)
		r = event_set_format(set, index, event->format);
	if (r < 0)
		return r;
	event_set_unit(set, index, &event->unit);
	if (ret_index)
		*ret_index = index;
	return 0;
}

size_t
event_set_count(const struct event_set *set)
{
	return set->nr;
}

const struct event *
event_set_at(const struct event_set *set, size_t index)
{
	return &set->events[index];
}

int
event_set_id_word(const struct event_set *set)
{
	return set->in_sample;
}

/* ---- records ---- */

/* A record that holds no id, or whose id could be anywhere: is it the same to all events? */
static bool
same_to_all(const struct event_set *set, uint32_t type)
{
	if (type == REC_SAMPLE)
		return set->same_sample_shape;
	return set->same_trailer && (type != REC_READ || set->same_read_format);
}

static int
choose_by_id(const struct event_set *set, bool sample, uint64_t id, size_t *ret_shape,
	     int *ret_index)
{
	int index = sample ? event_set_of_sample(set, id) : event_set_find(set, id);

	if (index < 0 && id != 0 && !(set->nr == 1 && set->nr_ids == 0))
		return -FMT_E_UNKNOWN_ID;
	*ret_shape = index < 0 ? 0 : (size_t)index;
	*ret_index = (int)*ret_shape;
	return 0;
}

static int
choose(const struct event_set *set, struct span record, uint32_t type, size_t *ret_shape,
       int *ret_index)
{
	const bool sample = type == REC_SAMPLE;
	const int position = sample ? set->in_sample : set->in_others;
	const size_t words = span_words(record);
	size_t at;

	if (set->nr == 0)
		return -FMT_E_UNKNOWN_ID;
	*ret_index = set->nr == 1 ? 0 : -1;
	*ret_shape = 0;
	if (position < 0)
		return same_to_all(set, type) ? 0 : -FMT_E_UNKNOWN_ID;
	/* Word 0 is the header. */
	at = sample ? 1 + (size_t)position : words - (size_t)position;
	if (at >= words || at < 1)
		return -FMT_E_TRUNCATED;
	return choose_by_id(set, sample, span_word(record, at), ret_shape, ret_index);
}

/*
 * How much of a record other than a sample is one, see perf_record_filled(). An id of ours in that
 * place tells: where there is none, a newer kernel has appended a field.
 */
static size_t
bytes_filled(const struct event_set *set, struct span record)
{
	size_t filled, word;

	if (set->trailer == SIZE_MAX || set->in_others < 0)
		return record.len;
	filled = perf_record_filled(record, set->trailer);
	word = filled / 8 - (size_t)set->in_others;
	if (filled == record.len || event_set_find(set, span_word(record, word)) < 0)
		return record.len;
	return filled;
}

int
event_set_parse(const struct event_set *set, struct span record, struct perf_record *ret,
		int *ret_event)
{
	const struct event_attr *attr = NULL;
	size_t shape, filled = record.len;
	uint32_t type;
	int index = -1, r;

	if (record.len < PERF_RECORD_HEADER_BYTES)
		return -FMT_E_TRUNCATED;
	type = le32dec(record.p);
	if (type < REC_USER_FIRST) {
		if (type != REC_SAMPLE)
			filled = bytes_filled(set, record);
		r = choose(set, span_of(record.p, filled), type, &shape, &index);
		if (r < 0)
			return r;
		attr = &set->events[shape].attr;
	}
	r = perf_record_parse_filled(record, filled, attr, ret);
	if (r < 0)
		return r;
	if (ret_event)
		*ret_event = index;
	return 0;
}

/* ---- samples at a glance ---- */

bool
event_set_glance(const struct event_set *set, struct span record, struct sample_glance *ret)
{
	const struct sample_layout *l;
	uint64_t nr = 0;
	struct span words;
	size_t fixed;
	int event;

	if (record.len < PERF_RECORD_HEADER_BYTES + 8 || record.len % 8 || set->in_sample != 0 ||
	    le32dec(record.p) != REC_SAMPLE || le16dec(record.p + 6) != record.len)
		return false;
	words = span_of(record.p + PERF_RECORD_HEADER_BYTES, record.len - PERF_RECORD_HEADER_BYTES);
	event = event_set_of_sample(set, span_word(words, 0));
	if (event < 0)
		return false;
	l = &set->events[event].layout;
	if (l->read || l->rest_words < 0)
		return false;
	fixed = (size_t)l->fixed_words + l->callchain + (size_t)l->rest_words;
	if (fixed > span_words(words))
		return false;
	if (l->callchain) {
		nr = span_word(words, l->fixed_words);
		if (nr > span_words(words) - fixed)
			return false;
	}
	ret->event = event;
	ret->misc = le16dec(record.p + 4);
	ret->ip = l->ip >= 0 ? span_word(words, (size_t)l->ip) : 0;
	ret->time = l->time >= 0 ? span_word(words, (size_t)l->time) : 0;
	ret->pid = l->tid >= 0 ? (uint32_t)span_word(words, (size_t)l->tid) : 0;
	ret->callchain = span_of(words.p + ((size_t)l->fixed_words + l->callchain) * 8, nr * 8);
	return true;
}

void
sample_glance_of(const struct perf_record *r, int event, struct sample_glance *ret)
{
	*ret = (struct sample_glance){ .event = event,
				       .misc = r->misc,
				       .ip = r->sample.ip,
				       .time = r->sid.time,
				       .pid = r->sid.have & PERF_SAMPLE_TID ? r->sid.pid : 0,
				       .callchain = r->sample.callchain };
}
