/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/record_stream.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define STREAM_MAGIC 0x73705353u
#define EVENT_BAD INT32_MIN /* of an entry whose record did not parse */
#define SPARES_MAX 4	    /* batches kept to be used again */

struct entry {
	uint64_t time;
	uint32_t offset; /* of the record in the batch's bytes */
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
};

struct record_stream {
	uint32_t magic;
	struct recording_reader *reader;
	uint64_t from, until;
	void (*on_block)(void *arg, const struct block *block);
	void *on_block_arg;

	struct batch **heap; /* the batch with the oldest record first */
	size_t nr_heap, heap_cap;
	struct batch *spares;
	size_t nr_spares;
	struct batch *done; /* handed out to the end, but its last record is still borrowed */
	size_t held;	    /* bytes that all batches in the heap take */
	uint64_t order, complete;
	bool begun, ended;
	int error; /* what ended it; told when the heap is empty */
	struct fmt_where where;

	struct entry *scratch; /* for sorting */
	size_t scratch_cap;
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

int
record_stream_open(struct recording_reader *reader, struct record_stream **ret)
{
	struct record_stream *s = calloc(1, sizeof(*s));

	if (!s)
		return -FMT_E_NOMEM;
	s->magic = STREAM_MAGIC;
	s->reader = reader;
	s->until = UINT64_MAX;
	s->loss = loss_new();
	if (!s->loss) {
		free(s);
		return -FMT_E_NOMEM;
	}
	recording_reader_rewind(reader);
	*ret = s;
	return 0;
}

static void
batch_free(struct batch *b)
{
	if (!b)
		return;
	free(b->bytes);
	free(b->entries);
	free(b);
}

void
record_stream_close(struct record_stream *s)
{
	struct batch *b;

	if (!s)
		return;
	assert(s->magic == STREAM_MAGIC);
	for (size_t i = 0; i < s->nr_heap; i++)
		batch_free(s->heap[i]);
	while ((b = s->spares)) {
		s->spares = b->spare;
		batch_free(b);
	}
	batch_free(s->done);
	free(s->heap);
	free(s->scratch);
	free(s->runs);
	loss_free(s->loss);
	loss_free(s->before);
	loss_free(s->within);
	gap_list_done(&s->gaps);
	s->magic = 0;
	free(s);
}

void
record_stream_window(struct record_stream *s, uint64_t from_ns, uint64_t until_ns)
{
	s->from = from_ns;
	s->until = until_ns;
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
	return recording_reader_meta(s->reader)->events;
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

/* Makes room for n elements; the array keeps what it has. */
static int
grow(void **array, size_t *cap, size_t n, size_t size)
{
	size_t more = *cap ? *cap : 64;
	void *p;

	if (n <= *cap)
		return 0;
	while (more < n)
		more *= 2;
	p = reallocarray(*array, more, size);
	if (!p)
		return -FMT_E_NOMEM;
	*array = p;
	*cap = more;
	return 0;
}

/* --- sorting ----------------------------------------------------------------------------- */

/*
 * A block is a concatenation of what was drained from ring after ring, each in time order,
 * so that there are few runs: merging neighbours costs n log(runs), and keeps ties in order.
 */
static void
merge(const struct entry *from, size_t left, size_t right, size_t end, struct entry *to)
{
	size_t i = left, j = right;

	while (i < right && j < end)
		*to++ = from[j].time < from[i].time ? from[j++] : from[i++];
	memcpy(to, from + i, (right - i) * sizeof(*to));
	memcpy(to + (right - i), from + j, (end - j) * sizeof(*to));
}

/* Fills s->runs with where runs begin, and the end; returns how many runs there are, or < 0. */
static int64_t
find_runs(struct record_stream *s, const struct entry *e, size_t n)
{
	size_t nr = 0;

	for (size_t i = 0; i < n; i++) {
		if (i > 0 && e[i].time >= e[i - 1].time)
			continue;
		if (grow((void **)&s->runs, &s->runs_cap, nr + 2, sizeof(*s->runs)) != 0)
			return -FMT_E_NOMEM;
		s->runs[nr++] = i;
	}
	if (nr > 0)
		s->runs[nr] = n;
	return (int64_t)nr;
}

static int
sort_batch(struct record_stream *s, struct batch *b)
{
	struct entry *other;
	int64_t found = find_runs(s, b->entries, b->nr);
	size_t nr, cap;

	if (found < 0)
		return (int)found;
	if (found > 1 &&
	    grow((void **)&s->scratch, &s->scratch_cap, b->nr, sizeof(*s->scratch)) != 0)
		return -FMT_E_NOMEM;
	for (nr = (size_t)found; nr > 1; nr = (nr + 1) / 2) {
		for (size_t i = 0; i < nr; i += 2) {
			size_t left = s->runs[i], right = s->runs[i + 1];
			size_t end = i + 1 < nr ? s->runs[i + 2] : right;

			merge(b->entries, left, right, end, s->scratch + left);
			s->runs[i / 2] = left;
		}
		s->runs[(nr + 1) / 2] = b->nr;
		other = b->entries;
		b->entries = s->scratch;
		s->scratch = other;
		cap = b->entries_cap;
		b->entries_cap = s->scratch_cap;
		s->scratch_cap = cap;
	}
	return 0;
}

/* --- the heap ---------------------------------------------------------------------------- */

static bool
older(const struct batch *a, const struct batch *b)
{
	uint64_t ta = a->entries[a->next].time, tb = b->entries[b->next].time;

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
	return sizeof(*b) + b->cap + b->entries_cap * sizeof(*b->entries);
}

static int
heap_push(struct record_stream *s, struct batch *b)
{
	size_t i = s->nr_heap;

	if (grow((void **)&s->heap, &s->heap_cap, s->nr_heap + 1, sizeof(*s->heap)) != 0)
		return -FMT_E_NOMEM;
	for (; i > 0 && older(b, s->heap[(i - 1) / 2]); i = (i - 1) / 2)
		s->heap[i] = s->heap[(i - 1) / 2];
	s->heap[i] = b;
	s->nr_heap++;
	s->held += batch_bytes(b);
	return 0;
}

/* --- blocks ------------------------------------------------------------------------------ */

static void
batch_recycle(struct record_stream *s, struct batch *b)
{
	if (!b)
		return;
	if (s->nr_spares == SPARES_MAX) {
		batch_free(b);
		return;
	}
	b->spare = s->spares;
	s->spares = b;
	s->nr_spares++;
}

static struct batch *
batch_get(struct record_stream *s)
{
	struct batch *b = s->spares;

	if (!b)
		return calloc(1, sizeof(*b));
	s->spares = b->spare;
	s->nr_spares--;
	b->len = b->nr = b->next = 0;
	return b;
}

/* Is a record of this time and type inside the window? */
static bool
in_window(const struct record_stream *s, const struct perf_record *r)
{
	if (r->sid.time >= s->until && s->until != UINT64_MAX)
		return false;
	return r->type != REC_SAMPLE || r->sid.time >= s->from;
}

static int
batch_add(struct batch *b, size_t offset, uint64_t time, int32_t event)
{
	if (grow((void **)&b->entries, &b->entries_cap, b->nr + 1, sizeof(*b->entries)) != 0)
		return -FMT_E_NOMEM;
	b->entries[b->nr++] = (struct entry){ time, (uint32_t)offset, event };
	return 0;
}

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
			error = batch_add(b, offset, time, EVENT_BAD);
		} else if (b->state || in_window(s, &s->record)) {
			time = s->record.sid.time;
			error = batch_add(b, offset, time, event);
		}
	}
	/* Bytes after a record with a wrong size: one bad record, as far as anyone can know. */
	if (!error && rest.len > 0)
		error = batch_add(b, b->len - rest.len, time, EVENT_BAD);
	return error;
}

static int
take_records(struct record_stream *s, const struct block *block)
{
	struct batch *b = batch_get(s);
	int error;

	if (!b)
		return -FMT_E_NOMEM;
	b->state = block->header.type == BLOCK_STATE;
	b->order = s->order++;
	error = grow((void **)&b->bytes, &b->cap, block->payload.len, 1);
	if (!error && block->payload.len > 0) {
		memcpy(b->bytes, block->payload.p, block->payload.len);
		b->len = block->payload.len;
		error = index_batch(s, b);
	}
	if (!error && b->nr > 0)
		error = sort_batch(s, b);
	if (!error && b->nr > 0)
		error = heap_push(s, b);
	if (error || b->nr == 0)
		batch_recycle(s, b);
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
	const struct record_stream *s = arg;
	bool behind = h->complete >= s->until && s->until != UINT64_MAX;

	switch (h->type) {
	case BLOCK_FOREIGN:
		return true;
	case BLOCK_STATE:
	case BLOCK_KSYMS:
	case BLOCK_BUILDIDS:
	case BLOCK_LOSS:
	case BLOCK_GAP:
	case BLOCK_RATE:
		return !behind;
	case BLOCK_RECORDS:
		if (h->t_max == 0)
			return true;
		/* Side-band from before the window still says who was who. */
		return h->t_min < s->until && (h->t_max >= s->from || h->samples < h->records);
	}
	return false;
}

/* A window is sought; a whole file is walked through, so that its health is known. */
static int
begin(struct record_stream *s, struct fmt_where *where)
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
	int result = s->begun ? 0 : begin(s, &s->where);

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
count(struct record_stream *s, const struct perf_record *r, bool state)
{
	if (state) {
		s->stats.state_records++;
		return;
	}
	s->stats.records++;
	if (r->type == REC_SAMPLE)
		count_sample(&s->stats, r->sid.time);
	if (r->type < REC_KERNEL_MAX)
		s->stats.by_type[r->type]++;
}

/* Hands out the oldest record. */
static void
emit(struct record_stream *s, struct stream_record *ret)
{
	struct batch *b = s->heap[0];
	const struct entry *e = &b->entries[b->next++];
	struct span rest = span_of(b->bytes + e->offset, b->len - e->offset), record;

	*ret = (struct stream_record){ .event = e->event, .state = b->state };
	if (perf_record_next(&rest, &record) <= 0)
		record = rest;
	if (e->event != EVENT_BAD &&
	    event_set_parse(record_stream_events(s), record, &s->record, NULL) == 0) {
		ret->record = &s->record;
		count(s, &s->record, b->state);
	} else {
		ret->event = -1;
		ret->bad = record;
		s->stats.bad_records++;
	}
	if (b->next < b->nr) {
		sift_down(s);
		return;
	}
	s->held -= batch_bytes(b);
	s->done = b;
	s->heap[0] = s->heap[--s->nr_heap];
	if (s->nr_heap > 0)
		sift_down(s);
}

int
record_stream_next(struct record_stream *s, struct stream_record *ret, struct fmt_where *where)
{
	assert(s->magic == STREAM_MAGIC);
	batch_recycle(s, s->done);
	s->done = NULL;
	for (;;) {
		if (s->nr_heap > 0) {
			const struct batch *b = s->heap[0];

			if (s->ended || b->entries[b->next].time < s->complete ||
			    s->held > RECORD_STREAM_HELD_MAX) {
				emit(s, ret);
				return 1;
			}
		} else if (s->ended) {
			if (s->error && where)
				*where = s->where;
			return s->error;
		}
		read_block(s);
	}
}
