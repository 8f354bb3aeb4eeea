/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/perfdata/perfdata_reader.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format/perfdata/perfdata_event.h"
#include "format/perfdata/perfdata_internal.h"

#define READER_MAGIC 0x70644461u

/* NULL: out of memory; the source is closed. */
static struct perfdata_reader *
reader_new(struct io_source *source)
{
	struct perfdata_reader *r = calloc(1, sizeof(*r));

	if (!r) {
		source->close(source);
		return NULL;
	}
	r->magic = READER_MAGIC;
	r->source = source;
	source_window_init(&r->window, source);
	return r;
}

static int
reader_open(struct io_source *source, bool directory, struct perfdata_reader **ret,
	    struct fmt_where *where)
{
	struct perfdata_reader *r = reader_new(source);
	int error;

	if (!r)
		return fmt_fail(where, FMT_E_NOMEM, 0, "perf.data");
	r->directory = directory;
	error = perfdata_open(r, where);
	if (error) {
		perfdata_reader_close(r);
		return error;
	}
	*ret = r;
	return 0;
}

int
perfdata_reader_open(struct io_source *source, struct perfdata_reader **ret,
		     struct fmt_where *where)
{
	return reader_open(source, false, ret, where);
}

int
perfdata_reader_open_first(struct io_source *source, struct perfdata_reader **ret,
			   struct fmt_where *where)
{
	return reader_open(source, true, ret, where);
}

int
perfdata_reader_open_other(struct perfdata_reader *first, struct io_source *source,
			   struct perfdata_reader **ret, struct fmt_where *where)
{
	struct perfdata_reader *r = reader_new(source);

	if (!r)
		return fmt_fail(where, FMT_E_NOMEM, 0, "perf.data");
	r->first = first;
	r->meta = first->meta;
	r->directory = true;
	r->phase = PERFDATA_PHASE_DATA;
	r->end = UINT64_MAX;
	*ret = r;
	return 0;
}

void
perfdata_reader_close(struct perfdata_reader *r)
{
	if (!r)
		return;
	assert(r->magic == READER_MAGIC);
	if (!r->first)
		recording_meta_free(r->meta);
	perfdata_inflate_free(r->inflate);
	source_window_done(&r->window);
	r->source->close(r->source);
	r->magic = 0;
	free(r);
}

struct recording_meta *
perfdata_reader_meta(struct perfdata_reader *r)
{
	return r->meta;
}

uint64_t
perfdata_reader_time(const struct perfdata_reader *r)
{
	return r->max_time;
}

const struct perfdata_health *
perfdata_reader_health(const struct perfdata_reader *r)
{
	return &r->health;
}

/* --- the walk ---------------------------------------------------------------------------- */

static void
give_kernel(struct perfdata_reader *r, struct span record, struct perfdata_item *ret)
{
	uint64_t time;

	ret->kind = PERFDATA_ITEM_RECORD;
	ret->bytes = record;
	ret->event = -1;
	ret->parsed = event_set_parse(r->meta->events, record, &ret->record, &ret->event) == 0;
	/* These two are what perf does not sort by. */
	time = ret->parsed ? ret->record.sid.time : 0;
	if (time != UINT64_MAX && time > r->max_time)
		r->max_time = time;
}

static void
give_round(struct perfdata_reader *r, struct span record, struct perfdata_item *ret)
{
	ret->kind = PERFDATA_ITEM_ROUND;
	ret->bytes = record;
	/* A round says nothing about the files of other threads. */
	ret->complete_ns = r->directory ? 0 : r->round_max;
	r->round_max = r->max_time;
}

/* More than anyone wants to hold follows a record. 0, or it is not even there. */
static int
pass_over(struct perfdata_reader *r, uint64_t offset, uint64_t behind, struct fmt_where *where)
{
	struct span last;
	int error = perfdata_view(r, r->offset + behind - 1, 1, &last, where);

	if (error)
		return error;
	if (last.len == 0 || behind > r->end - r->offset)
		return fmt_fail(where, FMT_E_TRUNCATED, offset, "%" PRIu64 " bytes behind a record",
				behind);
	perfdata_skip(r, &r->health.skipped, offset, "too much behind a record, bytes", behind);
	r->offset += behind;
	return 0;
}

/* A record of a tool with what follows it. 1; 0: passed over. */
static int
give_tool(struct perfdata_reader *r, struct span record, struct perfdata_item *ret,
	  struct fmt_where *where)
{
	uint64_t behind = perfdata_payload_behind(ret->id, record), whole = record.len + behind,
		 bit;
	struct span all = record;
	int error;

	if (ret->offset >= r->known) {
		error = perfdata_apply_record(r, ret->id, record, ret->offset, where);
		if (!error && r->meta_changed && perfdata_event_default_names(r->meta->events) < 0)
			error = perfdata_fail(-FMT_E_NOMEM, ret->offset, where);
		if (error)
			return error;
	}
	if (behind > INT64_MAX - r->offset) {
		return fmt_fail(where, FMT_E_TRUNCATED, ret->offset, "data behind a record");
	} else if (whole > PERFDATA_ITEM_MAX) {
		return pass_over(r, ret->offset, behind, where);
	} else if (behind > 0) {
		error = perfdata_view(r, ret->offset, (size_t)whole, &all, where);
		if (error)
			return error;
		if (all.len < whole || whole > r->end - ret->offset)
			return fmt_fail(where, FMT_E_TRUNCATED, ret->offset,
					"%zu of %" PRIu64 " bytes of a record", all.len, whole);
		r->offset += behind;
	}
	ret->kind = PERFDATA_ITEM_TOOL;
	ret->bytes = all;
	if (ret->id == PERFDATA_FEATURE && perfdata_get_feature(record, &bit, &all)) {
		ret->kind = PERFDATA_ITEM_FEATURE;
		ret->id = (uint32_t)bit;
		ret->bytes = all;
	}
	ret->meta_changed = r->meta_changed;
	r->meta_changed = false;
	return 1;
}

/* The packed bytes of a container. */
static bool
get_packed(uint32_t type, struct span record, struct span *ret)
{
	uint64_t size;

	if (!span_skip(&record, PERF_RECORD_HEADER_BYTES))
		return false;
	if (type == PERFDATA_COMPRESSED2) {
		if (!span_u64(&record, &size) || size > record.len)
			return false;
		return span_take(&record, (size_t)size, ret);
	}
	*ret = record;
	return true;
}

static int
open_container(struct perfdata_reader *r, uint32_t type, struct span record, uint64_t offset,
	       struct fmt_where *where)
{
	struct span packed;

	r->health.packed++;
	if (!r->inflate)
		r->inflate = perfdata_inflate_new();
	if (!r->inflate)
		return perfdata_fail(-FMT_E_NOMEM, offset, where);
	if (!get_packed(type, record, &packed) || perfdata_inflate_put(r->inflate, packed) != 0)
		perfdata_skip(r, &r->health.unpacked_failed, offset,
			      "packed record without the beginning of its stream, bytes",
			      record.len);
	else
		r->unpacking = true;
	r->container = offset;
	return 0;
}

/* The next record of the open container: 1; 0: it is used up. */
static int
next_packed(struct perfdata_reader *r, struct perfdata_item *ret)
{
	struct span record;
	uint32_t type;
	int more;

	ret->offset = r->container;
	while ((more = perfdata_inflate_next(r->inflate, &record)) > 0) {
		type = le32dec(record.p);
		ret->id = type;
		if (type < REC_USER_FIRST) {
			give_kernel(r, record, ret);
			return 1;
		}
		if (type == PERFDATA_FINISHED_ROUND) {
			give_round(r, record, ret);
			return 1;
		}
		/* perf packs only what comes from the rings. */
		perfdata_skip(r, &r->health.skipped, ret->offset,
			      "record of a tool among packed ones, type", type);
	}
	if (more < 0)
		perfdata_skip(r, &r->health.unpacked_failed, ret->offset,
			      more == -FMT_E_CORRUPT ? "no record is what was unpacked, type"
				      : more == -FMT_E_TOO_BIG ? "too much is packed, type"
							       : "damaged packed record, type",
			      ret->id);
	r->unpacking = false;
	return 0;
}

/* 1 an item, 0 the end; r->offset is past what it came from. */
static int
next_record(struct perfdata_reader *r, struct perfdata_item *ret, struct fmt_where *where)
{
	struct span record;
	int more = 0;

	for (;;) {
		if (r->unpacking && next_packed(r, ret) > 0)
			return 1;
		more = perfdata_record_at(r, r->offset, &record, where);
		if (more <= 0)
			break;
		ret->offset = r->offset;
		ret->id = le32dec(record.p);
		r->offset += record.len;
		if (ret->id == PERFDATA_COMPRESSED || ret->id == PERFDATA_COMPRESSED2) {
			more = open_container(r, ret->id, record, ret->offset, where);
		} else if (ret->id == PERFDATA_FINISHED_ROUND) {
			give_round(r, record, ret);
			return 1;
		} else if (ret->id >= REC_USER_FIRST) {
			more = give_tool(r, record, ret, where);
			if (more != 0)
				return more;
		} else if (record.len % 8) {
			perfdata_skip(r, &r->health.skipped, ret->offset,
				      "kernel record of an odd size, bytes", record.len);
		} else {
			give_kernel(r, record, ret);
			return 1;
		}
		if (more < 0)
			break;
	}
	if (more == 0 && r->inflate && perfdata_inflate_rest(r->inflate) > 0)
		return fmt_fail(where, FMT_E_TRUNCATED, r->offset, "%zu bytes of a packed record",
				perfdata_inflate_rest(r->inflate));
	return more;
}

static int
give_header(struct perfdata_reader *r, struct perfdata_item *ret, struct fmt_where *where)
{
	struct span s;
	int error = perfdata_view(r, 0, (size_t)r->header.size, &s, where);

	if (error)
		return error;
	*ret = (struct perfdata_item){
		.kind = PERFDATA_ITEM_FILE,
		.id = r->header.pipe ? PERFDATA_MODE_PIPE : PERFDATA_MODE_FILE,
		.bytes = s,
	};
	return 1;
}

int
perfdata_reader_next(struct perfdata_reader *r, struct perfdata_item *ret, struct fmt_where *where)
{
	int more = 0;

	assert(r->magic == READER_MAGIC);
	memset(ret, 0, sizeof(*ret));
	ret->event = -1;
	if (r->phase == PERFDATA_PHASE_FILE) {
		r->phase = r->header.pipe ? PERFDATA_PHASE_DATA : PERFDATA_PHASE_FEATURES;
		return give_header(r, ret, where);
	}
	if (r->phase == PERFDATA_PHASE_FEATURES) {
		more = perfdata_next_feature(r, ret, &r->where);
		if (more == 0)
			r->phase = PERFDATA_PHASE_DATA;
	}
	if (r->phase == PERFDATA_PHASE_DATA && more == 0)
		more = next_record(r, ret, &r->where);
	if (more > 0)
		return more;
	if (r->phase != PERFDATA_PHASE_END)
		r->ended = more;
	r->phase = PERFDATA_PHASE_END;
	if (r->ended && where)
		*where = r->where;
	return r->ended;
}
