/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a scan of the host's state brings, into blocks: at the beginning, and again when
 * side-band was lost. And what there is to tell people.
 */
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>

#include "format/recording/recording_writer.h"
#include "recorder/host/host.h"
#include "recorder/host/task_users.h"
#include "recorder/live/live.h"
#include "recorder/unwind/unwinding.h"
#include "recorder/writer/writer_internal.h"

#define STATE_BYTES (512u << 10)     /* of a block, while more of a scan is to come */
#define WAIT_NS UINT64_C(1000000000) /* what is later comes in blocks of its own, or not at all */
#define WAIT_LAST_NS UINT64_C(5000000000) /* no file is after this one, for names of JIT code */
/* A scan ends by itself: a process that does not answer is left behind. This is for a starved helper. */
#define WAIT_SCAN_NS UINT64_C(10000000000)
#define WAIT_LOOK_MS 20
#define RESYNC_PAUSE 20 /* times as long as one took, until the next */
#define RESYNC_PAUSE_MAX_NS UINT64_C(60000000000)
#define RESYNC_SHARE 8 /* part of the rate of side-band that they may take in the file */

/* Of a user who is over the budget: once in each file, once to people. */
static int
tell_over(struct writer *w, uint32_t uid, struct writer_over *over)
{
	char who[64] = "processes whose user is not known", line[NEWS_BYTES];

	if (uid != TASK_USER_UNKNOWN)
		(void)snprintf(who, sizeof(who), "user %" PRIu32, uid);
	(void)snprintf(line, sizeof(line),
		       "side-band of %s is over its budget: maps, names and tasks are left out",
		       who);
	if (!over->told)
		news_put(&w->news, uid, line);
	over->told = over->noted = true;
	return writer_note(w, line);
}

static int
take_news(struct writer *w)
{
	uint64_t unanswered = live_unanswered(w->options.live);
	struct news_line line;
	int r = 0;

	if (unanswered)
		writer_count(w, UINT32_MAX, LOSS_UNANSWERED, unanswered);
	while (live_news(w->options.live, &line) ||
	       (w->unwinding && unwinding_news(w->unwinding, &line))) {
		news_put(&w->news, line.uid, line.text);
		r = r < 0 ? r : writer_note(w, line.text);
	}
	for (size_t i = 0; i < w->stats.nr_over && r == 0; i++)
		if (w->over[i].here && !w->over[i].noted)
			r = tell_over(w, w->stats.over[i].uid, &w->over[i]);
	return r;
}

static uint64_t
sideband_bytes(const struct writer *w)
{
	struct recording_writer_stats s;

	recording_writer_stats(w->file.writer, &s);
	return s.sideband_bytes;
}

/*
 * Under a flood side-band is lost all the time. What a scan costs says how often one is made; the
 * last loss always has one behind it.
 */
static void
pause_resync(struct writer *w)
{
	uint64_t now_ns = host_now_ns(), pause_ns = (now_ns - w->resync_began_ns) * RESYNC_PAUSE;
	uint64_t have = sideband_bytes(w), bytes_ns = 0;
	/* In another file by now, where it is less than it was. */
	uint64_t bytes = have < w->resync_had ? have : have - w->resync_had;

	w->resync_began_ns = 0;
	/* What it waited for somebody is no cost. */
	if (pause_ns > RESYNC_PAUSE_MAX_NS)
		pause_ns = RESYNC_PAUSE_MAX_NS;
	if (w->sideband.rate)
		bytes_ns = bytes * UINT64_C(1000000000) / w->sideband.rate * RESYNC_SHARE;
	w->resync_after_ns = now_ns + (bytes_ns > pause_ns ? bytes_ns : pause_ns);
}

/* What came of a scan is written in large pieces, the last one when it is over. */
static int
write_state(struct writer *w, bool all)
{
	int r = take_news(w);

	if (r < 0)
		return r;
	if (!w->state.len || (!all && w->state.len < STATE_BYTES && live_scanning(w->options.live)))
		return 0;
	if (w->outage.on)
		w->outage.missed_state = true;
	else if (!w->options.flight)
		r = writer_block(w, BLOCK_STATE, buf_span(&w->state));
	buf_done(&w->state);
	return r;
}

int
writer_take_state(struct writer *w)
{
	size_t at = w->state.len;
	int r;

	if (live_take(w->options.live, w->complete_ns, &w->state) < 0)
		return fmt_fail(&w->where, FMT_E_NOMEM, 0, "state");
	writer_told(w, span_of(w->state.p + at, w->state.len - at));
	r = write_state(w, false);
	if (w->resync_began_ns && !live_scanning(w->options.live))
		pause_resync(w);
	return r;
}

/* Before it is over, the model lacks processes; at a later one, only what was lost with records. */
static bool
is_first_scan(const struct writer *w)
{
	return live_scanning(w->options.live) && !w->resync_began_ns;
}

static bool
is_awaited(const struct writer *w, enum writer_wait which, uint64_t waited_ns)
{
	const struct live *l = w->options.live;

	if (which == WRITER_WAIT_LAST && is_first_scan(w))
		return waited_ns < WAIT_SCAN_NS;
	if (which == WRITER_WAIT_LAST && live_hurrying(l))
		return waited_ns < WAIT_LAST_NS;
	if (waited_ns >= WAIT_NS)
		return false;
	if (which == WRITER_WAIT_LAST)
		return live_scanning(l) || live_waiting(l);
	if (queue_crowded(w->queue))
		return false;
	return which == WRITER_WAIT_NAMES ? is_first_scan(w) || live_hurrying(l) : live_scanning(l);
}

/* The file ends before /proc has told which processes there were when the session began. */
static int
tell_unscanned(struct writer *w)
{
	static const char line[] = "the scan of /proc was not over when the file ended: samples of "
				   "processes that it had not reached have no names";

	news_put(&w->news, NEWS_NO_USER, line);
	return writer_note(w, line);
}

int
writer_wait_state(struct writer *w, enum writer_wait which)
{
	const uint64_t began_ns = host_now_ns();
	int r;

	if (which != WRITER_WAIT_FIRST)
		live_hurry(w->options.live);
	r = writer_take_state(w);
	while (r == 0 && is_awaited(w, which, host_now_ns() - began_ns)) {
		struct pollfd p = { .fd = live_fd(w->options.live), .events = POLLIN };

		(void)poll(&p, 1, WAIT_LOOK_MS);
		r = writer_take_state(w);
	}
	if (r == 0)
		r = write_state(w, which != WRITER_WAIT_NAMES);
	return r == 0 && which != WRITER_WAIT_FIRST && is_first_scan(w) ? tell_unscanned(w) : r;
}

void
writer_resync(struct writer *w, uint64_t now_ns)
{
	struct fmt_where where = { 0 };
	uint64_t began_ns = host_now_ns();

	w->resync_wanted = live_scanning(w->options.live) || began_ns < w->resync_after_ns;
	if (w->resync_wanted)
		return;
	if (writer_follow(w, &where) < 0 || live_resync(w->options.live, now_ns) < 0) {
		w->resync_wanted = true;
		return;
	}
	w->resync_began_ns = began_ns;
	w->resync_had = sideband_bytes(w);
}
