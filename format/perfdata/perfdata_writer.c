/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/perfdata/perfdata_writer.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes/buf.h"
#include "format/perfdata/perfdata_buildid.h"
#include "format/perfdata/perfdata_feature.h"

#define WRITER_MAGIC 0x77706450u
#define CHUNK (256u << 10) /* bytes collected for one write */
#define FEATURE_BYTES_MAX INT32_MAX

struct perfdata_writer {
	uint32_t magic;
	struct io_sink *sink;
	bool pipe;
	uint32_t attr_bytes;
	struct buf out;	  /* not written yet */
	uint64_t written; /* what the sink has */
	uint64_t records; /* bytes */
	struct perfdata_header header;
	struct buf features[PERFDATA_FEATURES_MAX];
	struct buf traces; /* of each AUXTRACE record its place in the file and its size */
};

static int
flush(struct perfdata_writer *w, struct fmt_where *where)
{
	int error;

	if (buf_failed(&w->out))
		return fmt_fail(where, FMT_E_NOMEM, w->written, "perf.data");
	error = w->sink->write(w->sink, w->out.p, w->out.len);
	if (error) {
		errno = -error;
		return fmt_fail(where, FMT_E_IO, w->written, "writing perf.data");
	}
	w->written += w->out.len;
	buf_clear(&w->out);
	return 0;
}

static int
flush_full(struct perfdata_writer *w, struct fmt_where *where)
{
	return w->out.len >= CHUNK || buf_failed(&w->out) ? flush(w, where) : 0;
}

/* --- how it begins ----------------------------------------------------------------------- */

/* The ids of all events, then each attr with the place of its ids. */
static void
put_file_events(struct perfdata_writer *w, const struct event_set *events)
{
	size_t nr = event_set_count(events);
	uint64_t at = PERFDATA_HEADER_BYTES;

	buf_zero(&w->out, PERFDATA_HEADER_BYTES);
	for (size_t i = 0; i < nr; i++) {
		const struct event *e = event_set_at(events, i);

		for (size_t k = 0; k < e->nr_ids; k++)
			buf_u64(&w->out, e->ids[k]);
	}
	w->header.attr_size = w->attr_bytes + PERFDATA_SECTION_BYTES;
	w->header.attrs = (struct perfdata_section){ w->out.len, nr * w->header.attr_size };
	for (size_t i = 0; i < nr; i++) {
		const struct event *e = event_set_at(events, i);

		perfdata_attr(&w->out, e, w->attr_bytes);
		buf_u64(&w->out, at);
		buf_u64(&w->out, e->nr_ids * 8);
		at += e->nr_ids * 8;
	}
	w->header.data.offset = w->out.len;
	if (!buf_failed(&w->out))
		perfdata_header_encode(&w->header, w->out.p);
}

static void
put_record_header(struct buf *out, uint32_t type, size_t size)
{
	buf_u32(out, type);
	buf_u16(out, 0);
	buf_u16(out, (uint16_t)size);
}

static int
put_pipe_event(struct perfdata_writer *w, const struct event *e, struct fmt_where *where)
{
	/* Its name may be hostile, and is not for a message. */
	size_t size = PERF_RECORD_HEADER_BYTES + w->attr_bytes + e->nr_ids * 8;

	if (size > PERF_RECORD_MAX_BYTES)
		return fmt_fail(where, FMT_E_TOO_BIG, 0,
				"an event has %zu ids, too many for pipe mode", e->nr_ids);
	put_record_header(&w->out, PERFDATA_ATTR, size);
	perfdata_attr(&w->out, e, w->attr_bytes);
	for (size_t k = 0; k < e->nr_ids; k++)
		buf_u64(&w->out, e->ids[k]);
	return 0;
}

/* Of the event that has the first of its ids; 0 where there is but one event and it has none. At least a NUL pads it. */
static void
put_update(struct perfdata_writer *w, const struct event *e, bool only, enum perfdata_update what,
	   const void *bytes, size_t len)
{
	size_t room = what == PERFDATA_UPDATE_SCALE ? len : (len + 8) & ~(size_t)7;
	size_t size = PERF_RECORD_HEADER_BYTES + 16 + room;

	if (size > PERF_RECORD_MAX_BYTES || (e->nr_ids == 0 && !only))
		return;
	put_record_header(&w->out, PERFDATA_EVENT_UPDATE, size);
	buf_u64(&w->out, what);
	buf_u64(&w->out, e->nr_ids ? e->ids[0] : 0);
	buf_append(&w->out, bytes, len);
	buf_zero(&w->out, room - len);
}

int
perfdata_writer_units(struct perfdata_writer *w, const struct event_set *events,
		      struct fmt_where *where)
{
	const bool only = event_set_count(events) == 1;

	assert(w->magic == WRITER_MAGIC);
	for (size_t i = 0; i < event_set_count(events); i++) {
		const struct event *e = event_set_at(events, i);
		uint8_t scale[8];

		if (*e->unit.name)
			put_update(w, e, only, PERFDATA_UPDATE_UNIT, e->unit.name,
				   strlen(e->unit.name));
		memcpy(scale, &e->unit.scale, sizeof(scale));
		if (e->unit.scale != 0)
			put_update(w, e, only, PERFDATA_UPDATE_SCALE, scale, sizeof(scale));
	}
	return flush_full(w, where);
}

static int
put_pipe_events(struct perfdata_writer *w, const struct event_set *events, struct fmt_where *where)
{
	size_t nr = event_set_count(events);
	int error = 0;

	buf_append(&w->out, PERFDATA_MAGIC, PERFDATA_MAGIC_BYTES);
	buf_u64(&w->out, PERFDATA_PIPE_HEADER_BYTES);
	for (size_t i = 0; i < nr && !error; i++)
		error = put_pipe_event(w, event_set_at(events, i), where);
	for (size_t i = 0; i < nr && !error; i++)
		put_update(w, event_set_at(events, i), nr == 1, PERFDATA_UPDATE_NAME,
			   event_set_at(events, i)->name, strlen(event_set_at(events, i)->name));
	return error;
}

int
perfdata_writer_open(struct io_sink *sink, const struct event_set *events,
		     const struct perfdata_writer_options *options, struct perfdata_writer **ret,
		     struct fmt_where *where)
{
	struct perfdata_writer *w = calloc(1, sizeof(*w));
	int error = 0;

	if (!w)
		return fmt_fail(where, FMT_E_NOMEM, 0, "perf.data");
	w->magic = WRITER_MAGIC;
	w->sink = sink;
	w->pipe = options->pipe;
	w->attr_bytes = perfdata_attr_bytes(events, options->keep_attr_bytes);
	/* perf before 6.6 looks for the ids of pipe mode behind an attr of its own size. */
	if (w->pipe && w->attr_bytes < PERFDATA_ATTR_BYTES)
		w->attr_bytes = PERFDATA_ATTR_BYTES;
	if (w->pipe)
		error = put_pipe_events(w, events, where);
	else
		put_file_events(w, events);
	if (!error)
		error = flush(w, where);
	if (error) {
		perfdata_writer_free(w);
		return error;
	}
	*ret = w;
	return 0;
}

void
perfdata_writer_free(struct perfdata_writer *w)
{
	if (!w)
		return;
	assert(w->magic == WRITER_MAGIC);
	for (size_t i = 0; i < PERFDATA_FEATURES_MAX; i++)
		buf_done(&w->features[i]);
	buf_done(&w->traces);
	buf_done(&w->out);
	w->magic = 0;
	free(w);
}

/* --- sections ---------------------------------------------------------------------------- */

/* Those that perf record, too, leaves out of a pipe: bare flags, and what has file offsets. */
static bool
is_for_files(unsigned int feature)
{
	switch (feature) {
	case PERFDATA_FEATURE_BRANCH_STACK:
	case PERFDATA_FEATURE_AUXTRACE:
	case PERFDATA_FEATURE_STAT:
	case PERFDATA_FEATURE_CACHE:
	case PERFDATA_FEATURE_DIR_FORMAT:
		return true;
	}
	return false;
}

static void
put_pipe_build_ids(struct perfdata_writer *w, struct span section)
{
	struct span s = section, entry;
	uint16_t size;

	while (s.len >= PERF_RECORD_HEADER_BYTES) {
		size = le16dec(s.p + 6);
		if (size < PERF_RECORD_HEADER_BYTES || !span_take(&s, size, &entry))
			break;
		perfdata_buildid_record(&w->out, entry);
	}
}

static void
put_pipe_feature(struct perfdata_writer *w, unsigned int feature, struct span payload)
{
	size_t size = PERF_RECORD_HEADER_BYTES + 8 + payload.len;

	if (feature == PERFDATA_FEATURE_TRACING_DATA) {
		perfdata_tracing_data_record(&w->out, payload);
	} else if (feature == PERFDATA_FEATURE_BUILD_ID) {
		put_pipe_build_ids(w, payload);
	} else if (!is_for_files(feature) && size <= PERF_RECORD_MAX_BYTES) {
		put_record_header(&w->out, PERFDATA_FEATURE, size);
		buf_u64(&w->out, feature);
		/* Not padded: by the length perf tells an old section, which ends early. */
		buf_append(&w->out, payload.p, payload.len);
	}
}

int
perfdata_writer_feature(struct perfdata_writer *w, unsigned int feature, struct span payload,
			struct fmt_where *where)
{
	struct buf *b;

	assert(w->magic == WRITER_MAGIC && feature < PERFDATA_FEATURES_MAX);
	if (payload.len > FEATURE_BYTES_MAX)
		return fmt_fail(where, FMT_E_TOO_BIG, w->written, "section %u of %zu bytes",
				feature, payload.len);
	if (w->pipe) {
		put_pipe_feature(w, feature, payload);
		return flush_full(w, where);
	}
	b = &w->features[feature];
	buf_append(b, payload.p, payload.len);
	if (buf_failed(b))
		return fmt_fail(where, FMT_E_NOMEM, w->written, "section %u", feature);
	w->header.features[feature / 64] |= UINT64_C(1) << feature % 64;
	return 0;
}

/* How many they are, then where each is. */
static int
put_traces(struct perfdata_writer *w, struct fmt_where *where)
{
	uint8_t count[8];
	int error;

	if (buf_failed(&w->traces))
		return fmt_fail(where, FMT_E_NOMEM, w->written, "places of traces");
	if (!w->traces.len)
		return 0;
	le64enc(count, w->traces.len / PERFDATA_SECTION_BYTES);
	error = perfdata_writer_feature(w, PERFDATA_FEATURE_AUXTRACE, span_of(count, sizeof(count)),
					where);
	return error ? error
		     : perfdata_writer_feature(w, PERFDATA_FEATURE_AUXTRACE, buf_span(&w->traces),
					       where);
}

/* {offset, size} of each, then each. */
static int
write_features(struct perfdata_writer *w, struct fmt_where *where)
{
	uint64_t at = w->written;
	int error;

	for (unsigned int i = 0; i < PERFDATA_FEATURES_MAX; i++)
		at += perfdata_header_has(&w->header, i) ? PERFDATA_SECTION_BYTES : 0;
	for (unsigned int i = 0; i < PERFDATA_FEATURES_MAX; i++) {
		if (!perfdata_header_has(&w->header, i))
			continue;
		buf_u64(&w->out, at);
		buf_u64(&w->out, w->features[i].len);
		at += w->features[i].len;
	}
	for (unsigned int i = 0; i < PERFDATA_FEATURES_MAX; i++) {
		buf_append(&w->out, w->features[i].p, w->features[i].len);
		error = flush_full(w, where);
		if (error)
			return error;
	}
	return flush(w, where);
}

/* --- records ----------------------------------------------------------------------------- */

int
perfdata_writer_records(struct perfdata_writer *w, struct span records, struct fmt_where *where)
{
	assert(w->magic == WRITER_MAGIC);
	buf_append(&w->out, records.p, records.len);
	w->records += records.len;
	return flush_full(w, where);
}

int
perfdata_writer_trace(struct perfdata_writer *w, struct span record, struct fmt_where *where)
{
	if (!w->pipe && record.len >= PERF_RECORD_HEADER_BYTES) {
		buf_u64(&w->traces, w->written + w->out.len);
		buf_u64(&w->traces, le16dec(record.p + 6));
	}
	return perfdata_writer_records(w, record, where);
}

int
perfdata_writer_round(struct perfdata_writer *w, struct fmt_where *where)
{
	put_record_header(&w->out, PERFDATA_FINISHED_ROUND, PERF_RECORD_HEADER_BYTES);
	w->records += PERF_RECORD_HEADER_BYTES;
	return flush_full(w, where);
}

uint64_t
perfdata_writer_bytes(const struct perfdata_writer *w)
{
	return w->records;
}

int
perfdata_writer_finish(struct perfdata_writer *w, uint8_t ret_header[PERFDATA_HEADER_BYTES],
		       struct fmt_where *where)
{
	int error;

	assert(w->magic == WRITER_MAGIC);
	error = flush(w, where);
	if (error || w->pipe)
		return error;
	w->header.data.size = w->written - w->header.data.offset;
	error = put_traces(w, where);
	if (!error)
		error = write_features(w, where);
	if (!error)
		perfdata_header_encode(&w->header, ret_header);
	return error;
}
