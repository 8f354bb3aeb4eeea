/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/block/aux_trace.h"

void
aux_trace_begin(struct buf *out, const struct aux_trace *about)
{
	buf_clear(out);
	buf_u32(out, about->tracer);
	buf_u32(out, about->time_shift);
	buf_u32(out, about->time_mult);
	buf_u32(out, (uint32_t)(about->words.len / 8));
	buf_u64(out, about->time_zero);
	buf_append(out, about->words.p, about->words.len / 8 * 8);
}

void
aux_trace_add(struct buf *out, const struct aux_piece *piece)
{
	buf_u32(out, piece->ring);
	buf_u32(out, piece->cpu);
	buf_u32(out, piece->tid);
	buf_u32(out, piece->flags);
	buf_u64(out, piece->offset);
	buf_u64(out, piece->bytes.len);
	buf_append(out, piece->bytes.p, piece->bytes.len);
	buf_zero(out, -piece->bytes.len & 7);
}

int
aux_trace_read(struct span *payload, struct aux_trace *ret)
{
	struct aux_trace t;
	uint32_t count;

	if (!span_u32(payload, &t.tracer) || !span_u32(payload, &t.time_shift) ||
	    !span_u32(payload, &t.time_mult) || !span_u32(payload, &count) ||
	    !span_u64(payload, &t.time_zero))
		return -FMT_E_TRUNCATED;
	if (count > AUX_TRACE_WORDS_MAX)
		return -FMT_E_TOO_BIG;
	if (!span_take(payload, (size_t)count * 8, &t.words))
		return -FMT_E_TRUNCATED;
	*ret = t;
	return 0;
}

int
aux_trace_next(struct span *payload, struct aux_piece *ret)
{
	struct aux_piece p;
	struct span pad;
	uint64_t length;

	if (payload->len == 0)
		return 0;
	if (!span_u32(payload, &p.ring) || !span_u32(payload, &p.cpu) ||
	    !span_u32(payload, &p.tid) || !span_u32(payload, &p.flags) ||
	    !span_u64(payload, &p.offset) || !span_u64(payload, &length) || length > payload->len)
		return -FMT_E_TRUNCATED;
	if (!span_take(payload, (size_t)length, &p.bytes) ||
	    !span_take(payload, -(size_t)length & 7, &pad))
		return -FMT_E_TRUNCATED;
	*ret = p;
	return 1;
}

const char *
aux_tracer_name(uint32_t tracer)
{
	switch (tracer) {
#define X(number, name, text)                                                                      \
	case number:                                                                               \
		return text;
		AUX_TRACERS(X)
#undef X
	}
	return NULL;
}
