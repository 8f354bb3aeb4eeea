/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/stream/usage.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "format/bytes/time_text.h"
#include "recorder/ground/small_file.h"
#include "recorder/helper/helper.h"

static uint64_t
cpu_ns(void)
{
	struct rusage r;

	if (getrusage(RUSAGE_SELF, &r) < 0)
		return 0;
	return ((uint64_t)r.ru_utime.tv_sec + (uint64_t)r.ru_stime.tv_sec) * SECOND_NS +
		((uint64_t)r.ru_utime.tv_usec + (uint64_t)r.ru_stime.tv_usec) * 1000 +
		helper_cpu_ns();
}

/* "size resident shared ...", in pages. */
static uint64_t
rss_bytes(void)
{
	uint64_t pages = 0;
	char text[128];

	(void)small_file_read(AT_FDCWD, "/proc/self/statm", text, sizeof(text));
	(void)sscanf(text, "%*u %" SCNu64, &pages);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

void
usage_take(struct usage *u, uint64_t now_ns, uint64_t written_bytes)
{
	if (u->nr && now_ns - u->points[u->last].at_ns < SECOND_NS * 9 / 10)
		return;
	u->last = u->nr ? (u->last + 1) % USAGE_POINTS : 0;
	if (u->nr < USAGE_POINTS)
		u->nr++;
	u->points[u->last] = (struct usage_point){ .at_ns = now_ns,
						   .cpu_ns = cpu_ns(),
						   .written_bytes = written_bytes };
	u->rss_bytes = rss_bytes();
}

const struct usage_point *
usage_now(const struct usage *u)
{
	return &u->points[u->last];
}

static const struct usage_point *
oldest(const struct usage *u)
{
	return &u->points[u->nr < USAGE_POINTS ? 0 : (u->last + 1) % USAGE_POINTS];
}

double
usage_cpu_percent(const struct usage *u)
{
	const struct usage_point *a = oldest(u), *b = usage_now(u);

	if (b->at_ns <= a->at_ns)
		return 0;
	return (double)(b->cpu_ns - a->cpu_ns) * 100 / (double)(b->at_ns - a->at_ns);
}

uint64_t
usage_written_per_s(const struct usage *u)
{
	const struct usage_point *a = oldest(u), *b = usage_now(u);

	if (b->at_ns <= a->at_ns)
		return 0;
	return (uint64_t)((double)(b->written_bytes - a->written_bytes) * 1e9 /
			  (double)(b->at_ns - a->at_ns));
}
