/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/recording/recording_writer.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include "format/block/recording_header.h"
#include "format/block/recording_index.h"
#include "format/bytes/crc32c.h"
#include "format/recording/recording_internal.h"

/* --- the open block ---------------------------------------------------------------------- */

/* A record that has a time, or does not (0). */
static void
recording_writer_count(struct tally *t, uint64_t time)
{
	t->records++;
	if (time > 0) {
		if (t->t_min == 0 || time < t->t_min)
			t->t_min = time;
		if (time > t->t_max)
			t->t_max = time;
	}
}

static int
before_close(struct recording_writer *w)
{
	struct fmt_where at = { 0 };
	int error;

	if (!w->options.before_close)
		return 0;
	w->closing = true;
	error = w->options.before_close(w->options.arg, w, &at);
	w->closing = false;
	if (error && !w->error) {
		w->error = error;
		w->where = at;
	}
	return w->error;
}

/*
 * Records by columns. As they are, when those would not be smaller, or when there is no memory
 * for them: nothing is lost for want of it.
 */
static struct span
encode(struct recording_writer *w, struct span records, struct block_header *h)
{
	if (w->options.verbatim)
		return records;
	if (!w->encoder)
		w->encoder = columns_encoder_new();
	if (!w->encoder)
		return records;
	buf_clear(&w->columns);
	if (columns_encode(w->encoder, w->meta->events, records, &w->columns) != 0 ||
	    w->columns.len >= records.len)
		return records;
	h->encoding = BLOCK_COLUMNAR;
	return buf_span(&w->columns);
}

/* Writes one of the two, if it has records. */
static int
close_one(struct recording_writer *w, struct open_block *o, uint64_t complete)
{
	struct block_header h = {
		.type = BLOCK_RECORDS,
		.flags = BLOCK_F_CRITICAL,
		.records = o->tally.records,
		.samples = o->tally.samples,
		.t_min = o->tally.t_min,
		.t_max = o->tally.t_max,
		.complete = complete,
	};
	int error;

	if (h.records == 0)
		return 0;
	error = recording_blocks_write(w, encode(w, buf_span(&o->records), &h), &h);
	if (error)
		return error;
	w->complete = complete;
	w->records += h.records;
	w->samples += h.samples;
	buf_clear(&o->records);
	memset(&o->tally, 0, sizeof(o->tally));
	return 0;
}

/*
 * Writes the open block, if it has records, and the index that may be due. Only the last of
 * the two can promise that the pass is complete; it does also in the middle of the next
 * pass, since what the last one promised is in here.
 */
static int
close_block(struct recording_writer *w)
{
	bool samples = w->samples_open.tally.records > 0;
	int error = 0;

	if (samples || w->sideband.tally.records > 0)
		error = before_close(w);
	if (!error)
		error = close_one(w, &w->sideband, samples ? w->complete : w->pass);
	if (!error)
		error = close_one(w, &w->samples_open, w->pass);
	if (error)
		return error;
	return recording_blocks_index_due(w, w->options.index_every) ? recording_blocks_index(w)
								     : 0;
}

static void
count_sample(struct recording_writer *w, const struct sample_glance *sample)
{
	recording_writer_count(&w->samples_open.tally, sample->time);
	w->samples_open.tally.samples++;
	if (w->options.on_sample)
		w->options.on_sample(w->options.arg, sample);
}

/*
 * Any record, in full: which of the two it belongs to; NULL: neither. One that does not parse, by
 * its type.
 */
static struct open_block *
count_record(struct recording_writer *w, struct span bytes, uint64_t *bad)
{
	bool sample_like = le32dec(bytes.p) == REC_SAMPLE;
	struct sample_glance sample;
	struct perf_record record;
	int event;

	if (event_set_parse(w->meta->events, bytes, &record, &event) != 0) {
		struct open_block *o = sample_like ? &w->samples_open : &w->sideband;

		recording_writer_count(&o->tally, 0);
		++*bad;
		return o;
	}
	if (record.type == REC_SAMPLE) {
		sample_glance_of(&record, event, &sample);
		count_sample(w, &sample);
		return &w->samples_open;
	}
	if (w->options.on_record && !w->options.on_record(w->options.arg, &record, event))
		return NULL;
	recording_writer_count(&w->sideband.tally, record.sid.time);
	return &w->sideband;
}

/* Copies what is in [*run, until) to where it belongs, if anywhere; *run goes there. */
static void
end_run(struct open_block *to, const uint8_t **run, const uint8_t *until)
{
	if (to)
		buf_append(&to->records, *run, (size_t)(until - *run));
	*run = until;
}

/*
 * The records at the front of *records that the open block has room for, and one at least. They
 * are copied run by run: rings have samples or side-band, so that runs are long.
 */
static int
add_runs(struct recording_writer *w, struct span *records, uint64_t *bad)
{
	const uint8_t *first = records->p, *run = first;
	const size_t had = recording_blocks_open(w);
	struct open_block *to = NULL, *of;
	struct sample_glance sample;
	struct span rest = *records, record;
	int more;

	while ((more = perf_record_next(&rest, &record)) > 0) {
		if (!w->error && records->p != first &&
		    had + (size_t)(rest.p - first) > w->options.block_bytes)
			break;
		of = &w->samples_open;
		if (event_set_glance(w->meta->events, record, &sample))
			count_sample(w, &sample);
		else
			of = count_record(w, record, bad);
		if (of != to)
			end_run(to, &run, records->p);
		to = of;
		*records = rest;
	}
	end_run(to, &run, records->p);
	return more;
}

int
recording_writer_records(struct recording_writer *w, struct span records, uint64_t *ret_bad,
			 struct fmt_where *where)
{
	uint64_t bad = 0;
	int more;

	assert(w->magic == WRITER_MAGIC && !w->closing);
	if (w->error)
		return recording_blocks_sticky(w, where);
	/* Room first: from here on no record may be refused for want of memory. */
	if (records.len > BLOCK_RECORDS_MAX - w->options.block_bytes)
		return fmt_fail(where, FMT_E_TOO_BIG, w->size, "%zu bytes of records in one call",
				records.len);
	if (!buf_reserve(&w->sideband.records, records.len) ||
	    !buf_reserve(&w->samples_open.records, records.len)) {
		w->sideband.records.failed = w->samples_open.records.failed = false;
		return fmt_fail(where, FMT_E_NOMEM, w->size, "%zu bytes of records", records.len);
	}
	/* An empty block takes anything. */
	if (recording_blocks_open(w) > 0 &&
	    recording_blocks_open(w) + records.len > w->options.block_bytes)
		close_block(w);
	while ((more = add_runs(w, &records, &bad)) > 0)
		close_block(w);
	if (ret_bad)
		*ret_bad = bad;
	if (more < 0)
		return fmt_fail(where, FMT_E_CORRUPT, w->size, "%zu bytes are not a record",
				records.len);
	return 0;
}

void
recording_writer_pass(struct recording_writer *w, uint64_t complete_ns)
{
	assert(w->magic == WRITER_MAGIC);
	if (complete_ns > w->pass)
		w->pass = complete_ns;
}

int
recording_writer_flush(struct recording_writer *w, struct fmt_where *where)
{
	assert(w->magic == WRITER_MAGIC && !w->closing);
	if (!w->error)
		close_block(w);
	return recording_blocks_sticky(w, where);
}

static void
tally_state(const struct recording_writer *w, struct span records, struct tally *tally)
{
	struct perf_record record;
	struct span bytes;

	while (perf_record_next(&records, &bytes) > 0) {
		bool parsed = event_set_parse(w->meta->events, bytes, &record, NULL) == 0;

		recording_writer_count(tally, parsed ? record.sid.time : 0);
		tally->samples += parsed && record.type == REC_SAMPLE;
	}
}

/* Takes off the front as many records as a STATE block holds; everything, if it is none. */
static struct span
take_state(struct span *records)
{
	struct span rest = *records, record, piece = { 0 };
	size_t n = 0;

	while (perf_record_next(&rest, &record) > 0 && (n == 0 || n + record.len <= STATE_BYTES))
		n += record.len;
	span_take(records, n ? n : records->len, &piece);
	return piece;
}

/* A host with many tasks has more state than a block may hold. */
static void
write_state(struct recording_writer *w, struct span records)
{
	do {
		struct block_header h = { .type = BLOCK_STATE, .complete = w->complete };
		struct span piece = take_state(&records);
		struct tally tally = { 0 };

		tally_state(w, piece, &tally);
		h.records = tally.records;
		h.samples = tally.samples;
		h.t_min = tally.t_min;
		h.t_max = tally.t_max;
		recording_blocks_write(w, piece, &h);
	} while (records.len > 0 && !w->error);
}

int
recording_writer_block(struct recording_writer *w, enum block_type type, struct span payload,
		       struct fmt_where *where)
{
	struct block_header h = { .type = (uint8_t)type, .complete = w->complete };

	assert(w->magic == WRITER_MAGIC);
	assert(type != BLOCK_RECORDS && type != BLOCK_INDEX && type != BLOCK_END);
	if (w->error)
		return recording_blocks_sticky(w, where);
	if (type == BLOCK_META)
		recording_blocks_meta(w);
	else if (type == BLOCK_STATE)
		write_state(w, payload);
	else
		recording_blocks_write(w, payload, &h);
	/* What before_close writes is followed by its records, not by an index. */
	if (!w->error && !w->closing && recording_blocks_index_due(w, w->options.index_every))
		recording_blocks_index(w);
	return recording_blocks_sticky(w, where);
}

void
recording_writer_lost(struct recording_writer *w, uint64_t lost)
{
	w->lost = lost;
}

int
recording_writer_sync(struct recording_writer *w, struct fmt_where *where)
{
	int error;

	assert(w->magic == WRITER_MAGIC);
	if (w->error)
		return recording_blocks_sticky(w, where);
	error = w->sink->sync(w->sink);
	if (error) {
		errno = -error;
		w->dead = true;
		w->error = fmt_fail(&w->where, FMT_E_IO, w->size, "sync");
	}
	return recording_blocks_sticky(w, where);
}

int
recording_writer_retry(struct recording_writer *w, struct fmt_where *where)
{
	assert(w->magic == WRITER_MAGIC && !w->closing);
	if (w->dead)
		return recording_blocks_sticky(w, where);
	w->error = 0;
	if (w->torn)
		recording_blocks_cut_back(w);
	if (w->torn) {
		errno = EIO;
		w->error = fmt_fail(&w->where, FMT_E_IO, w->size, "what a failed write left");
	} else {
		close_block(w);
	}
	return recording_blocks_sticky(w, where);
}

void
recording_writer_stats(const struct recording_writer *w, struct recording_writer_stats *ret)
{
	const uint32_t open = w->sideband.tally.records + w->samples_open.tally.records;

	*ret = (struct recording_writer_stats){
		.file_bytes = w->size,
		.blocks = w->seq,
		.records = w->records + open,
		.samples = w->samples + w->samples_open.tally.samples,
		.raw_bytes = w->raw_bytes,
		.sideband_bytes = w->sideband_bytes,
		.open_bytes = (uint32_t)recording_blocks_open(w),
		.open_records = open,
		.open_samples = w->samples_open.tally.samples,
	};
}

/* --- life -------------------------------------------------------------------------------- */

/* File header, meta, zeroes up to where the first block stands. */
static int
write_header(struct recording_writer *w)
{
	struct recording_header h = { .version = RECORDING_VERSION };
	int error;

	error = recording_meta_encode(w->meta, &w->meta_bytes);
	if (error)
		return w->error = fmt_fail(&w->where, error, 0, "meta");
	memcpy(h.file_id, w->meta->file_id, FILE_ID_BYTES);
	h.header_size = RECORDING_HEADER_BYTES;
	h.meta_length = (uint32_t)w->meta_bytes.len;
	h.meta_crc = crc32c(0, w->meta_bytes.p, w->meta_bytes.len);
	buf_zero(&w->out, RECORDING_HEADER_BYTES);
	buf_append(&w->out, w->meta_bytes.p, w->meta_bytes.len);
	buf_zero(&w->out, (size_t)recording_header_end(&h) - w->out.len);
	if (buf_failed(&w->out))
		return recording_blocks_fail_nomem(w);
	recording_header_encode(&h, w->out.p);
	return recording_blocks_bytes(w, &w->out);
}

static int
setup(struct recording_writer *w)
{
	w->zstd = ZSTD_createCCtx();
	recording_index_begin(&w->index, 0);
	if (!w->zstd || buf_failed(&w->index))
		return recording_blocks_fail_nomem(w);
	ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_compressionLevel,
			       w->options.zstd_level ? w->options.zstd_level : ZSTD_LEVEL);
	ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_checksumFlag, 1);
	if (w->options.block_bytes == 0)
		w->options.block_bytes = RECORDING_BLOCK_BYTES;
	if (w->options.block_bytes > BLOCK_RECORDS_MAX / 2)
		w->options.block_bytes = BLOCK_RECORDS_MAX / 2;
	if (w->options.index_every == 0)
		w->options.index_every = INDEX_EVERY_DEFAULT;
	if (w->options.index_every > INDEX_EVERY_MAX)
		w->options.index_every = INDEX_EVERY_MAX;
	return 0;
}

/* It is the caller's, or gone after an error. */
static int
opened(struct recording_writer *w, int error, struct recording_writer **ret,
       struct fmt_where *where)
{
	if (error) {
		recording_blocks_sticky(w, where);
		recording_writer_abandon(w);
		return error;
	}
	*ret = w;
	return 0;
}

int
recording_writer_new(struct io_sink *sink, const struct recording_meta *meta,
		     const struct recording_writer_options *options, struct recording_writer **ret,
		     struct fmt_where *where)
{
	struct recording_writer *w = calloc(1, sizeof(*w));
	int error;

	if (!w) {
		sink->close(sink);
		return fmt_fail(where, FMT_E_NOMEM, 0, "recording writer");
	}
	w->magic = WRITER_MAGIC;
	w->sink = sink;
	w->meta = meta;
	if (options)
		w->options = *options;
	error = setup(w);
	return opened(w, error, ret, where);
}

int
recording_writer_open(struct io_sink *sink, const struct recording_meta *meta,
		      const struct recording_writer_options *options, struct recording_writer **ret,
		      struct fmt_where *where)
{
	struct recording_writer *w;
	int error = recording_writer_new(sink, meta, options, &w, where);

	if (error)
		return error;
	error = write_header(w);
	if (!error)
		error = recording_blocks_meta(w);
	return opened(w, error, ret, where);
}

void
recording_writer_abandon(struct recording_writer *w)
{
	if (!w)
		return;
	assert(w->magic == WRITER_MAGIC);
	w->sink->close(w->sink);
	ZSTD_freeCCtx(w->zstd);
	columns_encoder_free(w->encoder);
	buf_done(&w->columns);
	buf_done(&w->sideband.records);
	buf_done(&w->samples_open.records);
	buf_done(&w->out);
	buf_done(&w->meta_bytes);
	buf_done(&w->index);
	w->magic = 0;
	free(w);
}

int
recording_writer_close(struct recording_writer *w, int sync, struct fmt_where *where)
{
	int error;

	assert(w->magic == WRITER_MAGIC && !w->closing);
	if (w->error && !w->dead)
		recording_writer_retry(w, NULL);
	if (!w->error)
		close_block(w);
	if (!w->error && recording_blocks_index_due(w, 1))
		recording_blocks_index(w);
	if (!w->error)
		recording_blocks_end(w);
	if (!w->error && sync)
		recording_writer_sync(w, NULL);
	error = recording_blocks_sticky(w, where);
	recording_writer_abandon(w);
	return error;
}
