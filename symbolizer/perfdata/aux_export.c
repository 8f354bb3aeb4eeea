/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/perfdata/aux_export.h"

#include "format/block/aux_trace.h"
#include "format/record/perf_record.h"

#define INFO_HEAD_BYTES 16
#define TIME_CONV_BYTES 56
#define AUXTRACE_BYTES 48

static bool
is_aux(const struct block_header *h, void *arg)
{
	(void)arg;
	return h->type == BLOCK_AUX;
}

static void
put_header(struct buf *out, enum perfdata_record_type type, size_t bytes)
{
	buf_u32(out, type);
	buf_u16(out, 0);
	buf_u16(out, (uint16_t)bytes);
}

_Static_assert(INFO_HEAD_BYTES + AUX_TRACE_WORDS_MAX * 8 <= UINT16_MAX, "a record holds the words");

static void
put_about(struct buf *out, const struct aux_trace *about)
{
	put_header(out, PERFDATA_AUXTRACE_INFO, INFO_HEAD_BYTES + about->words.len);
	buf_u32(out, about->tracer);
	buf_u32(out, 0);
	buf_append(out, about->words.p, about->words.len);
	if (!about->time_mult)
		return;
	put_header(out, PERFDATA_TIME_CONV, TIME_CONV_BYTES);
	buf_u64(out, about->time_shift);
	buf_u64(out, about->time_mult);
	buf_u64(out, about->time_zero);
	/* Of a clock of fewer bits than 64: cycles and mask; cap_user_time_zero; no such clock. */
	buf_u64(out, 0);
	buf_u64(out, 0);
	buf_u8(out, 1);
	buf_zero(out, 7);
}

/* perf wants whole words. What a trace ends in is padded: zeroes are padding in every trace. */
static void
put_piece(struct buf *out, const struct aux_piece *p)
{
	put_header(out, PERFDATA_AUXTRACE, AUXTRACE_BYTES);
	buf_u64(out, p->bytes.len + (-p->bytes.len & 7));
	buf_u64(out, p->offset);
	buf_u64(out, 0); /* reference: the decoder's, of traces that overlap */
	buf_u32(out, p->ring);
	buf_u32(out, p->tid);
	buf_u32(out, p->cpu);
	buf_u32(out, 0);
	buf_append(out, p->bytes.p, p->bytes.len);
	buf_zero(out, -p->bytes.len & 7);
}

static int
aux_export_flush(struct buf *out, struct perfdata_writer *w, struct fmt_where *where)
{
	if (buf_failed(out))
		return fmt_fail(where, FMT_E_NOMEM, 0, "AUX data");
	return perfdata_writer_records(w, buf_span(out), where);
}

/* What is damaged inside a good block is as far as it goes. */
static int
write_block(struct aux_export *x, struct span payload, struct perfdata_writer *w,
	    struct fmt_where *where)
{
	struct aux_trace about;
	struct aux_piece piece;
	struct buf out;
	int error = 0;

	if (aux_trace_read(&payload, &about) != 0)
		return 0;
	if (x->told && x->tracer != about.tracer) {
		x->others++;
		return 0;
	}
	buf_init(&out);
	if (!x->told)
		put_about(&out, &about);
	x->told = true;
	x->tracer = about.tracer;
	while (!error && aux_trace_next(&payload, &piece) > 0) {
		put_piece(&out, &piece);
		error = aux_export_flush(&out, w, where);
		buf_clear(&out);
		x->pieces++;
	}
	if (!error && out.len > 0)
		error = aux_export_flush(&out, w, where);
	buf_done(&out);
	return error;
}

int
aux_export_write(struct aux_export *x, struct recording_reader *reader, struct perfdata_writer *w,
		 struct fmt_where *where)
{
	struct block block;
	int error = 0, result = 0;

	recording_reader_rewind(reader);
	while (!error && (result = recording_reader_next(reader, is_aux, NULL, &block, where)) > 0)
		error = write_block(x, block.payload, w, where);
	recording_reader_rewind(reader);
	return error ? error : result;
}
