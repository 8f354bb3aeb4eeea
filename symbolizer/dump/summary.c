/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/dump/summary.h"

#include <stdlib.h>
#include <string.h>

#include <linux/perf_event.h>

#include "format/block/aux_trace.h"
#include "format/block/buildids.h"
#include "format/block/foreign.h"
#include "format/block/jitsyms.h"
#include "format/block/ksyms.h"
#include "symbolizer/dump/throttle_times.h"

_Static_assert(SUMMARY_BLOCK_TYPES == BLOCK_STACKS + 1, "every type of block is counted");

/* First and last time of some records; 0, 0: none yet. */
struct extent {
	uint64_t first, last;
};

struct count {
	struct summary *s;
	const struct event_set *events;
	struct extent samples, records;
	struct throttle_times throttled;
};

static void
stretch(struct extent *e, uint64_t time)
{
	if (time == 0)
		return;
	if (e->first == 0 || time < e->first)
		e->first = time;
	if (time > e->last)
		e->last = time;
}

/* A CPU that came later may have brought an event. */
static int
count_event(struct summary *s, int event)
{
	uint64_t *more;
	size_t n = (size_t)event + 1;

	if (event < 0)
		return 0;
	if (n > s->nr_events) {
		more = reallocarray(s->event_samples, n, sizeof(*more));
		if (!more)
			return -FMT_E_NOMEM;
		memset(more + s->nr_events, 0, (n - s->nr_events) * sizeof(*more));
		s->event_samples = more;
		s->nr_events = n;
	}
	s->event_samples[event]++;
	return 0;
}

static int
count_record(struct count *c, const struct perf_record *r, int event)
{
	struct summary *s = c->s;

	s->records++;
	if (r->type < REC_KERNEL_MAX && perf_record_type_name(r->type))
		s->by_type[r->type]++;
	else
		s->other_types++;
	stretch(&c->records, r->sid.time);
	if (r->type == REC_READ)
		return read_counts_add(&s->counts, c->events, r);
	if (r->type != REC_SAMPLE)
		return throttle_times_see(&c->throttled, r);
	s->samples++;
	s->exact_samples += (r->misc & PERF_RECORD_MISC_EXACT_IP) != 0;
	stretch(&c->samples, r->sid.time);
	return count_event(s, event);
}

static int
count_records(struct count *c, const struct block *b)
{
	struct span rest = b->payload, bytes;
	struct perf_record record;
	int event, more;

	while ((more = perf_record_next(&rest, &bytes)) > 0) {
		if (b->header.type == BLOCK_STATE) {
			c->s->state_records++;
		} else if (event_set_parse(c->events, bytes, &record, &event) != 0) {
			c->s->bad_records++;
		} else if (count_record(c, &record, event) != 0) {
			return -FMT_E_NOMEM;
		}
	}
	if (more < 0)
		c->s->bad_records++;
	return 0;
}

static void
count_foreign(struct summary *s, struct span payload)
{
	struct foreign f;
	uint32_t type;

	while (foreign_next(&payload, &f) > 0) {
		if (f.kind == FOREIGN_FILE)
			s->from_pipe = f.id == PERFDATA_MODE_PIPE;
		/* Where the header is a stream, each of its sections is a record. */
		if (f.kind == FOREIGN_FEATURE && s->from_pipe)
			type = PERFDATA_FEATURE;
		else if (f.kind == FOREIGN_RECORD)
			type = f.id;
		else
			continue;
		if (type >= REC_USER_FIRST && type < PERFDATA_RECORD_END)
			s->tool_records[type - REC_USER_FIRST]++;
		else
			s->other_tool_records++;
	}
}

static void
count_aux(struct summary *s, struct span payload)
{
	struct aux_trace about;
	struct aux_piece piece;

	if (aux_trace_read(&payload, &about) != 0)
		return;
	if (!s->aux_pieces)
		s->aux_tracer = about.tracer;
	while (aux_trace_next(&payload, &piece) > 0) {
		s->aux_pieces++;
		s->aux_bytes += piece.bytes.len;
	}
}

static int
count_block(struct count *c, const struct block *b)
{
	struct summary_blocks *blocks = &c->s->by_block[b->header.type];
	struct buildid_entry id;
	struct jitsym jit;
	struct ksym sym;
	size_t cursor = 0;
	int error = 0;

	blocks->blocks++;
	blocks->raw_bytes += b->header.raw_length;
	blocks->stored_bytes += (uint64_t)b->header.header_size + b->header.stored_length;
	switch (b->header.type) {
	case BLOCK_RECORDS:
	case BLOCK_STATE:
		return count_records(c, b);
	case BLOCK_KSYMS:
		while (ksyms_next(b->payload, &cursor, &sym) > 0)
			c->s->kernel_symbols++;
		break;
	case BLOCK_BUILDIDS:
		while (buildids_next(b->payload, &cursor, &id) > 0)
			c->s->build_ids++;
		break;
	case BLOCK_JIT:
		while (jitsyms_next(b->payload, &cursor, &jit) > 0)
			c->s->jit_symbols++;
		break;
	case BLOCK_LOSS:
		error = loss_decode(c->s->loss, b->payload);
		break;
	case BLOCK_GAP:
		error = gap_list_add(&c->s->gaps, b->payload);
		break;
	case BLOCK_FOREIGN:
		count_foreign(c->s, b->payload);
		break;
	case BLOCK_AUX:
		count_aux(c->s, b->payload);
		break;
	case BLOCK_OBJECT:
		c->s->packed_objects++;
		break;
	case BLOCK_STACKS:
		error = unwind_stops_decode(&c->s->stops, b->payload);
		break;
	case BLOCK_RATE:
		error = rate_list_add(&c->s->rates, b->payload);
		break;
	}
	return error == -FMT_E_NOMEM ? error : 0;
}

int
summary_read(struct recording_reader *r, struct summary *ret, struct fmt_where *where)
{
	struct summary s = { .loss = loss_new() };
	struct count c = { .s = &s };
	struct block b;
	int result, error = s.loss ? 0 : -FMT_E_NOMEM;

	recording_reader_rewind(r);
	while (!error && (result = recording_reader_next(r, NULL, NULL, &b, where)) != 0) {
		if (result < 0) {
			throttle_times_done(&c.throttled);
			summary_done(&s);
			return result;
		}
		c.events = recording_reader_meta(r)->events;
		s.counts.at_intervals = recording_reader_meta(r)->counter_interval_ns > 0;
		error = count_block(&c, &b);
	}
	s.throttled_ns = c.throttled.total_ns;
	throttle_times_done(&c.throttled);
	if (error) {
		summary_done(&s);
		return fmt_fail(where, FMT_E_NOMEM, 0, "summary");
	}
	read_counts_settle(&s.counts);
	s.first_ns = s.samples ? c.samples.first : c.records.first;
	s.last_ns = s.samples ? c.samples.last : c.records.last;
	*ret = s;
	return 0;
}

void
summary_done(struct summary *s)
{
	free(s->event_samples);
	read_counts_done(&s->counts);
	loss_free(s->loss);
	gap_list_done(&s->gaps);
	rate_list_done(&s->rates);
	memset(s, 0, sizeof(*s));
}
