/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * aux_trace: payload of an AUX block: what a tracer of a CPU (Intel PT, Arm SPE...) wrote into its
 * AUX area, byte for byte, and what a decoder has to be told of that machine.
 *
 *   u32 tracer, u32 time_shift, u32 time_mult, u32 count, u64 time_zero, count x u64 word; then, to
 *   the end, { u32 ring, u32 cpu, u32 tid, u32 flags, u64 offset, u64 length, bytes padded to 8 }.
 *
 * Each block has all of it, so that one that is lost takes no other with it. Nothing here looks into
 * the bytes: decoders are perf's.
 */
#ifndef FORMAT_BLOCK_AUX_TRACE_H
#define FORMAT_BLOCK_AUX_TRACE_H

#include <stdint.h>

#include "format/bytes/buf.h"
#include "format/bytes/fmt_error.h"
#include "format/bytes/span.h"

/* number, which is that of perf's AUXTRACE_INFO; name in code, name for people */
#define AUX_TRACERS(X)                                                                             \
	X(1, INTEL_PT, "Intel PT")                                                                 \
	X(2, INTEL_BTS, "Intel BTS")                                                               \
	X(3, CS_ETM, "Arm CoreSight")                                                              \
	X(4, ARM_SPE, "Arm SPE")                                                                   \
	X(6, HISI_PTT, "HiSilicon PTT")

enum aux_tracer {
#define X(number, name, text) AUX_TRACER_##name = number,
	AUX_TRACERS(X)
#undef X
};

#define AUX_TRACE_WORDS_MAX 8189 /* of what a decoder is told: as many as its record has room for */
#define AUX_TRACE_ANY UINT32_MAX /* a piece's cpu or tid: not of one */

/* See spoor-recording(5). */
#define AUX_PIECE_SNAPSHOT 1u /* of an area that is written over */
#define AUX_PIECE_MORE 2u     /* it was read together with the next one of its ring */

/* What a decoder is told: the private words of perf's AUXTRACE_INFO, and the clock of the trace. */
struct aux_trace {
	uint32_t tracer;
	/* As in struct perf_event_mmap_page, to the clock of the records; time_mult 0: not known. */
	uint32_t time_shift, time_mult;
	uint64_t time_zero;
	struct span words; /* u64, little-endian */
};

struct aux_piece {
	uint32_t ring; /* pieces of one are one stream, by their offsets */
	uint32_t cpu, tid;
	uint32_t flags;
	uint64_t offset; /* in all that the tracer wrote into this ring */
	struct span bytes;
};

/* Begins a payload anew. */
void aux_trace_begin(struct buf *out, const struct aux_trace *about);
void aux_trace_add(struct buf *out, const struct aux_piece *piece);

/* Takes what a payload begins with off it. 0, -FMT_E_TRUNCATED, -FMT_E_TOO_BIG (words). */
int aux_trace_read(struct span *payload, struct aux_trace *ret);
/* Takes the next piece off: 1, 0 at the end, -FMT_E_TRUNCATED. */
int aux_trace_next(struct span *payload, struct aux_piece *ret);

/* "Intel PT"; NULL: none that is known. */
const char *aux_tracer_name(uint32_t tracer);

#endif
