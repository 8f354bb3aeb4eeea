/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/perfdata/perfdata_feature.h"

#include "format/perfdata/perfdata_header.h"

#define CLOCK_DATA_VERSION 1
#define ATTR_SIZE_AT 4 /* offset of perf_event_attr.size */

/* Published sizes of perf_event_attr: PERF_ATTR_SIZE_VER0 and on. */
static const uint32_t attr_sizes[] = { 64, 72, 80, 96, 104, 112, 120, 128, 136, 144 };

#define NR_ATTR_SIZES (sizeof(attr_sizes) / sizeof(attr_sizes[0]))

static uint32_t
attr_bytes_used(struct span attr, uint32_t keep)
{
	size_t used = attr.len;

	while (used > keep && attr.p[used - 1] == 0)
		used--;
	for (size_t i = 0; i < NR_ATTR_SIZES; i++)
		if (used <= attr_sizes[i])
			return attr_sizes[i];
	return (uint32_t)(used + 7) & ~7u;
}

uint32_t
perfdata_attr_bytes(const struct event_set *events, uint32_t keep)
{
	uint32_t most = attr_sizes[0];

	for (size_t i = 0; i < event_set_count(events); i++) {
		uint32_t used = attr_bytes_used(event_set_at(events, i)->attr_raw, keep);

		if (used > most)
			most = used;
	}
	return most;
}

void
perfdata_attr(struct buf *out, const struct event *event, uint32_t bytes)
{
	size_t have = event->attr_raw.len < bytes ? event->attr_raw.len : bytes;
	size_t at = out->len;

	buf_append(out, event->attr_raw.p, have);
	buf_zero(out, bytes - have);
	if (!buf_failed(out))
		le32enc(out->p + at + ATTR_SIZE_AT, bytes);
}

void
perfdata_feature_string(struct buf *out, const char *s)
{
	size_t len = strlen(s), room = perfdata_string_room(len);

	buf_u32(out, (uint32_t)room);
	buf_append(out, s, len);
	buf_zero(out, room - len);
}

void
perfdata_feature_nrcpus(struct buf *out, uint32_t available, uint32_t online)
{
	buf_u32(out, available);
	buf_u32(out, online);
}

void
perfdata_feature_cmdline(struct buf *out, const char *s)
{
	buf_u32(out, 1);
	perfdata_feature_string(out, s);
}

void
perfdata_feature_event_desc(struct buf *out, const struct event_set *events, uint32_t attr_bytes)
{
	size_t nr = event_set_count(events);

	buf_u32(out, (uint32_t)nr);
	buf_u32(out, attr_bytes);
	for (size_t i = 0; i < nr; i++) {
		const struct event *e = event_set_at(events, i);

		perfdata_attr(out, e, attr_bytes);
		buf_u32(out, (uint32_t)e->nr_ids);
		perfdata_feature_string(out, e->name);
		for (size_t k = 0; k < e->nr_ids; k++)
			buf_u64(out, e->ids[k]);
	}
}

static bool
is_member(const struct event_set *events, size_t i)
{
	return !event_attr_has(&event_set_at(events, i)->attr, EVENT_ATTR_disabled);
}

/* Those behind an event; of what is itself none's leader, 0. */
static uint32_t
members_of(const struct event_set *events, size_t leader)
{
	size_t i = leader + 1;

	while (!is_member(events, leader) && i < event_set_count(events) && is_member(events, i))
		i++;
	return (uint32_t)(i - leader - 1);
}

uint32_t
perfdata_feature_group_desc(struct buf *out, const struct event_set *events)
{
	const size_t nr = event_set_count(events);
	uint32_t groups = 0, members;

	for (size_t i = 0; i < nr; i += 1 + members_of(events, i))
		groups += members_of(events, i) > 0;
	if (!groups)
		return 0;
	buf_u32(out, groups);
	for (size_t i = 0; i < nr; i += 1 + members) {
		members = members_of(events, i);
		if (!members)
			continue;
		perfdata_feature_string(out, "{anon_group}"); /* as perf calls it */
		buf_u32(out, (uint32_t)i);
		buf_u32(out, members + 1);
	}
	return groups;
}

void
perfdata_feature_sample_time(struct buf *out, uint64_t first_ns, uint64_t last_ns)
{
	buf_u64(out, first_ns);
	buf_u64(out, last_ns);
}

void
perfdata_feature_clockid(struct buf *out, uint64_t resolution_ns)
{
	buf_u64(out, resolution_ns);
}

void
perfdata_feature_clock_data(struct buf *out, uint32_t clockid, uint64_t wall_ns, uint64_t clock_ns)
{
	buf_u32(out, CLOCK_DATA_VERSION);
	buf_u32(out, clockid);
	buf_u64(out, wall_ns);
	buf_u64(out, clock_ns);
}

void
perfdata_tracing_data_record(struct buf *out, struct span section)
{
	size_t padded = (section.len + 7) & ~(size_t)7;

	/* The size of the record is that of its head; what follows is counted apart. */
	buf_u32(out, PERFDATA_TRACING_DATA);
	buf_u16(out, 0);
	buf_u16(out, 16);
	buf_u32(out, (uint32_t)padded);
	buf_u32(out, 0);
	buf_append(out, section.p, section.len);
	buf_zero(out, padded - section.len);
}
