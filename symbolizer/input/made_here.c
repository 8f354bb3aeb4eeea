/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/input/made_here.h"

#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "format/bytes/time_text.h"
#include "format/perfdata/perfdata_reader.h"
#include "symbolizer/resolve/resolve.h"

/* Clocks are read one after another, and those of files in steps. */
#define SLACK_NS INT64_C(2000000000)
/* Clocks that nobody corrects are so much too fast or slow: NTP corrects 500 ppm. */
#define DRIFT_PARTS 1000
#define CLOCK_MAX_NS (INT64_MAX / 4) /* of what is no time */
/* perf record ends so soon after the last sample, or a bit later when nothing ran. */
#define ENDS_WITHIN_NS INT64_C(60000000000)

/* The recording's clock on this host, now. False: it does not begin with the boot, or is not known. */
static bool
clock_here(uint32_t clockid, const struct made_here_host *host, int64_t *ret_now_ns)
{
	switch (clockid) {
	case CLOCK_MONOTONIC:
		*ret_now_ns = (int64_t)host->monotonic;
		return true;
	case CLOCK_BOOTTIME:
		*ret_now_ns = (int64_t)host->boottime;
		return true;
	case CLOCK_MONOTONIC_RAW:
	case PERFDATA_CLOCK_OWN: /* of the same counter, and nearly of the same beginning */
		*ret_now_ns = (int64_t)host->monotonic_raw;
		return true;
	}
	return false;
}

int64_t
made_here_shift(const struct recording_meta *m, const struct made_here_host *host)
{
	int64_t now_ns = 0;

	if (m->clockid == CLOCK_REALTIME)
		now_ns = (int64_t)host->realtime;
	else if (!clock_here(m->clockid, host, &now_ns))
		return 0;
	return (int64_t)host->monotonic - now_ns;
}

/*
 * When the recording's clock had that value here: between *ret_from and *ret_until, by CLOCK_REALTIME. While the
 * host was suspended, most clocks stood still.
 */
static bool
when_here(const struct recording_meta *m, uint64_t clock_ns, const struct made_here_host *host,
	  int64_t *ret_from, int64_t *ret_until)
{
	const int64_t suspended = (int64_t)(host->boottime - host->monotonic);
	int64_t now_ns, ago_ns, slack;

	if (!clock_here(m->clockid, host, &now_ns))
		return false;
	ago_ns = now_ns - (int64_t)clock_ns;
	slack = SLACK_NS;
	if (now_ns == (int64_t)host->monotonic_raw && ago_ns > 0)
		slack += ago_ns / DRIFT_PARTS;
	*ret_until = (int64_t)host->realtime - ago_ns + slack;
	*ret_from = (int64_t)host->realtime - ago_ns - slack -
		(m->clockid == CLOCK_BOOTTIME ? 0 : suspended);
	return true;
}

/* By an instant that it tells on its own clock and on the wall's. */
static enum made_here
judge_instant(const struct recording_meta *m, const struct made_here_host *host)
{
	const int64_t wall = (int64_t)m->start.realtime;
	int64_t from, until;

	if (wall > (int64_t)host->realtime + SLACK_NS)
		return MADE_ELSEWHERE;
	if (!when_here(m, m->start.monotonic, host, &from, &until))
		return MADE_HERE_MAYBE;
	return wall >= from && wall <= until ? MADE_HERE : MADE_ELSEWHERE;
}

/* By its last sample, which came before the file was written for the last time: copies are younger. */
static enum made_here
judge_written(const struct recording_meta *m, const struct made_here_times *times,
	      const struct made_here_host *host)
{
	const int64_t written = (int64_t)times->written_ns;
	int64_t from, until;

	if (!when_here(m, times->last_ns, host, &from, &until))
		return MADE_HERE_MAYBE;
	if (from > (int64_t)host->realtime || (written && written < from))
		return MADE_ELSEWHERE;
	return written && times->last_ns && written <= until + ENDS_WITHIN_NS ? MADE_HERE
									      : MADE_HERE_MAYBE;
}

enum made_here
made_here_judge(const struct recording_meta *m, const struct made_here_times *times,
		const struct made_here_host *host)
{
	static const uint8_t unknown[sizeof(host->boot_id)];
	const int64_t booted = (int64_t)(host->realtime - host->boottime);
	const uint64_t wall = m->start.realtime ? m->start.realtime : times->written_ns;

	if (memcmp(m->boot_id, unknown, sizeof(unknown)) != 0)
		return memcmp(m->boot_id, host->boot_id, sizeof(unknown)) == 0 ? MADE_HERE
									       : MADE_ELSEWHERE;
	if (!m->hostname || strcmp(m->hostname, host->hostname) != 0)
		return MADE_ELSEWHERE;
	if (m->release && strcmp(m->release, host->release) != 0)
		return MADE_ELSEWHERE;
	if (wall > CLOCK_MAX_NS || m->start.monotonic > CLOCK_MAX_NS ||
	    times->last_ns > CLOCK_MAX_NS)
		return MADE_ELSEWHERE;
	if (wall && (int64_t)wall + SLACK_NS < booted)
		return MADE_ELSEWHERE;
	return m->start.realtime ? judge_instant(m, host) : judge_written(m, times, host);
}

static uint64_t
clock_now(clockid_t clock)
{
	struct timespec ts = { 0 };

	(void)clock_gettime(clock, &ts);
	return (uint64_t)time_text_ns(&ts);
}

enum made_here
made_here_find(struct input *in, int64_t *ret_shift_ns)
{
	const struct recording_meta *m = recording_reader_meta(in->reader);
	struct made_here_host host = { .realtime = clock_now(CLOCK_REALTIME),
				       .monotonic = clock_now(CLOCK_MONOTONIC),
				       .monotonic_raw = clock_now(CLOCK_MONOTONIC_RAW),
				       .boottime = clock_now(CLOCK_BOOTTIME) };
	/* Of a pipe it is 1: not known. */
	struct made_here_times times = { .written_ns = in->perfdata_ns > 1 ? in->perfdata_ns : 0 };
	struct input_range range;
	struct utsname name;

	*ret_shift_ns = made_here_shift(m, &host);
	if (resolver_is_this_boot(m->boot_id))
		return MADE_HERE;
	if (uname(&name) < 0)
		return MADE_ELSEWHERE;
	host.hostname = name.nodename;
	host.release = name.release;
	if (!m->start.realtime && input_range(in, &range, NULL) == 0)
		times.last_ns = range.last_ns;
	return made_here_judge(m, &times, &host);
}
