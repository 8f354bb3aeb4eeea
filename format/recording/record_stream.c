/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/recording/record_stream.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes/array.h"
#include "format/columns/columns.h"
#include "format/recording/stream_internal.h"

int
record_stream_open(struct recording_reader *reader, struct record_stream **ret)
{
	struct record_stream *s = calloc(1, sizeof(*s));

	if (!s)
		return -FMT_E_NOMEM;
	s->magic = STREAM_MAGIC;
	s->reader = reader;
	s->until = UINT64_MAX;
	s->held_max = RECORD_STREAM_HELD_MAX;
	s->loss = loss_new();
	if (!s->loss) {
		free(s);
		return -FMT_E_NOMEM;
	}
	recording_reader_rewind(reader);
	*ret = s;
	return 0;
}

void
record_stream_close(struct record_stream *s)
{
	struct batch *b;

	if (!s)
		return;
	assert(s->magic == STREAM_MAGIC);
	recording_reader_keep_columns(s->reader, false);
	for (size_t i = 0; i < s->nr_heap; i++)
		stream_batch_free(s->heap[i]);
	while ((b = s->spares)) {
		s->spares = b->spare;
		stream_batch_free(b);
	}
	stream_batch_free(s->done);
	free(s->heap);
	free(s->scratch);
	free(s->side);
	free(s->processes.v);
	free(s->threads.v);
	free(s->runs);
	free(s->slices);
	loss_free(s->loss);
	loss_free(s->before);
	loss_free(s->within);
	gap_list_done(&s->gaps);
	s->magic = 0;
	free(s);
}

void
record_stream_columns(struct record_stream *s, record_stream_owner_fn *owner, void *arg)
{
	s->by_columns = true;
	s->owner = owner;
	s->owner_arg = arg;
	recording_reader_keep_columns(s->reader, true);
}

void
record_stream_window(struct record_stream *s, uint64_t from_ns, uint64_t until_ns)
{
	s->from = from_ns;
	s->until = until_ns;
}

bool
record_stream_has(const struct record_stream *s, uint64_t time_ns)
{
	return stream_has(s, time_ns);
}

int
record_stream_slices(struct record_stream *s, const struct stream_slice *slices, size_t n)
{
	struct stream_slice *v = n > 0 ? reallocarray(NULL, n, sizeof(*v)) : NULL;

	if (n > 0 && !v)
		return -FMT_E_NOMEM;
	if (n > 0)
		memcpy(v, slices, n * sizeof(*v));
	free(s->slices);
	s->slices = v;
	s->nr_slices = n;
	return 0;
}

void
record_stream_hold(struct record_stream *s, size_t bytes)
{
	s->held_max = bytes;
}

void
record_stream_on_block(struct record_stream *s,
		       void (*on_block)(void *arg, const struct block *block), void *arg)
{
	s->on_block = on_block;
	s->on_block_arg = arg;
}

const struct event_set *
record_stream_events(const struct record_stream *s)
{
	return stream_events(s);
}

void
record_stream_reads(struct record_stream *s)
{
	s->reads = true;
}

bool
record_stream_counts_begin(const struct record_stream *s, uint64_t time_ns)
{
	return !s->skipped && time_ns >= recording_reader_meta(s->reader)->start.monotonic;
}

const struct recording_meta *
record_stream_meta(const struct record_stream *s)
{
	return recording_reader_meta(s->reader);
}

const struct record_stream_stats *
record_stream_stats(const struct record_stream *s)
{
	return &s->stats;
}

const struct loss *
record_stream_loss(const struct record_stream *s)
{
	return s->before ? s->within : s->loss;
}

const struct gap_list *
record_stream_gaps(const struct record_stream *s)
{
	return &s->gaps;
}

/* --- the heap ---------------------------------------------------------------------------- */

/* Are its samples to be given together now, before its next record? */
static bool
is_together(const struct batch *b)
{
	return b->together && (b->next == b->nr || b->t_min <= b->entries[b->next].time);
}

static uint64_t
time_of(const struct batch *b)
{
	return is_together(b) ? b->t_min : b->entries[b->next].time;
}

static bool
older(const struct batch *a, const struct batch *b)
{
	uint64_t ta = time_of(a), tb = time_of(b);

	return ta != tb ? ta < tb : a->order < b->order;
}

static void
sift_down(struct record_stream *s)
{
	struct batch *b = s->heap[0];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < s->nr_heap) {
		if (child + 1 < s->nr_heap && older(s->heap[child + 1], s->heap[child]))
			child++;
		if (!older(s->heap[child], b))
			break;
		s->heap[i] = s->heap[child];
		i = child;
	}
	s->heap[i] = b;
}

static size_t
batch_bytes(const struct batch *b)
{
	/* What it takes, and not what it uses: of one record that is fifty times as much. */
	return sizeof(*b) + b->cap + b->entries_cap * sizeof(*b->entries) +
		b->marks_cap * sizeof(*b->marks) + (b->view ? columns_view_bytes(b->view) : 0);
}

static int
heap_push(struct record_stream *s, struct batch *b)
{
	size_t i = s->nr_heap;

	if (array_reserve(s->heap, 0, s->heap_cap, s->nr_heap + 1) != 0)
		return -FMT_E_NOMEM;
	for (; i > 0 && older(b, s->heap[(i - 1) / 2]); i = (i - 1) / 2)
		s->heap[i] = s->heap[(i - 1) / 2];
	s->heap[i] = b;
	s->nr_heap++;
	s->held += batch_bytes(b);
	return 0;
}

/* --- blocks ------------------------------------------------------------------------------ */

/* Takes the records of b->bytes apart far enough to know their order. */
static int
index_batch(struct record_stream *s, struct batch *b)
{
	const struct event_set *events = record_stream_events(s);
	struct span rest = span_of(b->bytes, b->len), record;
	uint64_t time = 0;
	int event, more, error = 0;

	while (!error && (more = perf_record_next(&rest, &record)) > 0) {
		size_t offset = (size_t)(record.p - b->bytes);

		if (event_set_parse(events, record, &s->record, &event) != 0) {
			/* With its neighbour: a time that it does not have would tear a run. */
			error = stream_batch_enter(b, time, offset, EVENT_BAD);
		} else if (b->state || stream_wants(s, &s->record)) {
			time = s->record.sid.time;
			error = stream_batch_enter(b, time, offset, event);
		}
	}
	/* Bytes after a record with a wrong size: one bad record, as far as anyone can know. */
	if (!error && rest.len > 0)
		error = stream_batch_enter(b, time, b->len - rest.len, EVENT_BAD);
	return error;
}

/* The records of a block, which the batch has then. */
static int
take_bytes(struct record_stream *s, struct batch *b, struct span records)
{
	int error = array_reserve(b->bytes, 0, b->cap, records.len);

	if (error || records.len == 0)
		return error;
	memcpy(b->bytes, records.p, records.len);
	b->len = records.len;
	return index_batch(s, b);
}

/* 0 also when it is damaged, which is said then. */
static int
take_columns(struct record_stream *s, struct batch *b, const struct block *block)
{
	struct buf records;
	int error = stream_columns_take(s, b, block);

	if (error == -FMT_E_NOMEM || error > 0)
		return error < 0 ? error : 0;
	stream_batch_drop_columns(b);
	b->len = b->nr = b->nr_marks = 0;
	buf_init(&records);
	if (!error)
		error = columns_decode(block->payload, block->header.records, BLOCK_RECORDS_MAX,
				       &records, NULL);
	if (!error)
		error = take_bytes(s, b, buf_span(&records));
	buf_done(&records);
	if (error && error != -FMT_E_NOMEM) {
		recording_reader_refuse(s->reader, block);
		error = 0;
	}
	return error;
}

static int
take_records(struct record_stream *s, const struct block *block)
{
	struct batch *b = stream_batch_get(s);
	bool columns = s->by_columns && block->header.encoding == BLOCK_COLUMNAR;
	int error;

	if (!b)
		return -FMT_E_NOMEM;
	b->state = block->header.type == BLOCK_STATE;
	b->order = s->order++;
	error = columns ? take_columns(s, b, block) : take_bytes(s, b, block->payload);
	if (!error && b->nr > 0)
		error = stream_batch_sort(s, b);
	stream_columns_pay(s, b);
	if (!error && (b->nr > 0 || b->together))
		error = heap_push(s, b);
	if (error || (b->nr == 0 && !b->together))
		stream_batch_recycle(s, b);
	if (block->header.complete > s->complete)
		s->complete = block->header.complete;
	return error;
}

/*
 * What stands behind the block that completes the window is nothing to it; but FOREIGN tells
 * of the whole file, wherever it stands.
 */
static bool
want_block(const struct block_header *h, void *arg)
{
	struct record_stream *s = arg;
	bool behind = h->complete >= s->until && s->until != UINT64_MAX, wanted;

	switch (h->type) {
	case BLOCK_FOREIGN:
		return true;
	case BLOCK_STATE:
	case BLOCK_KSYMS:
	case BLOCK_BUILDIDS:
	case BLOCK_LOSS:
	case BLOCK_GAP:
	case BLOCK_RATE:
	case BLOCK_STACKS:
	case BLOCK_JIT: /* so that its damage is told; who needs the names reads them ahead */
		return !behind;
	case BLOCK_RECORDS:
		if (h->t_max == 0)
			return true;
		/* Side-band from before the window still says who was who. */
		wanted = h->t_min < s->until && (h->t_max >= s->from || h->samples < h->records);
		s->skipped |= !wanted && h->t_min < s->from;
		return wanted;
	}
	return false;
}

/* A window is sought; a whole file is walked through, so that its health is known. */
static int
record_stream_begin(struct record_stream *s, struct fmt_where *where)
{
	bool whole = s->from == 0 && s->until == UINT64_MAX;

	s->begun = true;
	return whole ? 0 : recording_reader_seek(s->reader, want_block, s, where);
}

/*
 * What is lost is told before the records that it is missing from. So when a later block says
 * that these are complete, and end before the window, it is not the window's.
 */
static int
settle_loss(struct record_stream *s, const struct block_header *h)
{
	struct loss *now;

	if (!s->loss_news || h->complete <= s->loss_complete || h->complete > s->from)
		return 0;
	now = loss_since(s->loss, NULL);
	if (!now)
		return -FMT_E_NOMEM;
	loss_free(s->before);
	s->before = now;
	s->loss_news = false;
	loss_free(s->within);
	s->within = loss_new();
	return s->within ? 0 : -FMT_E_NOMEM;
}

static int
take_loss(struct record_stream *s, const struct block *block)
{
	struct loss *within;

	if (settle_loss(s, &block->header) != 0)
		return -FMT_E_NOMEM;
	/* One that is malformed in spite of its checksum adds what it has. */
	if (loss_decode(s->loss, block->payload) == -FMT_E_NOMEM)
		return -FMT_E_NOMEM;
	s->loss_news = true;
	s->loss_complete = block->header.complete;
	if (!s->before)
		return 0;
	within = loss_since(s->loss, s->before);
	if (!within)
		return -FMT_E_NOMEM;
	loss_free(s->within);
	s->within = within;
	return 0;
}

static int
take_block(struct record_stream *s, const struct block *block)
{
	int error = 0;

	switch (block->header.type) {
	case BLOCK_RECORDS:
		error = settle_loss(s, &block->header);
		return error ? error : take_records(s, block);
	case BLOCK_STATE:
		return take_records(s, block);
	case BLOCK_LOSS:
		error = take_loss(s, block);
		break;
	case BLOCK_GAP:
		error = gap_list_add(&s->gaps, block->payload);
		break;
	}
	if (!error && s->on_block)
		s->on_block(s->on_block_arg, block);
	return error;
}

/* Reads one block; sets ended at the end and on error. */
static void
read_block(struct record_stream *s)
{
	struct block block;
	int result = s->begun ? 0 : record_stream_begin(s, &s->where);

	if (result == 0) {
		result = recording_reader_next(s->reader, want_block, s, &block, &s->where);
		if (result > 0) {
			result = take_block(s, &block);
			if (result == 0)
				return;
			fmt_fail(&s->where, FMT_E_NOMEM, block.offset, "records of a block");
		}
	}
	gap_list_clip(&s->gaps, s->from, s->until);
	s->ended = true;
	s->error = result;
}

static void
count_sample(struct record_stream_stats *stats, uint64_t time_ns)
{
	if (stats->samples == 0 || time_ns < stats->first_ns)
		stats->first_ns = time_ns;
	if (stats->samples == 0 || time_ns > stats->last_ns)
		stats->last_ns = time_ns;
	stats->samples++;
}

static void
record_stream_count(struct record_stream *s, const struct perf_record *r,
		    const struct stream_record *given)
{
	if (given->state) {
		s->stats.state_records++;
		return;
	}
	if (given->outside)
		return;
	s->stats.records++;
	if (r->type == REC_SAMPLE)
		count_sample(&s->stats, r->sid.time);
	if (r->type < REC_KERNEL_MAX)
		s->stats.by_type[r->type]++;
}

/* What it has is handed out: it stays until the next call, as its last record may be borrowed. */
static void
finish_top(struct record_stream *s)
{
	struct batch *b = s->heap[0];

	s->held -= batch_bytes(b);
	s->done = b;
	s->heap[0] = s->heap[--s->nr_heap];
	if (s->nr_heap > 0)
		sift_down(s);
}

static void
count_column_sample(struct record_stream_stats *stats, uint64_t time_ns)
{
	stats->records++;
	stats->by_type[REC_SAMPLE]++;
	count_sample(stats, time_ns);
}

/* Hands out the oldest record. */
static void
record_stream_emit(struct record_stream *s, struct stream_record *ret)
{
	struct batch *b = s->heap[0];
	const struct entry *e = &b->entries[b->next++];
	const struct columns_view_sample *samples;
	struct span rest, record;

	*ret = (struct stream_record){ .event = e->event, .state = b->state };
	if (e->event == EVENT_SAMPLE) {
		columns_view_samples(b->view, &samples);
		ret->event = b->sources[samples[e->offset].source].event;
		ret->columns = &b->columns;
		ret->sample = e->offset;
		count_column_sample(&s->stats, e->time);
	} else {
		rest = span_of(b->bytes + e->offset, b->len - e->offset);
		if (perf_record_next(&rest, &record) <= 0)
			record = rest;
		if (e->event != EVENT_BAD &&
		    event_set_parse(record_stream_events(s), record, &s->record, NULL) == 0) {
			ret->record = &s->record;
			ret->outside = s->record.type == REC_SAMPLE && s->reads &&
				!stream_has(s, s->record.sid.time);
			record_stream_count(s, &s->record, ret);
		} else {
			ret->event = -1;
			ret->bad = record;
			s->stats.bad_records++;
		}
	}
	if (b->next < b->nr || b->together)
		sift_down(s);
	else
		finish_top(s);
}

/* Hands out the samples of a block that need no order. 1, 0: there are none, -FMT_E_NOMEM. */
static int
give_together(struct record_stream *s, bool complete, struct stream_record *ret)
{
	struct batch *b = s->heap[0];
	const struct columns_view_sample *samples;
	size_t nr = columns_view_samples(b->view, &samples), given = 0;
	int error;

	s->held -= batch_bytes(b);
	error = stream_columns_settle(s, b, complete);
	s->held += batch_bytes(b);
	if (error)
		return error;
	for (size_t i = 0; i < nr; i++) {
		if (b->in_order[samples[i].task])
			continue;
		count_column_sample(&s->stats, samples[i].time);
		given++;
	}
	*ret = (struct stream_record){ .event = -1,
				       .columns = &b->columns,
				       .sample = STREAM_TOGETHER };
	if (b->next < b->nr)
		sift_down(s);
	else
		finish_top(s);
	return given > 0;
}

/* May what is on top be handed out? */
static bool
is_certain(const struct record_stream *s)
{
	const struct batch *b = s->heap[0];

	if (s->ended || s->held > s->held_max)
		return true;
	return (is_together(b) ? b->t_max : b->entries[b->next].time) < s->complete;
}

int
record_stream_next(struct record_stream *s, struct stream_record *ret, struct fmt_where *where)
{
	int given;

	assert(s->magic == STREAM_MAGIC);
	for (;;) {
		stream_batch_recycle(s, s->done);
		s->done = NULL;
		while (!s->ended && (s->nr_heap == 0 || !is_certain(s)))
			read_block(s);
		if (s->nr_heap == 0) {
			if (s->error && where)
				*where = s->where;
			return s->error;
		}
		if (!is_together(s->heap[0])) {
			record_stream_emit(s, ret);
			return 1;
		}
		given = give_together(s, s->ended || s->heap[0]->t_max < s->complete, ret);
		if (given != 0)
			return given < 0 ? fmt_fail(where, FMT_E_NOMEM, 0, "samples of a block")
					 : 1;
	}
}
