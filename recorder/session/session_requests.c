/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What other threads ask of a session, as its drain does it. */
#include <errno.h>
#include <string.h>

#include "recorder/ground/message.h"
#include "recorder/ground/session_error.h"
#include "recorder/host/host.h"
#include "recorder/session/session_internal.h"

static int
set_frequency(struct session *s, struct session_request *rq)
{
	bool same;
	int r;

	if (!s->plan.frequency_hz)
		return session_fail(&rq->error, -EINVAL, "the events have a fixed period");
	/* What tasks have inherited cannot be reached. */
	if (!target_of_cpus(&s->target))
		return session_fail(&rq->error, -EOPNOTSUPP,
				    "the frequency can be changed for whole CPUs only");
	if (!rq->hz || rq->hz > SECOND_NS)
		return session_fail(&rq->error, -EINVAL, "%llu Hz is not a frequency",
				    (unsigned long long)rq->hz);
	same = rq->hz == s->plan.frequency_hz && rq->limit_hz == s->plan.frequency_hz_limit;
	r = same ? 0 : session_change_frequency(s, rq->hz, rq->limit_hz, RATE_ASKED);
	if (r < 0 && r != -EAGAIN)
		session_fail(&rq->error, r, "cannot set the frequency to %llu Hz: %s",
			     (unsigned long long)rq->hz, strerror(-r));
	return r;
}

/* Its result; -EAGAIN: no room, try again. */
static int
do_at_once(struct session *s, struct session_request *rq)
{
	struct queue *q = writer_queue(s->writer);

	switch (rq->kind) {
	case REQUEST_FREQUENCY:
		return set_frequency(s, rq);
	case REQUEST_COUNT:
		if (rq->on)
			session_counters_begin(s);
		else if (!session_counters_end(s))
			return -EAGAIN;
		return 0;
	case REQUEST_SNAPSHOT:
		session_snapshot_traces(s);
		return 0;
	case REQUEST_CALL:
		rq->call(rq->arg);
		return 0;
	default:
		break;
	}
	if (rq->event)
		return ring_set_enable_event(&s->rings, q, rq->event, rq->on, s->shapes,
					     host_now_ns(), &rq->error);
	return ring_set_enable(&s->rings, q, rq->on, s->shapes, host_now_ns()) ? 0 : -EAGAIN;
}

bool
session_tell_gaps(struct session *s)
{
	s->gaps_due = s->gaps_due && !ring_set_gaps(&s->rings, writer_queue(s->writer));
	return !s->gaps_due;
}

/* Does one request, or hands it on; false: no room, try again. */
static bool
do_request(struct session *s, struct session_request *rq)
{
	struct queue *q = writer_queue(s->writer);

	if (rq->kind >= REQUEST_AT_ONCE) {
		int r = do_at_once(s, rq);

		if (r != -EAGAIN)
			session_request_done(s->requests, rq, r);
		return r != -EAGAIN;
	}
	/* Once: what it waits for may have no room yet. */
	if (rq->dump && s->options.overwrite)
		session_dump_rings(s);
	rq->dump = false;
	if (rq->kind == REQUEST_SYNC)
		return queue_send(q, MESSAGE_SYNC, (uint64_t)(uintptr_t)rq, 0);
	if (!session_tell_gaps(s) || !session_counters_close(s) ||
	    !queue_send(q, MESSAGE_ROTATE, (uint64_t)(uintptr_t)rq, 0))
		return false;
	session_counters_reopen(s);
	if (target_of_cpus(&s->target)) {
		ring_set_phase_soon(&s->rings, host_now_ns());
		s->phase_due_ns = 0;
	}
	s->gaps_due = true;
	(void)session_tell_gaps(s);
	return true;
}

void
session_take_request(struct session *s)
{
	s->taken = session_request_take(s->requests);
	if (s->taken)
		ring_set_mark(&s->rings);
}

void
session_do_requests(struct session *s)
{
	while (s->taken && (s->taken->kind != REQUEST_SYNC || ring_set_passed(&s->rings)) &&
	       do_request(s, s->taken))
		session_take_request(s);
	queue_wake(writer_queue(s->writer));
}

void
session_refuse_requests(struct session *s)
{
	session_requests_shut(s->requests, s->taken);
	s->taken = NULL;
}
