/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/perfdata/perfdata_export.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "format/block/foreign.h"
#include "format/perfdata/perfdata_feature.h"
#include "format/perfdata/perfdata_writer.h"
#include "format/record/record_build.h"
#include "symbolizer/perfdata/aux_export.h"
#include "symbolizer/perfdata/export_sections.h"
#include "symbolizer/profile/record_filter.h"

#define ROUND_BYTES (1u << 20) /* after which a reader is told that it need not wait */

struct perfdata_export {
	const struct perfdata_export_options *o;
	struct io_sink *sink;
	struct event_set *events; /* of all recordings */
	uint8_t boot_id[16];
	bool looked;
	struct recording_reader *reader; /* of the recording that is being written */
	struct record_stream *stream;
	struct record_filter filter; /* of its samples */
	struct perfdata_writer *w;   /* NULL: nothing has been written yet */
	struct export_sections sections;
	struct aux_export aux;
	struct perfdata_export_result result;
	uint64_t newest_ns;   /* of the records so far */
	bool unsorted;	      /* one was older: nothing can be promised */
	uint64_t round_bytes; /* of the writer at the last round */
	int symbols_error;
};

/* --- events ------------------------------------------------------------------------------ */

static bool
is_same(const struct event *a, const struct event *b)
{
	return a->attr_raw.len == b->attr_raw.len &&
		memcmp(a->attr_raw.p, b->attr_raw.p, a->attr_raw.len) == 0 &&
		strcmp(a->name, b->name) == 0;
}

/* Which of ours is the same event, or has one of its ids: files that rotated share them. */
static bool
find_event(const struct event_set *set, const struct event *e, size_t *ret)
{
	for (*ret = 0; *ret < event_set_count(set); (*ret)++)
		if (is_same(event_set_at(set, *ret), e))
			return true;
	for (size_t k = 0; k < e->nr_ids; k++) {
		int had = event_set_find(set, e->ids[k]);

		if (had >= 0) {
			*ret = (size_t)had;
			return true;
		}
	}
	return false;
}

static int
add_event(struct event_set *set, const struct event *e, bool may_be_known)
{
	size_t index;
	int error = 0;

	if (!may_be_known || !find_event(set, e, &index))
		error = event_set_copy(set, e, &index);
	else
		error = event_set_format(set, index, e->format);
	for (size_t k = 0; k < e->nr_ids && !error; k++)
		if (event_set_find(set, e->ids[k]) < 0)
			error = event_set_add_id(set, index, e->ids[k]);
	return error;
}

/* --- records of perf's tools ------------------------------------------------------------- */

static bool
is_foreign(const struct block_header *h, void *arg)
{
	(void)arg;
	return h->type == BLOCK_FOREIGN;
}

/*
 * Those that the writer makes itself, and those that tell of the order or the packing of the
 * file that they were in.
 */
static bool
is_superseded(uint32_t type)
{
	switch (type) {
	case PERFDATA_ATTR:
	case PERFDATA_EVENT_TYPE:
	case PERFDATA_TRACING_DATA:
	case PERFDATA_BUILD_ID:
	case PERFDATA_FINISHED_ROUND:
	case PERFDATA_FEATURE:
	case PERFDATA_COMPRESSED:
	case PERFDATA_FINISHED_INIT:
	case PERFDATA_COMPRESSED2:
		return true;
	}
	return false;
}

/* Names are the writer's: the meta has them, from wherever they came. */
static bool
is_name(const struct foreign *f)
{
	return f->id == PERFDATA_EVENT_UPDATE && f->bytes.len >= 16 &&
		le64dec(f->bytes.p + 8) == PERFDATA_UPDATE_NAME;
}

static int
copy_tool_records(struct perfdata_export *x, struct fmt_where *where)
{
	struct block block;
	struct foreign f;
	int result;

	if (!x->sections.imported)
		return 0;
	while ((result = recording_reader_next(x->reader, is_foreign, NULL, &block, where)) > 0) {
		while (foreign_next(&block.payload, &f) > 0) {
			if (f.kind != FOREIGN_RECORD || is_superseded(f.id) || is_name(&f))
				continue;
			result = f.id == PERFDATA_AUXTRACE
				? perfdata_writer_trace(x->w, f.bytes, where)
				: perfdata_writer_records(x->w, f.bytes, where);
			if (result < 0)
				return result;
		}
	}
	recording_reader_rewind(x->reader);
	return result;
}

/* No filter can take a trace apart: it is of all that ran. */
static int
copy_aux(struct perfdata_export *x, struct fmt_where *where)
{
	if (!x->sections.aux)
		return 0;
	if (!x->o->filter)
		return aux_export_write(&x->aux, x->reader, x->w, where);
	x->result.aux_left_out = true;
	return 0;
}

/* --- records of the kernel --------------------------------------------------------------- */

static void
on_block(void *arg, const struct block *block)
{
	struct perfdata_export *x = arg;
	int error;

	record_filter_block(&x->filter, block);
	if (block->header.type != BLOCK_KSYMS || !x->o->kernel)
		return;
	error = kernel_symbols_add_block(x->o->kernel, block->payload);
	if (error == -FMT_E_NOMEM)
		x->symbols_error = error;
}

/* A reader holds records back until it hears that no older ones come. */
static int
end_round(struct perfdata_export *x, const struct perf_record *r, struct fmt_where *where)
{
	uint64_t time = r->sid.have & PERF_SAMPLE_TIME ? r->sid.time : 0;

	if (time != 0 && time < x->newest_ns)
		x->unsorted = true;
	if (time > x->newest_ns)
		x->newest_ns = time;
	if (x->unsorted || perfdata_writer_bytes(x->w) - x->round_bytes < ROUND_BYTES)
		return 0;
	x->round_bytes = perfdata_writer_bytes(x->w);
	return perfdata_writer_round(x->w, where);
}

/*
 * The kernel leaves the bit of an event that asked for build-ids on the records of the next one (perf_record.c,
 * has_build_id()). perf 6.1 takes the inode of such a record for a build-id, and aborts.
 */
static bool
has_foreign_bit(const struct perf_record *r)
{
	return r->type == REC_MMAP2 && r->misc & PERF_RECORD_MISC_MMAP_BUILD_ID &&
		r->mmap.build_id.size == 0;
}

/* Readers look for the trailer at the end of a record. An import's records stay as they were. */
static int
write_record(struct perfdata_export *x, const struct perf_record *r, struct fmt_where *where)
{
	const bool mend = !x->sections.imported && has_foreign_bit(r);
	uint8_t bytes[PERF_RECORD_MAX_BYTES];

	if (r->filled == r->raw.len && !mend)
		return perfdata_writer_records(x->w, r->raw, where);
	memcpy(bytes, r->raw.p, r->filled);
	le16enc(bytes + 6, r->filled);
	if (mend)
		le16enc(bytes + 4, r->misc & ~PERF_RECORD_MISC_MMAP_BUILD_ID);
	return perfdata_writer_records(x->w, span_of(bytes, r->filled), where);
}

static int
copy_record(struct perfdata_export *x, const struct stream_record *rec, struct fmt_where *where)
{
	const struct perf_record *r = rec->record;
	int error, chosen;

	if (!r && !x->sections.imported) {
		x->result.bad_records++;
		return 0;
	}
	chosen = record_filter_see(&x->filter, rec, record_stream_events(x->stream));
	if (chosen < 0)
		return fmt_fail(where, FMT_E_NOMEM, 0, "control groups");
	if (!chosen)
		return 0;
	x->result.records++;
	if (!r)
		return perfdata_writer_records(x->w, rec->bad, where);
	x->result.samples += r->type == REC_SAMPLE;
	if (export_sections_see(&x->sections, r) < 0)
		return fmt_fail(where, FMT_E_NOMEM, 0, "build-ids");
	error = write_record(x, r, where);
	return error ? error : end_round(x, r, where);
}

static int
copy_records(struct perfdata_export *x, int *ret_read, struct fmt_where *where)
{
	struct stream_record rec;
	int error = 0, result = 0;

	record_stream_on_block(x->stream, on_block, x);
	error = record_filter_init(&x->filter, x->o->filter, record_stream_meta(x->stream));
	while (!error && (result = record_stream_next(x->stream, &rec, where)) > 0)
		error = copy_record(x, &rec, where);
	record_stream_on_block(x->stream, NULL, NULL);
	record_filter_done(&x->filter);
	*ret_read = result < 0 ? result : x->symbols_error;
	return error;
}

/* --- losses that no record tells of ------------------------------------------------------ */

static int
write_losses(struct perfdata_export *x, struct fmt_where *where)
{
	const struct loss *loss = record_stream_loss(x->stream);
	const struct event_set *events = record_stream_events(x->stream);
	const struct event *event;
	struct perf_sample_id sid = { .time = x->newest_ns };
	struct buf out;
	int error = 0;

	if (x->sections.imported || x->o->filter || event_set_count(events) == 0)
		return 0;
	event = event_set_at(events, 0);
	sid.id = sid.stream_id = event->nr_ids ? event->ids[0] : 0;
	buf_init(&out);
	for (size_t i = 0; !error && loss_cpu_at(loss, i, &sid.cpu) == 0; i++) {
		uint64_t n = loss_get(loss, sid.cpu, LOSS_KERNEL_SAMPLES) +
			loss_get(loss, sid.cpu, LOSS_DROPPED);

		if (n > 0)
			error = record_build_lost_samples(&out, &event->attr, &sid, n);
	}
	if (error)
		error = fmt_fail(where, error, 0, "losses");
	else
		error = perfdata_writer_records(x->w, buf_span(&out), where);
	buf_done(&out);
	return error;
}

/* --- all of it --------------------------------------------------------------------------- */

int
perfdata_export_open(struct io_sink *sink, const struct perfdata_export_options *options,
		     struct perfdata_export **ret)
{
	struct perfdata_export *x = calloc(1, sizeof(*x));

	if (!x)
		return -FMT_E_NOMEM;
	x->o = options;
	x->sink = sink;
	x->events = event_set_new();
	if (export_sections_init(&x->sections) < 0 || !x->events) {
		perfdata_export_close(x);
		return -FMT_E_NOMEM;
	}
	*ret = x;
	return 0;
}

void
perfdata_export_close(struct perfdata_export *x)
{
	if (!x)
		return;
	perfdata_writer_free(x->w);
	export_sections_done(&x->sections);
	event_set_free(x->events);
	free(x);
}

int
perfdata_export_look(struct perfdata_export *x, struct recording_reader *reader,
		     struct fmt_where *where)
{
	const struct recording_meta *meta;
	int error = export_sections_read(&x->sections, reader, where);

	if (error)
		return error;
	meta = recording_reader_meta(reader);
	if (x->looked && memcmp(x->boot_id, meta->boot_id, sizeof(x->boot_id)) != 0)
		return fmt_fail(where, FMT_E_MISMATCH, 0, "recordings of two boots");
	memcpy(x->boot_id, meta->boot_id, sizeof(x->boot_id));
	for (size_t i = 0; i < event_set_count(meta->events) && !error; i++)
		error = add_event(x->events, event_set_at(meta->events, i), x->looked);
	x->looked = true;
	return error ? fmt_fail(where, error, 0, "events") : 0;
}

/* What comes before the first record. */
static int
perfdata_export_begin(struct perfdata_export *x, struct fmt_where *where)
{
	struct perfdata_writer_options wo = { .pipe = x->o->pipe };
	int error;

	if (x->w)
		return 0;
	wo.keep_attr_bytes = x->sections.imported ? PERFDATA_ATTR_BYTES : 0;
	error = perfdata_writer_open(x->sink, x->events, &wo, &x->w, where);
	if (!error && x->o->pipe) {
		/* Which samples there will be is not known at the beginning of a pipe. */
		x->sections.have[PERFDATA_FEATURE_SAMPLE_TIME] &= !x->o->filter;
		error = export_sections_write(&x->sections, x->events, false, x->w, where);
	}
	/* An import has the records that told it. */
	if (!error && !x->sections.imported)
		error = perfdata_writer_units(x->w, x->events, where);
	return error;
}

int
perfdata_export_add(struct perfdata_export *x, struct recording_reader *reader,
		    struct record_stream *stream, int *ret_read, struct fmt_where *where)
{
	int error;

	x->reader = reader;
	x->stream = stream;
	*ret_read = 0;
	error = perfdata_export_begin(x, where);
	if (!error)
		error = copy_tool_records(x, where);
	if (!error)
		error = copy_aux(x, where);
	if (!error)
		error = copy_records(x, ret_read, where);
	return error ? error : write_losses(x, where);
}

int
perfdata_export_finish(struct perfdata_export *x, struct perfdata_export_result *ret,
		       struct fmt_where *where)
{
	int error = perfdata_export_begin(x, where);

	if (!error && !x->o->pipe)
		error = export_sections_write(&x->sections, x->events, x->o->filter, x->w, where);
	if (!error)
		error = perfdata_writer_finish(x->w, x->result.header, where);
	x->result.left_out = x->sections.left_out;
	x->result.aux_left_out |= x->aux.others > 0;
	x->result.aux_pieces = x->aux.pieces;
	*ret = x->result;
	return error;
}
