/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record_stream: the records of a recording in time order, parsed.
 *
 * Merges the blocks: each block says up to which instant everything is complete
 * (block_header.complete), so records older than that can be handed out when the block has
 * been read, and only the younger ones are held back. Memory is bounded by the records of
 * the blocks that overlap, and by RECORD_STREAM_HELD_MAX: a file that promises nothing is
 * then handed out in the best order that this leaves. Ties keep the order of the file.
 * Records without a time come first, when their block does (STATE blocks are timed by the
 * snapshot). Blocks that are not records (KSYMS, BUILDIDS, LOSS, GAP, RATE, FOREIGN) go to a
 * callback as they come.
 */
#ifndef FORMAT_RECORDING_RECORD_STREAM_H
#define FORMAT_RECORDING_RECORD_STREAM_H

#include "format/block/gap.h"
#include "format/block/loss.h"
#include "format/record/perf_record.h"
#include "format/recording/recording_reader.h"

#define RECORD_STREAM_HELD_MAX (256u << 20)

struct columns_view;
struct record_stream;

struct record_stream_stats {
	uint64_t records; /* handed out, all types, without STATE ones */
	uint64_t samples;
	uint64_t first_ns, last_ns; /* times of the first and the last one, when there are any */
	uint64_t bad_records;	    /* that no event could parse: skipped */
	uint64_t by_type[REC_KERNEL_MAX]; /* without STATE ones */
	uint64_t state_records;
};

/* reader is borrowed for the stream's life and rewound. 0, -FMT_E_NOMEM. */
int record_stream_open(struct recording_reader *reader, struct record_stream **ret);
void record_stream_close(struct record_stream *s);

/*
 * Only blocks and records that can matter to [from, until) ns: samples outside it are left
 * out, side-band before it is still given (it says who was who). The blocks are sought by the
 * file's indexes. Call before the first next.
 */
void record_stream_window(struct record_stream *s, uint64_t from_ns, uint64_t until_ns);

/*
 * Of the window only samples inside one of n slices [from_ns, until_ns), which are copied; n 0: all.
 * Call before the first next. 0, -FMT_E_NOMEM.
 */
struct stream_slice {
	uint64_t from_ns, until_ns; /* UINT64_MAX: without an end */
};
int record_stream_slices(struct record_stream *s, const struct stream_slice *slices, size_t n);

/* Is a time inside the window, and of that inside a slice? For who is given records of other kinds. */
bool record_stream_has(const struct record_stream *s, uint64_t time_ns);

/*
 * Samples with counts (PERF_SAMPLE_READ) are given also where they are outside of the window, as
 * far as their block is read: those counts that come next begin there. They are marked, and not in
 * the statistics. Call before the first next.
 */
void record_stream_reads(struct record_stream *s);
/*
 * Have all samples of what was turned on at this time been given? Not when that was before the file,
 * nor once a block was passed over because it is before the window.
 */
bool record_stream_counts_begin(const struct record_stream *s, uint64_t time_ns);

/*
 * Another bound than RECORD_STREAM_HELD_MAX, for whoever reads several side by side. Call before
 * the first next.
 */
void record_stream_hold(struct record_stream *s, size_t bytes);

/* What the samples of one source of a columns_view have in common. */
struct stream_source {
	int event; /* index in record_stream_events() */
	uint32_t cpu;
	bool by_value;	 /* the period is the value of each sample */
	uint64_t period; /* else this */
	bool has_cgroup; /* the extra of its tasks */
};

/* The samples of a block, as record_stream_columns() has them given. */
struct stream_columns {
	const struct columns_view *view;
	const struct stream_source *sources; /* by number, as the view's */
	const bool *in_order;		     /* by task: see there */
	uint64_t first_ns;		     /* nothing of the block that is given is older */
};
#define STREAM_TOGETHER SIZE_MAX

struct stream_record {
	const struct perf_record *record; /* valid until the next call */
	int event;			  /* index in record_stream_events(); -1 none */
	bool state;			  /* from a STATE block: synthesized by the recorder */
	bool outside;	 /* a sample outside of the window: see record_stream_reads() */
	struct span bad; /* record == NULL: bytes that did not parse */
	/* record == NULL: a sample of these, by its number; STREAM_TOGETHER: see below. */
	const struct stream_columns *columns;
	size_t sample;
};

/*
 * 1, 0 at the end, negative as recording_reader_next(); an error comes after the records of
 * all blocks before it.
 */
int record_stream_next(struct record_stream *s, struct stream_record *ret, struct fmt_where *where);

/*
 * From now on the samples of blocks by columns are given as they are kept, and not as records, as
 * far as their shapes allow that. With STREAM_TOGETHER all those of one block at once, whose task
 * is not in_order: no record that changes what is so for their task (a map, a name, its beginning
 * or end) has a time between the first and the last sample of the block. Those of the other tasks
 * come one by one, in their order. owner(arg, tid), which may be NULL, says whose thread that is
 * as far as the records given so far tell: its pid, UINT32_MAX: nobody's. Call before the first
 * next.
 */
typedef uint32_t record_stream_owner_fn(void *arg, uint32_t tid);
void record_stream_columns(struct record_stream *s, record_stream_owner_fn *owner, void *arg);

/* on_block(arg, block) sees every KSYMS, BUILDIDS, LOSS, GAP, RATE, JIT, STACKS and FOREIGN block. */
void record_stream_on_block(struct record_stream *s,
			    void (*on_block)(void *arg, const struct block *block), void *arg);

/*
 * The events that stream_record.event counts in, as of the last next: a META block may have
 * added some. Borrowed, for the reader's life.
 */
const struct event_set *record_stream_events(const struct record_stream *s);
/* As the reader has it. */
const struct recording_meta *record_stream_meta(const struct record_stream *s);

const struct record_stream_stats *record_stream_stats(const struct record_stream *s);
/*
 * The ledger as of the last LOSS block read; of a window, what was lost from the last block that
 * ends before it.
 */
const struct loss *record_stream_loss(const struct record_stream *s);
/* The gaps of all GAP blocks read; at the end, of a window, those that reach into it. */
const struct gap_list *record_stream_gaps(const struct record_stream *s);

#endif
