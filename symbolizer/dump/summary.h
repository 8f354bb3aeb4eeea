/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * summary: what a recording has, counted in one pass over its blocks: what `spoor info`
 * prints. Needs no order, so that it holds one block at a time.
 */
#ifndef SYMBOLIZER_DUMP_SUMMARY_H
#define SYMBOLIZER_DUMP_SUMMARY_H

#include <stdint.h>

#include "format/block/gap.h"
#include "format/block/loss.h"
#include "format/block/rate.h"
#include "format/block/unwind_stops.h"
#include "format/perfdata/perfdata_header.h"
#include "format/record/read_counts.h"
#include "format/recording/recording_reader.h"

#define SUMMARY_BLOCK_TYPES 17 /* BLOCK_* are 1..16 */
#define SUMMARY_TOOL_TYPES (PERFDATA_RECORD_END - REC_USER_FIRST)

struct summary_blocks {
	uint64_t blocks, raw_bytes, stored_bytes; /* headers included */
};

struct summary {
	uint64_t records, samples;
	uint64_t exact_samples; /* whose address is that of the event, and not one behind it */
	uint64_t throttled_ns;	/* of all events together, see throttle_times.h */
	uint64_t state_records; /* synthesized by the recorder; not among records */
	uint64_t bad_records;
	uint64_t by_type[REC_KERNEL_MAX];
	uint64_t other_types; /* records of types that have no name here */
	/* Of perf's tools, of an imported perf.data: by type from REC_USER_FIRST on. */
	uint64_t tool_records[SUMMARY_TOOL_TYPES];
	uint64_t other_tool_records;
	bool from_pipe;		    /* sections of perf.data's header came as records */
	uint64_t first_ns, last_ns; /* of samples; of all records when there are none; or 0 */
	uint64_t *event_samples;    /* by index in the meta's events */
	size_t nr_events;
	struct read_counts counts; /* of READ records, by event */
	struct summary_blocks by_block[SUMMARY_BLOCK_TYPES];
	uint64_t kernel_symbols, build_ids, jit_symbols;
	uint64_t packed_objects;	/* OBJECT blocks: files that were packed */
	uint64_t aux_pieces, aux_bytes; /* of the AUX area, as a tracer wrote them */
	uint32_t aux_tracer;		/* of the first of them (aux_trace.h) */
	struct loss *loss;
	struct gap_list gaps;
	struct rate_list rates;
	struct unwind_stops stops; /* of stacks that were unwound while it was recorded */
};

/* Rewinds the reader and reads all of it. 0, or what recording_reader_next() says. */
int summary_read(struct recording_reader *r, struct summary *ret, struct fmt_where *where);
void summary_done(struct summary *s);

#endif
