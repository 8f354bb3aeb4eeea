/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/perfdata/perfdata_import.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "format/block/buildids.h"
#include "format/block/foreign.h"
#include "format/block/loss.h"
#include "format/perfdata/perfdata_buildid.h"
#include "format/recording/recording_writer.h"
#include "symbolizer/perfdata/buildid_table.h"

#define FOREIGN_BYTES (1u << 20)       /* that close a FOREIGN block */
#define MISC_LOST_BY_FILTER (1u << 15) /* of LOST_SAMPLES: a BPF filter did not want them */

/* A file that is read, and how it ended: 0, or -FMT_E_*. */
struct import_file {
	struct perfdata_reader *reader;
	const char *name; /* among others; NULL: the first */
	struct fmt_where where;
	int ended;
	bool over;
};

struct import {
	struct import_file *files; /* the first has the header */
	size_t nr_files;
	struct recording_writer *writer;
	struct recording_meta *meta;
	struct buf foreign;  /* payload of a FOREIGN block */
	struct buf buildids; /* entries of a BUILDIDS block */
	struct loss *loss;
	bool loss_changed;
	bool counts_lost; /* the events count what they lost, and perf tells at the end */
	uint64_t lost_records, lost_samples;
	struct perfdata_import_result result;
};

bool
perfdata_import_whole(const struct perfdata_import_result *result)
{
	const struct perfdata_health *h = &result->health;

	return !result->ended && !h->unfinished && h->skipped == 0 && h->unpacked_failed == 0;
}

/* --- build-ids --------------------------------------------------------------------------- */

static int
collect_buildids(struct buildid_table *t, struct span s)
{
	struct perfdata_buildid b;
	int error = 0;

	while (!error && perfdata_buildid_next(&s, &b) > 0)
		if (b.cpumode <= PERF_RECORD_MISC_USER && !perfdata_buildid_is_kernel(&b))
			error = buildid_table_add(t, b.path, strlen(b.path), &b.id);
	return error;
}

/*
 * Two files can have one path (in two containers, or before and after an upgrade). The section
 * does not say which is which, and a name from a wrong build is worse than none.
 */
static int
add_buildids(struct import *im, struct span section)
{
	struct buildid_table *t = buildid_table_new();
	int error = t ? collect_buildids(t, section) : -FMT_E_NOMEM;
	struct buildid_entry e = { 0 };

	for (size_t i = 0; !error && (e.path = buildid_table_at(t, i, &e.id)); i++) {
		e.path_len = strlen(e.path);
		if (!e.id.size || e.path_len >= PERF_RECORD_STRING_MAX)
			continue;
		if (im->buildids.len == 0)
			buildids_begin(&im->buildids);
		buildids_add(&im->buildids, &e);
	}
	buildid_table_free(t);
	return error;
}

/* --- loss -------------------------------------------------------------------------------- */

/* To the record's CPU; to none when it does not tell, or tells one that there cannot be. */
static int
add_loss(struct import *im, const struct perf_record *r, enum loss_cause cause, uint64_t n)
{
	uint32_t cpu = r->sid.have & PERF_SAMPLE_CPU ? r->sid.cpu : UINT32_MAX;
	int error = loss_add(im->loss, cpu, cause, n);

	return error == -FMT_E_TOO_BIG ? loss_add(im->loss, UINT32_MAX, cause, n) : error;
}

static int
add_aux_loss(struct import *im, const struct perf_record *r)
{
	enum loss_cause causes[LOSS_AUX_CAUSES];
	const size_t n = loss_of_aux(r->aux.flags, causes);
	int error = 0;

	for (size_t i = 0; !error && i < n; i++)
		error = add_loss(im, r, causes[i], 1);
	im->loss_changed |= n > 0;
	return error;
}

/*
 * LOST says what a ring had no room for; LOST_SAMPLES what the hardware dropped. But where
 * events count what they lost, perf writes their counts at the end as LOST_SAMPLES, over
 * again: then the larger of the two sums is what is missing.
 */
static int
count_loss(struct import *im, const struct perf_record *r)
{
	uint64_t n = r->lost.lost;

	switch (r->type) {
	case REC_THROTTLE:
		im->loss_changed = true;
		return add_loss(im, r, LOSS_THROTTLED, 1);
	case REC_AUX:
		return add_aux_loss(im, r);
	case REC_LOST:
		im->lost_records += n;
		break;
	case REC_LOST_SAMPLES:
		if (r->misc & MISC_LOST_BY_FILTER)
			return 0;
		im->lost_samples += n;
		break;
	default:
		return 0;
	}
	im->loss_changed = true;
	if (!im->counts_lost)
		return add_loss(im, r,
				r->type == REC_LOST ? LOSS_KERNEL_SAMPLES : LOSS_LOST_SAMPLES, n);
	return loss_set(im->loss, UINT32_MAX, LOSS_KERNEL_SAMPLES,
			im->lost_records > im->lost_samples ? im->lost_records : im->lost_samples);
}

/* --- what stands before the records that it is about ------------------------------------- */

static int
write_block(struct recording_writer *w, enum block_type type, struct buf *payload,
	    struct fmt_where *where)
{
	int error = 0;

	if (buf_failed(payload))
		return fmt_fail(where, FMT_E_NOMEM, 0, "%s block", block_type_name(type));
	if (payload->len > 0)
		error = recording_writer_block(w, type, buf_span(payload), where);
	buf_clear(payload);
	return error;
}

static int
write_loss(struct import *im, struct recording_writer *w, struct fmt_where *where)
{
	struct buf payload;
	int error;

	if (!im->loss_changed)
		return 0;
	buf_init(&payload);
	loss_encode(im->loss, &payload);
	recording_writer_lost(w, loss_samples(im->loss));
	error = write_block(w, BLOCK_LOSS, &payload, where);
	buf_done(&payload);
	im->loss_changed = error != 0;
	return error;
}

static int
before_close(void *arg, struct recording_writer *w, struct fmt_where *where)
{
	struct import *im = arg;
	int error = write_block(w, BLOCK_FOREIGN, &im->foreign, where);

	if (!error)
		error = write_block(w, BLOCK_BUILDIDS, &im->buildids, where);
	return error ? error : write_loss(im, w, where);
}

/* --- items ------------------------------------------------------------------------------- */

static int
carry(struct import *im, const struct perfdata_item *item, struct fmt_where *where)
{
	enum foreign_kind kind = FOREIGN_RECORD;

	if (item->kind == PERFDATA_ITEM_FILE)
		kind = FOREIGN_FILE;
	else if (item->kind == PERFDATA_ITEM_FEATURE)
		kind = FOREIGN_FEATURE;
	if (im->foreign.len > 0 && im->foreign.len + item->bytes.len > FOREIGN_BYTES) {
		int error = write_block(im->writer, BLOCK_FOREIGN, &im->foreign, where);

		if (error)
			return error;
	}
	foreign_add(&im->foreign, kind, item->id, item->bytes);
	if (buf_failed(&im->foreign))
		return fmt_fail(where, FMT_E_NOMEM, item->offset, "what is not a kernel record");
	return 0;
}

static int
take_record(struct import *im, const struct perfdata_item *item, struct fmt_where *where)
{
	im->result.records++;
	if (!item->parsed)
		im->result.bad_records++;
	else if (item->id == REC_SAMPLE)
		im->result.samples++;
	else if (count_loss(im, &item->record) < 0)
		return fmt_fail(where, FMT_E_NOMEM, item->offset, "ledger");
	return recording_writer_records(im->writer, item->bytes, NULL, where);
}

static int
take_other(struct import *im, const struct perfdata_item *item, struct fmt_where *where)
{
	bool buildids =
		(item->kind == PERFDATA_ITEM_FEATURE && item->id == PERFDATA_FEATURE_BUILD_ID) ||
		(item->kind == PERFDATA_ITEM_TOOL && item->id == PERFDATA_BUILD_ID);
	int error = carry(im, item, where);

	if (!error && buildids && add_buildids(im, item->bytes) < 0)
		error = fmt_fail(where, FMT_E_NOMEM, item->offset, "build-ids");
	if (!error && item->meta_changed)
		error = recording_writer_block(im->writer, BLOCK_META, span_of(NULL, 0), where);
	return error;
}

static int
perfdata_import_take(struct import *im, const struct perfdata_item *item, struct fmt_where *where)
{
	switch (item->kind) {
	case PERFDATA_ITEM_RECORD:
		return take_record(im, item, where);
	case PERFDATA_ITEM_ROUND:
		recording_writer_pass(im->writer, item->complete_ns);
		break;
	default:
		break;
	}
	if (item->kind == PERFDATA_ITEM_TOOL || item->kind == PERFDATA_ITEM_ROUND)
		im->result.tool_records++;
	return take_other(im, item, where);
}

/* --- the whole --------------------------------------------------------------------------- */

static int
fill_meta(struct import *im, struct fmt_where *where)
{
	struct recording_meta *m = im->meta;

	for (size_t i = 0; i < event_set_count(m->events); i++)
		im->counts_lost |=
			(event_set_at(m->events, i)->attr.read_format & PERF_FORMAT_LOST) != 0;
	if (getrandom(m->file_id, sizeof(m->file_id), 0) != (ssize_t)sizeof(m->file_id))
		return fmt_fail(where, FMT_E_IO, 0, "no random file id");
	if (recording_meta_note(m, "imported from a perf.data") < 0)
		return fmt_fail(where, FMT_E_NOMEM, 0, "meta");
	return 0;
}

/* The source is owned from here on, and the others'. */
static int
open_files(struct import *im, struct io_source *source, struct perfdata_others *others,
	   struct fmt_where *where)
{
	struct perfdata_reader *first = NULL;
	int error;

	im->files = calloc(1 + (others ? others->nr : 0), sizeof(*im->files));
	if (!im->files) {
		source->close(source);
		return fmt_fail(where, FMT_E_NOMEM, 0, "perf.data");
	}
	error = others ? perfdata_reader_open_first(source, &first, where)
		       : perfdata_reader_open(source, &first, where);
	if (error)
		return error;
	im->files[im->nr_files++].reader = first;
	for (size_t i = 0; !error && others && i < others->nr; i++) {
		error = perfdata_reader_open_other(first, others->sources[i],
						   &im->files[im->nr_files].reader, where);
		others->sources[i] = NULL;
		im->files[im->nr_files].name = others->names[i];
		im->nr_files += !error;
	}
	return error;
}

static int
open_both(struct import *im, struct io_source *source, struct perfdata_others *others,
	  struct io_sink *sink, bool *ret_reading, struct fmt_where *where)
{
	struct recording_writer_options options = { .before_close = before_close, .arg = im };
	int error = open_files(im, source, others, where);

	*ret_reading = true;
	if (!error) {
		*ret_reading = false;
		im->meta = perfdata_reader_meta(im->files[0].reader);
		im->loss = loss_new();
		error = im->loss ? fill_meta(im, where) : fmt_fail(where, FMT_E_NOMEM, 0, "ledger");
	}
	if (error) {
		sink->close(sink);
		return error;
	}
	return recording_writer_open(sink, im->meta, &options, &im->writer, where);
}

/* The file whose records are behind the others', or NULL: all are over. */
static struct import_file *
file_behind(const struct import *im)
{
	struct import_file *behind = NULL;

	for (size_t i = 0; i < im->nr_files; i++) {
		struct import_file *f = &im->files[i];

		if (!f->over &&
		    (!behind ||
		     perfdata_reader_time(f->reader) < perfdata_reader_time(behind->reader)))
			behind = f;
	}
	return behind;
}

/* Whose offset it is. */
static void
tell_file(struct fmt_where *where, const struct import_file *f)
{
	struct fmt_where told = *where;

	if (f->name)
		(void)snprintf(told.detail, sizeof(told.detail), "%s: %.120s", f->name,
			       where->detail);
	*where = told;
}

static void
add_health(struct perfdata_health *sum, const struct import_file *f)
{
	const struct perfdata_health *h = perfdata_reader_health(f->reader);

	if (sum->skipped + sum->unpacked_failed == 0) {
		sum->first = h->first;
		tell_file(&sum->first, f);
	}
	sum->unfinished |= h->unfinished;
	sum->skipped += h->skipped;
	sum->unpacked_failed += h->unpacked_failed;
	sum->packed += h->packed;
}

/* All that the files had has been taken: how they ended. 0; or one could not be read. */
static int
perfdata_import_end(struct import *im, bool *ret_reading, struct fmt_where *where)
{
	for (size_t i = 0; i < im->nr_files; i++) {
		const struct import_file *f = &im->files[i];

		add_health(&im->result.health, f);
		if (!im->result.ended && f->ended) {
			im->result.ended = f->ended;
			im->result.where = f->where;
			tell_file(&im->result.where, f);
		}
		if (f->ended == -FMT_E_IO || f->ended == -FMT_E_NOMEM) {
			*ret_reading = true;
			if (where)
				*where = f->where;
			return f->ended;
		}
	}
	return 0;
}

static int
perfdata_import_copy(struct import *im, bool *ret_reading, struct fmt_where *where)
{
	struct perfdata_item item;
	struct import_file *f;
	int more, error = 0;

	while (!error && (f = file_behind(im))) {
		more = perfdata_reader_next(f->reader, &item, &f->where);
		if (more > 0) {
			error = perfdata_import_take(im, &item, where);
		} else {
			f->over = true;
			f->ended = more;
		}
	}
	if (!error)
		error = perfdata_import_end(im, ret_reading, where);
	if (error)
		return error;
	error = recording_writer_flush(im->writer, where);
	return error ? error : before_close(im, im->writer, where);
}

static void
import_done(struct import *im)
{
	recording_writer_abandon(im->writer);
	while (im->nr_files)
		perfdata_reader_close(im->files[--im->nr_files].reader);
	free(im->files);
	loss_free(im->loss);
	buf_done(&im->foreign);
	buf_done(&im->buildids);
}

int
perfdata_import(struct io_source *source, struct io_sink *sink, struct perfdata_import_result *ret,
		bool *ret_reading, struct fmt_where *where)
{
	return perfdata_import_directory(source, NULL, sink, ret, ret_reading, where);
}

int
perfdata_import_directory(struct io_source *source, struct perfdata_others *others,
			  struct io_sink *sink, struct perfdata_import_result *ret,
			  bool *ret_reading, struct fmt_where *where)
{
	struct import im = { 0 };
	struct recording_writer *writer;
	int error;

	buf_init(&im.foreign);
	buf_init(&im.buildids);
	error = open_both(&im, source, others, sink, ret_reading, where);
	if (!error)
		error = perfdata_import_copy(&im, ret_reading, where);
	if (!error) {
		writer = im.writer;
		im.writer = NULL;
		error = recording_writer_close(writer, 0, where);
		im.result.lost = loss_samples(im.loss);
		for (int i = 0; i < LOSS_CAUSES; i++)
			im.result.loss[i] = loss_total(im.loss, (enum loss_cause)i);
		*ret = im.result;
	}
	import_done(&im);
	return error;
}
