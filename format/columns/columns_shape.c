/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/columns/columns_shape.h"

#include <linux/perf_event.h>
#include <string.h>

#include "format/record/sample_layout.h"

#define AFTER_CGROUP (PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE)

/* Finds the words of each kind; false: more of one than there may be. */
static bool
index_kinds(struct columns_shape *s)
{
	int *single[COLUMNS_KINDS] = {
		[COLUMNS_TIME] = &s->time,
		[COLUMNS_TASK] = &s->task,
		[COLUMNS_TASK_EXTRA] = &s->extra,
		[COLUMNS_IP] = &s->ip,
	};
	unsigned int words = (unsigned int)s->before + s->behind;

	s->time = s->task = s->extra = s->ip = -1;
	s->nr_sources = s->nr_values = 0;
	for (unsigned int i = 0; i < words; i++) {
		uint8_t kind = s->kind[i];

		if (kind == COLUMNS_VALUE) {
			s->value[s->nr_values++] = (uint16_t)i;
		} else if (kind == COLUMNS_SOURCE) {
			if (s->nr_sources == COLUMNS_SOURCE_WORDS)
				return false;
			s->source[s->nr_sources++] = (uint16_t)i;
		} else {
			if (kind >= COLUMNS_KINDS || *single[kind] >= 0)
				return false;
			*single[kind] = (int)i;
		}
	}
	return s->extra < 0 || s->task >= 0;
}

static unsigned int
columns_shape_has(const struct event_attr *attr, uint64_t bit)
{
	return (attr->read_format & bit) != 0;
}

int
columns_shape_group(const struct event_attr *attr)
{
	struct sample_layout layout;

	sample_layout_of(attr, &layout);
	return layout.read && columns_shape_has(attr, PERF_FORMAT_GROUP) ? layout.fixed_words : -1;
}

size_t
columns_shape_group_words(const struct event_attr *attr, uint64_t nr)
{
	if (nr > COLUMNS_WORDS_MAX)
		return SIZE_MAX;
	return 1 + columns_shape_has(attr, PERF_FORMAT_TOTAL_TIME_ENABLED) +
		columns_shape_has(attr, PERF_FORMAT_TOTAL_TIME_RUNNING) +
		(size_t)nr *
		(1 + columns_shape_has(attr, PERF_FORMAT_ID) +
		 columns_shape_has(attr, PERF_FORMAT_LOST));
}

/* Words of READ; 0: it is not known where it ends. */
static size_t
read_words(const struct event_attr *attr, size_t group_words)
{
	if (attr->read_format >= PERF_FORMAT_LOST << 1)
		return 0;
	if (columns_shape_has(attr, PERF_FORMAT_GROUP))
		return group_words;
	return 1 + columns_shape_has(attr, PERF_FORMAT_TOTAL_TIME_ENABLED) +
		columns_shape_has(attr, PERF_FORMAT_TOTAL_TIME_RUNNING) +
		columns_shape_has(attr, PERF_FORMAT_ID) + columns_shape_has(attr, PERF_FORMAT_LOST);
}

static void
columns_shape_place(struct columns_shape *s, int at, enum columns_kind kind)
{
	if (at >= 0)
		s->kind[at] = (uint8_t)kind;
}

bool
columns_shape_of(const struct event_attr *attr, size_t group_words, struct columns_shape *ret)
{
	struct sample_layout layout;
	struct columns_shape *s = ret;
	size_t words = 0;

	sample_layout_of(attr, &layout);
	memset(s, 0, sizeof(*s));
	memset(s->kind, COLUMNS_VALUE, sizeof(s->kind));
	columns_shape_place(s, layout.identifier, COLUMNS_SOURCE);
	columns_shape_place(s, layout.id, COLUMNS_SOURCE);
	columns_shape_place(s, layout.stream_id, COLUMNS_SOURCE);
	columns_shape_place(s, layout.cpu, COLUMNS_SOURCE);
	columns_shape_place(s, layout.time, COLUMNS_TIME);
	columns_shape_place(s, layout.tid, COLUMNS_TASK);
	columns_shape_place(s, layout.ip, COLUMNS_IP);
	if (layout.read)
		words = read_words(attr, group_words);
	if (words > COLUMNS_WORDS_MAX - (size_t)layout.fixed_words)
		return false;
	s->before = (uint8_t)(layout.fixed_words + words);
	if (layout.read && words == 0) {
		s->flags = COLUMNS_F_TAIL;
		return index_kinds(s);
	}
	if (layout.callchain)
		s->flags |= COLUMNS_F_CHAIN;
	if (layout.rest_words < 0) {
		s->flags |= COLUMNS_F_TAIL;
		return index_kinds(s);
	}
	s->behind = (uint8_t)layout.rest_words;
	if ((layout.rest & PERF_SAMPLE_CGROUP) && layout.tid >= 0)
		columns_shape_place(s,
				    s->before + s->behind - 1 -
					    __builtin_popcountll(layout.rest & AFTER_CGROUP),
				    COLUMNS_TASK_EXTRA);
	return index_kinds(s);
}

void
columns_shape_put(const struct columns_shape *shape, struct buf *out)
{
	buf_u8(out, shape->before);
	buf_u8(out, shape->behind);
	buf_u8(out, shape->flags);
	buf_u8(out, 0);
	buf_append(out, shape->kind, (size_t)shape->before + shape->behind);
}

bool
columns_shape_take(struct span *s, struct columns_shape *ret)
{
	struct span rest = *s, kinds;
	uint8_t reserved;

	memset(ret, 0, sizeof(*ret));
	if (!span_u8(&rest, &ret->before) || !span_u8(&rest, &ret->behind) ||
	    !span_u8(&rest, &ret->flags) || !span_u8(&rest, &reserved) ||
	    !span_take(&rest, (size_t)ret->before + ret->behind, &kinds) ||
	    (ret->flags & ~COLUMNS_F_KNOWN))
		return false;
	if (kinds.len > 0)
		memcpy(ret->kind, kinds.p, kinds.len);
	*s = rest;
	return index_kinds(ret);
}
