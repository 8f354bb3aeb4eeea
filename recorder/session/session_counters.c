/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events that count alone, read at intervals; all events where a file ends and another one begins, and at the end. It
 * waits for the queue only at the end. It allocates nothing once as many events were read as there are.
 */
#include <string.h>

#include "format/record/perf_record.h"
#include "format/record/read_counts.h"
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
	const uint32_t kind = s->options.overwrite ? MESSAGE_KEPT : MESSAGE_RECORDS;
	struct queue *q = writer_queue(s->writer);
	struct span piece;

	while (s->counts_sent < s->counts.len && (piece = next_piece(s)).len > 0) {
		if (!queue_send_bytes(q, kind, piece.p, piece.len))
			return false;
		s->counts_sent += piece.len;
	}
	return true;
}

/* Without memory for them they are read another time: false. */
static bool
counters_read(struct session *s, uint64_t now_ns, enum ring_set_read what)
{
	int r;

	buf_clear(&s->counts);
	s->counts_sent = 0;
	r = ring_set_reads(&s->rings, s->shapes, now_ns, what, &s->counts);
	if (r < 0)
		buf_clear(&s->counts);
	return r == 0;
}

/* All events: without those that are to be read at intervals while that has not begun, or is over. */
static enum ring_set_read
all_that_is_told(const struct session *s)
{
	return s->options.counter_interval_ns && !s->counts_due_ns ? RING_SET_SAMPLING
								   : RING_SET_LAST;
}

void
session_counters_begin(struct session *s)
{
	uint64_t now_ns = host_now_ns();

	if (!s->options.counter_interval_ns || s->counts_due_ns || s->counts_over)
		return;
	(void)counters_read(s, now_ns, RING_SET_COUNTING);
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
	/* What begins a dump is sent together with it: until then its file stays empty. */
	if (s->counts_closing || s->options.overwrite)
		return true;
	if (!counters_send(s))
		return false;
	if (!s->counts_due_ns || now_ns < s->counts_due_ns)
		return true;
	/* What a CPU that came was first read at may be later than the pass. */
	now_ns = host_now_ns();
	(void)counters_read(s, now_ns, RING_SET_COUNTING);
	s->counts_due_ns = counters_next(s, now_ns);
	queue_wake(writer_queue(s->writer));
	return counters_send(s);
}

/* Read once, however often it is asked: else they are sent from the first one on each time, and never all. */
static bool
counters_close(struct session *s, enum ring_set_read what)
{
	if (!s->counts_closing) {
		if (!counters_send(s) || !counters_read(s, host_now_ns(), what))
			return false;
		s->counts_closing = true;
	}
	return counters_send(s);
}

bool
session_counters_close(struct session *s)
{
	/* Of a dump that has what others have as well nothing tells when its first sample was taken. */
	return s->options.dump_again || counters_close(s, all_that_is_told(s));
}

void
session_counters_reopen(struct session *s)
{
	struct span rest = buf_span(&s->counts), record;

	s->counts_closing = false;
	s->counts_sent = 0;
	while (perf_record_next(&rest, &record) > 0)
		le16enc(s->counts.p + (record.p - s->counts.p) + 4, READ_MISC_BEFORE);
	if (!s->options.overwrite)
		(void)counters_send(s);
}

bool
session_counters_end(struct session *s)
{
	if (s->counts_due_ns && !counters_close(s, RING_SET_COUNTING))
		return false;
	s->counts_due_ns = 0;
	s->counts_closing = false;
	s->counts_over = true;
	return true;
}

void
session_counters_last(struct session *s, uint64_t now_ns)
{
	struct timespec wait = { 0 };

	while (!counters_send(s))
		session_wait_longer(s, &wait);
	(void)counters_read(s, now_ns, all_that_is_told(s));
	while (!counters_send(s))
		session_wait_longer(s, &wait);
}
