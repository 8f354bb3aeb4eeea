/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events that count alone, read at intervals. It never waits for the queue, and allocates nothing
 * once as many events were read as there are.
 */
#include <string.h>

#include "format/record/perf_record.h"
#include "recorder/ground/message.h"
#include "recorder/host/host.h"
#include "recorder/session/session_internal.h"

#define PIECE_BYTES (64u << 10) /* of a message */

/* Whole records, as many as a message takes. */
static struct span
next_piece(const struct session *s)
{
	struct span all = span_of(s->counts.p + s->counts_sent, s->counts.len - s->counts_sent);
	struct span rest = all, record;
	size_t bytes = 0;

	while (perf_record_next(&rest, &record) > 0 && bytes + record.len <= PIECE_BYTES)
		bytes += record.len;
	return span_of(all.p, bytes);
}

/* A reading that has begun is sent to its end before the next one is made. False: a part is left, for want of room. */
static bool
counters_send(struct session *s)
{
	struct queue *q = writer_queue(s->writer);
	struct span piece;

	while (s->counts_sent < s->counts.len && (piece = next_piece(s)).len > 0) {
		if (!queue_send_bytes(q, MESSAGE_RECORDS, piece.p, piece.len))
			return false;
		s->counts_sent += piece.len;
	}
	return true;
}

static void
counters_read(struct session *s, uint64_t now_ns)
{
	buf_clear(&s->counts);
	s->counts_sent = 0;
	/* Without memory for them they are read another time. */
	if (ring_set_reads(&s->rings, s->shapes, now_ns, RING_SET_COUNTING, &s->counts) < 0)
		buf_clear(&s->counts);
}

void
session_counters_begin(struct session *s)
{
	uint64_t now_ns = host_now_ns();

	if (!s->options.counter_interval_ns || s->counts_due_ns || s->counts_over)
		return;
	counters_read(s, now_ns);
	(void)counters_send(s);
	s->counts_from_ns = now_ns;
	s->counts_due_ns = now_ns + s->options.counter_interval_ns;
}

void
session_counters_now(struct session *s)
{
	if (s->counts_due_ns)
		s->counts_due_ns = s->counts_from_ns;
}

/* A reading is due at whole intervals since the first one: one that came late makes no other one late. */
static uint64_t
counters_next(const struct session *s, uint64_t now_ns)
{
	const uint64_t interval_ns = s->options.counter_interval_ns;

	return now_ns - (now_ns - s->counts_from_ns) % interval_ns + interval_ns;
}

bool
session_counters_look(struct session *s, uint64_t now_ns)
{
	if (!s->counts_due_ns || s->counts_closing)
		return true;
	if (!counters_send(s))
		return false;
	if (now_ns < s->counts_due_ns)
		return true;
	/* What a CPU that came was first read at may be later than the pass. */
	now_ns = host_now_ns();
	counters_read(s, now_ns);
	s->counts_due_ns = counters_next(s, now_ns);
	queue_wake(writer_queue(s->writer));
	return counters_send(s);
}

/* Read once, however often it is asked: else they are sent from the first one on each time, and never all. */
bool
session_counters_close(struct session *s)
{
	if (!s->counts_due_ns)
		return true;
	if (!s->counts_closing) {
		if (!counters_send(s))
			return false;
		counters_read(s, host_now_ns());
		s->counts_closing = true;
	}
	return counters_send(s);
}

void
session_counters_reopen(struct session *s)
{
	s->counts_closing = false;
	s->counts_sent = 0;
	if (s->counts_due_ns)
		(void)counters_send(s);
}

bool
session_counters_end(struct session *s)
{
	if (!session_counters_close(s))
		return false;
	s->counts_due_ns = 0;
	s->counts_closing = false;
	s->counts_over = true;
	return true;
}
