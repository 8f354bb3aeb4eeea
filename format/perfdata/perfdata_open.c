/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <string.h>

#include "format/perfdata/perfdata_event.h"
#include "format/perfdata/perfdata_internal.h"

#define AHEAD_BYTES (8u << 20) /* how far the file is asked about itself; less than a pipe keeps */

/* --- the attrs section of a file --------------------------------------------------------- */

/* Ids of all events, together, cannot be more than the file has room for. */
static int
read_ids(struct perfdata_reader *r, struct perfdata_section ids, uint64_t *budget, struct buf *out,
	 struct fmt_where *where)
{
	struct span s;
	int error;

	buf_clear(out);
	if (ids.size > *budget || ids.size > PERFDATA_ITEM_MAX)
		return 0;
	*budget -= ids.size;
	error = perfdata_view(r, ids.offset, (size_t)ids.size & ~(size_t)7, &s, where);
	if (error)
		return error;
	buf_append(out, s.p, s.len & ~(size_t)7);
	return buf_failed(out) ? perfdata_fail(-FMT_E_NOMEM, ids.offset, where) : 0;
}

/* One entry at *at, which is moved past it. 1; 0: no attr is there. */
static int
read_attr(struct perfdata_reader *r, uint64_t *at, uint64_t *budget, struct buf *ids,
	  struct fmt_where *where)
{
	uint8_t attr[EVENT_ATTR_SIZE_MAX];
	struct perfdata_section section;
	struct event_attr decoded;
	struct span s, rest;
	int error = perfdata_view(r, *at, sizeof(attr) + PERFDATA_SECTION_BYTES, &s, where);

	if (error)
		return error;
	rest = s;
	if (event_attr_parse(&rest, &decoded) != 0)
		return 0;
	memcpy(attr, s.p, decoded.size);
	if (!span_u64(&rest, &section.offset) || !span_u64(&rest, &section.size))
		return 0;
	error = read_ids(r, section, budget, ids, where);
	if (!error)
		error = perfdata_event_add(r->meta->events, span_of(attr, decoded.size),
					   buf_span(ids));
	*at += decoded.size + PERFDATA_SECTION_BYTES;
	return error ? error : 1;
}

static int
read_attrs(struct perfdata_reader *r, struct fmt_where *where)
{
	const struct perfdata_section *attrs = &r->header.attrs;
	uint64_t at = attrs->offset, end = attrs->offset + attrs->size, budget;
	int64_t size = r->source->size(r->source);
	struct buf ids;
	int more = 1;

	budget = size > 0 ? (uint64_t)size : 0;
	buf_init(&ids);
	while (more > 0 && end > at && end - at >= EVENT_ATTR_SIZE_MIN + PERFDATA_SECTION_BYTES)
		more = read_attr(r, &at, &budget, &ids, where);
	buf_done(&ids);
	if (more < 0)
		return more;
	if (more == 0)
		perfdata_skip(r, &r->health.skipped, at, "no event attr, bytes", end - at);
	if (event_set_count(r->meta->events) == 0)
		return fmt_fail(where, FMT_E_CORRUPT, attrs->offset, "no event attr can be read");
	return 0;
}

/* --- what the file tells of itself ------------------------------------------------------- */

/*
 * PERF_DIR_SINGLE_FILE, which perf record --kcore writes, has all records in the file that says so;
 * PERF_DIR_VERSION, of --threads, has others beside it. Source: Linux, tools/perf/util/header.h.
 */
static int
check_directory(struct perfdata_reader *r, struct span version, struct fmt_where *where)
{
	uint64_t v = 0;
	const bool single = span_u64(&version, &v) && v == 0;

	if (!single && !r->directory)
		return fmt_fail(
			where, FMT_E_UNSUPPORTED, 0,
			"one file of a directory that perf record --threads wrote: name the "
			"directory");
	r->directory = !single;
	return 0;
}

static int
read_features(struct perfdata_reader *r, struct fmt_where *where)
{
	struct perfdata_health before = r->health;
	struct perfdata_item item;
	int more;

	perfdata_features_begin(r);
	/* What is missing or cut is counted when it is asked for, not now. */
	while ((more = perfdata_next_feature(r, &item, where)) > 0) {
		r->health = before;
		more = perfdata_apply_section(r, item.id, item.bytes, item.offset, where);
		if (more >= 0 && item.id == PERFDATA_FEATURE_DIR_FORMAT)
			more = check_directory(r, item.bytes, where);
		if (more < 0)
			return more;
		before = r->health;
	}
	r->health = before;
	perfdata_features_begin(r);
	return more;
}

/* Nothing that matters to the meta comes after the first of these. */
static bool
begins_recording(uint32_t type)
{
	return type == REC_SAMPLE || type == PERFDATA_FINISHED_ROUND ||
		type == PERFDATA_COMPRESSED || type == PERFDATA_COMPRESSED2;
}

/* The formats of tracepoints, in a pipe: they stand behind their record, which is gone after this. */
static int
read_formats(struct perfdata_reader *r, uint64_t at, uint64_t size, struct fmt_where *where)
{
	struct span s;
	int error;

	if (size > AHEAD_BYTES)
		return 0;
	error = perfdata_view(r, at, (size_t)size, &s, where);
	return error || s.len < size
		? error
		: perfdata_apply_section(r, PERFDATA_FEATURE_TRACING_DATA, s, at, where);
}

static int
read_ahead(struct perfdata_reader *r, struct fmt_where *where)
{
	uint64_t offset = r->start;
	struct fmt_where ignored;
	struct span record;
	int error = 0;

	while (!error && offset - r->start < AHEAD_BYTES &&
	       perfdata_record_at(r, offset, &record, &ignored) > 0) {
		uint32_t type = le32dec(record.p);
		uint64_t behind = perfdata_payload_behind(type, record), size = record.len;

		if (begins_recording(type) || behind > INT64_MAX - offset - size)
			break;
		error = perfdata_apply_record(r, type, record, offset, where);
		if (!error && type == PERFDATA_TRACING_DATA)
			error = read_formats(r, offset + size, behind, where);
		offset += size + behind;
	}
	r->known = offset;
	r->meta_changed = false;
	return error;
}

static void
take_frequency(struct recording_meta *m)
{
	for (size_t i = 0; i < event_set_count(m->events); i++) {
		const struct event_attr *a = &event_set_at(m->events, i)->attr;

		if (event_attr_has(a, EVENT_ATTR_use_clockid))
			m->clockid = (uint32_t)a->clockid;
		if (event_attr_has(a, EVENT_ATTR_freq) && m->frequency_hz == 0)
			m->frequency_hz = m->frequency_hz_effective = a->sample_period;
	}
}

/* --- opening ----------------------------------------------------------------------------- */

static int
read_header(struct perfdata_reader *r, struct fmt_where *where)
{
	struct span s;
	int error = perfdata_view(r, 0, PERFDATA_HEADER_BYTES, &s, where);

	if (!error)
		error = perfdata_header_decode(s, &r->header, where);
	if (error)
		return error;
	r->start = r->header.pipe ? r->header.size : r->header.data.offset;
	r->end = UINT64_MAX;
	if (r->header.pipe)
		return 0;
	r->health.unfinished = r->header.data.size == 0;
	if (!r->health.unfinished && r->header.data.size <= INT64_MAX - r->start)
		r->end = r->start + r->header.data.size;
	if (r->start > INT64_MAX || r->start < PERFDATA_PIPE_HEADER_BYTES)
		return fmt_fail(where, FMT_E_CORRUPT, 40, "data at %" PRIu64, r->start);
	return read_attrs(r, where);
}

int
perfdata_open(struct perfdata_reader *r, struct fmt_where *where)
{
	int error;

	r->meta = recording_meta_new();
	if (!r->meta)
		return perfdata_fail(-FMT_E_NOMEM, 0, where);
	r->meta->clockid = PERFDATA_CLOCK_OWN;
	error = read_header(r, where);
	if (!error && !r->header.pipe)
		error = read_features(r, where);
	if (!error)
		error = read_ahead(r, where);
	if (!error && perfdata_event_default_names(r->meta->events) < 0)
		error = perfdata_fail(-FMT_E_NOMEM, 0, where);
	if (error)
		return error;
	take_frequency(r->meta);
	r->offset = r->start;
	return 0;
}
