/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/perfdata/aux_export.h"

#include <string.h>

#include "format/block/aux_trace.h"
#include "format/record/perf_record.h"

#define INFO_HEAD_BYTES 16
#define TIME_CONV_BYTES 56
#define AUXTRACE_BYTES 48
#define RUNS_MAX 64
#define GATHERED_MAX (64u << 20) /* of what was read together: more goes out as it is */
#define SLICE (64u << 10)

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

static int
no_memory(struct fmt_where *where)
{
	return fmt_fail(where, FMT_E_NOMEM, 0, "AUX data");
}

_Static_assert(INFO_HEAD_BYTES + AUX_TRACE_WORDS_MAX * 8 <= UINT16_MAX, "a record holds the words");

static void
put_about(struct buf *out, const struct aux_trace *about)
{
	put_header(out, PERFDATA_AUXTRACE_INFO, INFO_HEAD_BYTES + about->words.len);
	buf_u32(out, about->tracer);
	buf_u32(out, 0);
	buf_append(out, about->words.p, about->words.len);
}

static void
put_clock(struct buf *out, const struct aux_trace *about)
{
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

/*
 * perf wants whole words. What a trace ends in is padded: zeroes are padding in every trace. By the reference it tells
 * records apart when it dumps them; that it is a time, too, matters to no decoder that has better ones.
 */
static int
write_piece(struct aux_export *x, const struct aux_piece *p, struct perfdata_writer *w,
	    struct fmt_where *where)
{
	static const uint8_t pad[8];
	struct span bytes = p->bytes, slice;
	struct buf out;
	int error;

	buf_init(&out);
	put_header(&out, PERFDATA_AUXTRACE, AUXTRACE_BYTES);
	buf_u64(&out, bytes.len + (-bytes.len & 7));
	buf_u64(&out, p->offset);
	buf_u64(&out, ++x->pieces);
	buf_u32(&out, p->ring);
	buf_u32(&out, p->tid);
	buf_u32(&out, p->cpu);
	buf_u32(&out, 0);
	error = buf_failed(&out) ? no_memory(where)
				 : perfdata_writer_trace(w, buf_span(&out), where);
	buf_done(&out);
	/* In slices, of which the writer makes copies. */
	while (!error && span_take(&bytes, bytes.len < SLICE ? bytes.len : SLICE, &slice) &&
	       slice.len)
		error = perfdata_writer_records(w, slice, where);
	return error ? error : perfdata_writer_records(w, span_of(pad, -p->bytes.len & 7), where);
}

/* Those of one ring that were read together, until the last of them comes. */
struct run {
	struct aux_piece first; /* its bytes are not looked at */
	struct buf bytes;
};

struct gathering {
	struct aux_export *x;
	struct perfdata_writer *w;
	struct run runs[RUNS_MAX]; /* the oldest first */
	size_t nr, bytes;	   /* of all of them */
};

static int
end_run(struct gathering *g, struct run *r, struct fmt_where *where)
{
	struct run run = *r;
	int error;

	memmove(r, r + 1, (size_t)(g->runs + --g->nr - r) * sizeof(*r));
	g->bytes -= run.bytes.len;
	run.first.bytes = buf_span(&run.bytes);
	error = write_piece(g->x, &run.first, g->w, where);
	buf_done(&run.bytes);
	return error;
}

/* NULL: there is none. */
static struct run *
run_of(struct gathering *g, uint32_t ring)
{
	for (size_t i = 0; i < g->nr; i++)
		if (g->runs[i].first.ring == ring)
			return &g->runs[i];
	return NULL;
}

static bool
goes_on(const struct run *r, const struct aux_piece *p)
{
	return r->first.cpu == p->cpu && r->first.tid == p->tid &&
		r->first.offset + r->bytes.len == p->offset;
}

/* As long as a queue has room, one ring is read after another: few runs have others between their pieces. */
static int
begin_run(struct gathering *g, const struct aux_piece *p, struct fmt_where *where)
{
	int error = g->nr == RUNS_MAX ? end_run(g, &g->runs[0], where) : 0;

	g->runs[g->nr] = (struct run){ .first = *p };
	buf_init(&g->runs[g->nr++].bytes);
	return error;
}

/*
 * A decoder of CoreSight begins anew with each AUXTRACE record, and finds the trace of an AUX record in one of
 * them alone: what was read together goes out together.
 */
static int
gather(struct gathering *g, const struct aux_piece *p, struct fmt_where *where)
{
	struct run *r = run_of(g, p->ring);
	int error = 0;

	if (r && !goes_on(r, p)) {
		error = end_run(g, r, where);
		r = NULL;
	}
	if (!error && !r && !(p->flags & AUX_PIECE_MORE))
		return write_piece(g->x, p, g->w, where);
	if (!error && !r)
		error = begin_run(g, p, where);
	if (error)
		return error;
	r = run_of(g, p->ring);
	buf_append(&r->bytes, p->bytes.p, p->bytes.len);
	if (buf_failed(&r->bytes))
		return no_memory(where);
	g->bytes += p->bytes.len;
	return p->flags & AUX_PIECE_MORE && g->bytes < GATHERED_MAX ? 0 : end_run(g, r, where);
}

/* perf's decoders take the clock as it is known when they learn what there is to decode. */
static int
tell_about(struct aux_export *x, const struct aux_trace *about, struct perfdata_writer *w,
	   struct fmt_where *where)
{
	struct buf out;
	int error;

	if (x->told)
		return 0;
	x->told = true;
	x->tracer = about->tracer;
	buf_init(&out);
	put_clock(&out, about);
	put_about(&out, about);
	error = buf_failed(&out) ? no_memory(where)
				 : perfdata_writer_records(w, buf_span(&out), where);
	buf_done(&out);
	return error;
}

/* What is damaged inside a good block is as far as it goes. */
static int
write_block(struct gathering *g, struct span payload, struct fmt_where *where)
{
	struct aux_trace about;
	struct aux_piece piece;
	int error;

	if (aux_trace_read(&payload, &about) != 0)
		return 0;
	if (g->x->told && g->x->tracer != about.tracer) {
		g->x->others++;
		return 0;
	}
	error = tell_about(g->x, &about, g->w, where);
	while (!error && aux_trace_next(&payload, &piece) > 0)
		error = gather(g, &piece, where);
	return error;
}

int
aux_export_write(struct aux_export *x, struct recording_reader *reader, struct perfdata_writer *w,
		 struct fmt_where *where)
{
	struct gathering g = { .x = x, .w = w };
	struct block block;
	int error = 0, result = 0;

	recording_reader_rewind(reader);
	while (!error && (result = recording_reader_next(reader, is_aux, NULL, &block, where)) > 0)
		error = write_block(&g, block.payload, where);
	while (!error && g.nr)
		error = end_run(&g, &g.runs[0], where);
	while (g.nr)
		buf_done(&g.runs[--g.nr].bytes);
	recording_reader_rewind(reader);
	return error ? error : result;
}
