/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a flight recorder's session does: it remembers how far back its rings reach, and hands over what they have;
 * AUX areas that are written over are handed over likewise. And how the drain sends what has to arrive, however
 * long the writer takes.
 */
#include <linux/membarrier.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "recorder/ground/message.h"
#include "recorder/host/host.h"
#include "recorder/session/session_internal.h"

#define WAIT_MAX_NS 64000000

/* --- sending ----------------------------------------------------------------------------- */

void
session_come_round(struct session *s)
{
	atomic_fetch_add_explicit(&s->progress, 1, memory_order_relaxed);
}

void
session_wait_longer(struct session *s, struct timespec *wait)
{
	queue_wake(writer_queue(s->writer));
	session_come_round(s);
	wait->tv_nsec = wait->tv_nsec ? 2 * wait->tv_nsec : (long)MS_NS;
	if (wait->tv_nsec > WAIT_MAX_NS)
		wait->tv_nsec = WAIT_MAX_NS;
	nanosleep(wait, NULL);
}

static uint8_t *
reserve_waiting(struct session *s, size_t bytes)
{
	struct timespec wait = { 0 };
	uint8_t *to;

	while (!(to = queue_reserve(writer_queue(s->writer), bytes)))
		session_wait_longer(s, &wait);
	return to;
}

void
session_send(struct session *s, enum message kind, uint64_t a, uint64_t b, struct span bytes)
{
	struct queue *q = writer_queue(s->writer);
	uint8_t *to = reserve_waiting(s, bytes.len);

	if (bytes.len)
		memcpy(to, bytes.p, bytes.len);
	queue_commit(q, kind, a, b, bytes.len);
	queue_wake(q);
}

/* --- how far back they reach ------------------------------------------------------------- */

void
session_window(struct session *s, uint64_t now_ns)
{
	uint64_t since_ns = UINT64_MAX;

	for (size_t i = 0; i < s->rings.nr; i++) {
		struct back_ring *b = &s->rings.cpus[i].back;

		if (!b->page)
			continue;
		back_ring_pass(b, now_ns - RING_SET_SETTLE_NS);
		if (back_ring_since_ns(b) < since_ns)
			since_ns = back_ring_since_ns(b);
	}
	/* One that was left goes when all that it has is older than what the others have. */
	for (size_t i = s->rings.nr_left; since_ns != UINT64_MAX && i-- > 0;)
		if (s->rings.left[i].gone_ns < since_ns)
			(void)ring_set_forget(&s->rings, i, writer_queue(s->writer));
	for (size_t i = 0; i < s->rings.nr_left; i++)
		if (back_ring_since_ns(&s->rings.left[i].back) < since_ns)
			since_ns = back_ring_since_ns(&s->rings.left[i].back);
	if (since_ns != UINT64_MAX && since_ns > s->window_ns &&
	    queue_send(writer_queue(s->writer), MESSAGE_WINDOW, since_ns, 0))
		s->window_ns = since_ns;
}

/* --- handing over ------------------------------------------------------------------------ */

static void
dump_ring(struct session *s, struct cpu_rings *c, uint64_t now_ns)
{
	struct queue *q = writer_queue(s->writer);
	size_t bytes;

	back_ring_begin(&c->back, s->options.dump_again, &c->corrupt);
	do {
		bytes = back_ring_read(&c->back, reserve_waiting(s, BACK_RING_PIECE_MAX),
				       &c->corrupt);
		if (bytes)
			queue_commit(q, MESSAGE_KEPT, 0, 0, bytes);
		queue_wake(q);
	} while (bytes);
	if (!s->options.dump_again)
		back_ring_end(&c->back, now_ns - RING_SET_SETTLE_NS);
}

/*
 * All rings stop at one time, so that each has what led to this. A record that the kernel is about to write is
 * still written: it does that in an RCU read-side critical section, whose end the barrier waits for. Where
 * that is not allowed the reader finds out by the head.
 */
void
session_dump_rings(struct session *s)
{
	struct timespec wait = { 0 };
	bool resync = false;
	uint64_t now_ns;

	for (size_t i = 0; i < s->rings.nr; i++)
		cpu_rings_pause(&s->rings.cpus[i], true);
	now_ns = host_now_ns();
	(void)syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
	/* What names these samples comes first. */
	while (!ring_set_pass(&s->rings, writer_queue(s->writer), host_now_ns(), true))
		session_wait_longer(s, &wait);
	session_send(s, MESSAGE_DUMP, 0, 0, (struct span){ 0 });
	/* The daemon tells what rings take, and it is not in its budget of memory: their pages are left. */
	for (size_t i = 0; i < s->rings.nr_left; i++) {
		dump_ring(s, &s->rings.left[i], now_ns);
		ring_leave_pages(&s->rings.left[i].samples);
	}
	for (size_t i = 0; i < s->rings.nr; i++) {
		struct cpu_rings *c = &s->rings.cpus[i];

		if (c->back.page)
			dump_ring(s, c, now_ns);
		cpu_rings_pause(c, false);
		ring_leave_pages(&c->samples);
	}
	/* What could not be read in them: before those that were left are gone, and their file is over. */
	while (!ring_set_losses(&s->rings, writer_queue(s->writer), host_now_ns(), &resync))
		session_wait_longer(s, &wait);
	if (resync)
		session_send(s, MESSAGE_RESYNC, 0, now_ns, (struct span){ 0 });
	session_send(s, MESSAGE_PASS, now_ns, host_now_ns(), (struct span){ 0 });
	while (!s->options.dump_again && s->rings.nr_left)
		if (!ring_set_forget(&s->rings, s->rings.nr_left - 1, writer_queue(s->writer)))
			session_wait_longer(s, &wait);
}

/* --- AUX areas --------------------------------------------------------------------------- */

/* All tracers stop at one time, and none writes over what is being read. */
void
session_snapshot_traces(struct session *s)
{
	struct timespec wait = { 0 };

	ring_set_snapshot(&s->rings, true);
	for (;;) {
		(void)ring_set_pass(&s->rings, writer_queue(s->writer), host_now_ns(), true);
		if (ring_set_snapshot_passed(&s->rings))
			break;
		session_wait_longer(s, &wait);
	}
	ring_set_snapshot(&s->rings, false);
}
