/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stream_internal: what the parts of record_stream share: blocks that are given by columns
 * (stream_columns.c), the records of a block (stream_batch.c), and all in order (record_stream.c).
 */
#ifndef FORMAT_RECORDING_STREAM_INTERNAL_H
#define FORMAT_RECORDING_STREAM_INTERNAL_H

#include <linux/perf_event.h>

#include "format/columns/columns_view.h"
#include "format/recording/record_stream.h"

#define STREAM_MAGIC 0x73705353u
#define EVENT_BAD INT32_MIN	     /* of an entry whose record did not parse */
#define EVENT_SAMPLE (INT32_MIN + 1) /* of one that is a sample of the batch's columns */

struct entry {
	uint64_t time;
	uint32_t offset; /* of the record in the batch's bytes; of a sample, its number */
	int32_t event;
};

/* The records of one block, sorted, of which those from next on have not been handed out. */
struct batch {
	struct batch *spare;
	uint64_t order; /* of the block in the file */
	bool state;
	uint8_t *bytes;
	size_t len, cap;
	struct entry *entries;
	size_t nr, next, entries_cap;
	/* Of a block by columns: its samples, which are entries only once they have been settled. */
	struct columns_view *view; /* NULL: none */
	struct stream_columns columns;
	struct stream_source *sources;
	bool *in_order;
	struct mark *marks; /* its records, in the order of the block */
	size_t nr_marks, marks_cap;
	uint64_t t_min, t_max; /* of its samples */
	bool together;	       /* they are still to be given */
	bool cut;	       /* the window has not all of them */
};

/* Where a record stands among the samples of its block. */
struct mark {
	uint32_t offset;
	size_t before; /* so many samples */
};

struct record_stream {
	uint32_t magic;
	struct recording_reader *reader;
	uint64_t from, until;
	struct stream_slice *slices; /* of that; none: all of it */
	size_t nr_slices;
	bool reads;   /* record_stream_reads() */
	bool skipped; /* a block before the window was passed over */
	void (*on_block)(void *arg, const struct block *block);
	void *on_block_arg;

	struct batch **heap; /* the batch with the oldest record first */
	size_t nr_heap, heap_cap;
	struct batch *spares;
	size_t nr_spares;
	struct batch *done; /* handed out to the end, but its last record is still borrowed */
	size_t held;	    /* bytes that all batches in the heap take */
	size_t held_max;
	bool by_columns;
	uint64_t order, complete;
	bool begun, ended;
	int error; /* what ended it; told when the heap is empty */
	struct fmt_where where;

	struct entry *scratch; /* for sorting */
	size_t scratch_cap;
	struct entry *side; /* for merging */
	size_t side_cap;
	/* What stream_columns_settle() collects: pids; tid << 32 | pid. */
	struct stream_words {
		uint64_t *v;
		size_t nr, cap;
	} processes, threads;
	uint64_t looks_left; /* at records, for that */
	record_stream_owner_fn *owner;
	void *owner_arg;
	size_t *runs;
	size_t runs_cap;

	struct perf_record record;
	struct record_stream_stats stats;
	struct loss *loss;	/* since the file began */
	struct loss *before;	/* as it was before the window; NULL: nothing */
	struct loss *within;	/* the difference; NULL: before is */
	bool loss_news;		/* came after before */
	uint64_t loss_complete; /* of the last LOSS block */
	struct gap_list gaps;
};

static inline const struct event_set *
stream_events(const struct record_stream *s)
{
	return recording_reader_meta(s->reader)->events;
}

/* Is a sample of this time inside a slice? */
static inline bool
stream_has_slice(const struct record_stream *s, uint64_t time_ns)
{
	for (size_t i = 0; i < s->nr_slices; i++)
		if (time_ns >= s->slices[i].from_ns &&
		    (time_ns < s->slices[i].until_ns || s->slices[i].until_ns == UINT64_MAX))
			return true;
	return false;
}

/* Inside the window, and of that a slice? */
static inline bool
stream_has(const struct record_stream *s, uint64_t time_ns)
{
	return time_ns >= s->from && (time_ns < s->until || s->until == UINT64_MAX) &&
		(s->nr_slices == 0 || stream_has_slice(s, time_ns));
}

/* Is this record one that the stream gives? */
static inline bool
stream_wants(const struct record_stream *s, const struct perf_record *r)
{
	if (r->type == REC_SAMPLE && !(s->reads && r->sample.have & PERF_SAMPLE_READ))
		return stream_has(s, r->sid.time);
	return r->sid.time < s->until || s->until == UINT64_MAX;
}

/* --- stream_batch.c --- */

/* An empty one, used or new; NULL: out of memory. */
struct batch *stream_batch_get(struct record_stream *s);
/* To be used again; NULL: nothing. */
void stream_batch_recycle(struct record_stream *s, struct batch *b);
void stream_batch_free(struct batch *b);
/* Its samples by columns, and what was made of them. */
void stream_batch_drop_columns(struct batch *b);
/* One more entry. 0, -FMT_E_NOMEM. */
int stream_batch_enter(struct batch *b, uint64_t time, size_t offset, int32_t event);
/* Sorts a batch's entries by time; ties keep their order. 0, -FMT_E_NOMEM. */
int stream_batch_sort(struct record_stream *s, struct batch *b);

/* --- stream_columns.c --- */

/*
 * Takes a block by columns: 1; 0: its samples are of shapes that only records show; -FMT_E_NOMEM,
 * -FMT_E_CORRUPT. What it did to b is undone by stream_batch_drop_columns().
 */
int stream_columns_take(struct record_stream *s, struct batch *b, const struct block *block);
/* It came into the heap: so many more records may be looked at in order to settle others. */
void stream_columns_pay(struct record_stream *s, const struct batch *b);
/*
 * Nothing older than its first sample is still to be given, and what may come will be younger than
 * its last one (or !complete): decides which of them are given together, and makes entries of the
 * others. 0, -FMT_E_NOMEM.
 */
int stream_columns_settle(struct record_stream *s, struct batch *b, bool complete);

#endif
