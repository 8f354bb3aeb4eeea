/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a perf.data consists of: the sections of its header, its records, and what each says of
 * the file itself.
 */
#include "format/perfdata/perfdata_internal.h"

#include <inttypes.h>
#include <string.h>

#include "format/perfdata/perfdata_about.h"
#include "format/perfdata/perfdata_event.h"

#define AUXTRACE_HEAD_BYTES 48

int
perfdata_fail(int error, uint64_t offset, struct fmt_where *where)
{
	return fmt_fail(where, error, offset, "reading perf.data");
}

int
perfdata_view(struct perfdata_reader *r, uint64_t offset, size_t n, struct span *ret,
	      struct fmt_where *where)
{
	int error = source_window_view(&r->window, offset, n, ret);

	return error ? perfdata_fail(error, offset, where) : 0;
}

void
perfdata_skip(struct perfdata_reader *r, uint64_t *counter, uint64_t offset, const char *what,
	      uint64_t n)
{
	if (r->health.skipped + r->health.unpacked_failed == 0)
		fmt_fail(&r->health.first, FMT_E_CORRUPT, offset, "%s, %" PRIu64, what, n);
	++*counter;
}

/* --- features ---------------------------------------------------------------------------- */

void
perfdata_features_begin(struct perfdata_reader *r)
{
	r->feature = 0;
	r->table = r->end;
}

/* The next section of the table: 1; 0 when there is none left that is in the file. */
static int
next_section(struct perfdata_reader *r, unsigned int *ret_feature, struct perfdata_section *ret,
	     struct fmt_where *where)
{
	struct span s;
	int error;

	while (r->feature < PERFDATA_FEATURES_MAX && !perfdata_header_has(&r->header, r->feature))
		r->feature++;
	if (r->feature == PERFDATA_FEATURES_MAX || r->health.unfinished)
		return 0;
	error = perfdata_view(r, r->table, PERFDATA_SECTION_BYTES, &s, where);
	if (error)
		return error;
	if (!span_u64(&s, &ret->offset) || !span_u64(&s, &ret->size)) {
		perfdata_skip(r, &r->health.skipped, r->table, "table of sections cut, at section",
			      r->feature);
		r->feature = PERFDATA_FEATURES_MAX;
		return 0;
	}
	*ret_feature = r->feature++;
	r->table += PERFDATA_SECTION_BYTES;
	return 1;
}

int
perfdata_next_feature(struct perfdata_reader *r, struct perfdata_item *ret, struct fmt_where *where)
{
	struct perfdata_section section = { 0 };
	unsigned int feature = 0;
	struct span s;
	int more;

	while ((more = next_section(r, &feature, &section, where)) > 0) {
		s = span_of(NULL, 0);
		if (section.size <= PERFDATA_ITEM_MAX)
			more = perfdata_view(r, section.offset, (size_t)section.size, &s, where);
		if (more < 0)
			return more;
		if (s.len != section.size) {
			perfdata_skip(r, &r->health.skipped, section.offset,
				      "section cut or too large, bytes", section.size);
			continue;
		}
		*ret = (struct perfdata_item){
			.kind = PERFDATA_ITEM_FEATURE,
			.id = feature,
			.offset = section.offset,
			.bytes = s,
		};
		return 1;
	}
	return more;
}

int
perfdata_apply_section(struct perfdata_reader *r, uint32_t feature, struct span payload,
		       uint64_t offset, struct fmt_where *where)
{
	int error = perfdata_about_apply(r->meta, feature, payload);

	if (error == -FMT_E_NOMEM)
		return perfdata_fail(error, offset, where);
	if (error)
		perfdata_skip(r, &r->health.skipped, offset, "section that does not parse, bit",
			      feature);
	return 0;
}

/* --- records of tools -------------------------------------------------------------------- */

uint64_t
perfdata_payload_behind(uint32_t type, struct span record)
{
	uint32_t size;
	uint64_t large;

	if (!span_skip(&record, PERF_RECORD_HEADER_BYTES))
		return 0;
	if (type == PERFDATA_TRACING_DATA && span_u32(&record, &size))
		return size;
	if (type == PERFDATA_AUXTRACE && record.len >= AUXTRACE_HEAD_BYTES - 8 &&
	    span_u64(&record, &large))
		return large;
	return 0;
}

bool
perfdata_get_feature(struct span record, uint64_t *ret_bit, struct span *ret_payload)
{
	span_skip(&record, PERF_RECORD_HEADER_BYTES);
	if (!span_u64(&record, ret_bit) || *ret_bit > UINT32_MAX)
		return false;
	*ret_payload = record;
	return true;
}

int
perfdata_apply_record(struct perfdata_reader *r, uint32_t type, struct span record, uint64_t offset,
		      struct fmt_where *where)
{
	struct event_set *events = r->meta->events;
	struct span payload;
	uint64_t bit;
	int error = 0;

	switch (type) {
	case PERFDATA_ATTR:
		error = perfdata_event_attr(events, record);
		r->meta_changed |= error == 0;
		break;
	case PERFDATA_EVENT_UPDATE:
		error = perfdata_event_update(events, record);
		r->meta_changed |= error > 0;
		break;
	case PERFDATA_FEATURE:
		if (perfdata_get_feature(record, &bit, &payload) && payload.len > 0)
			return perfdata_apply_section(r, (uint32_t)bit, payload, offset, where);
		break;
	case PERFDATA_BUILD_ID:
		return perfdata_apply_section(r, PERFDATA_FEATURE_BUILD_ID, record, offset, where);
	}
	if (error == -FMT_E_NOMEM)
		return perfdata_fail(error, offset, where);
	if (error < 0)
		perfdata_skip(r, &r->health.skipped, offset, "record that does not parse, type",
			      type);
	return 0;
}

/* --- records ----------------------------------------------------------------------------- */

int
perfdata_record_at(struct perfdata_reader *r, uint64_t offset, struct span *ret,
		   struct fmt_where *where)
{
	uint64_t left = r->end > offset ? r->end - offset : 0;
	size_t size;
	struct span s;
	int error;

	if (left == 0)
		return 0;
	error = perfdata_view(r, offset, PERF_RECORD_HEADER_BYTES, &s, where);
	if (error)
		return error;
	if (s.len == 0 && r->end == UINT64_MAX)
		return 0;
	if (s.len < PERF_RECORD_HEADER_BYTES)
		return fmt_fail(where, FMT_E_TRUNCATED, offset, "%zu bytes of a record", s.len);
	size = le16dec(s.p + 6);
	if (size < PERF_RECORD_HEADER_BYTES || size > left)
		return fmt_fail(where, FMT_E_CORRUPT, offset, "record of %zu bytes", size);
	error = perfdata_view(r, offset, size, &s, where);
	if (error)
		return error;
	if (s.len < size)
		return fmt_fail(where, FMT_E_TRUNCATED, offset, "%zu of %zu bytes of a record",
				s.len, size);
	*ret = s;
	return 1;
}
