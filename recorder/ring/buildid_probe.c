/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/ring/buildid_probe.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "format/record/perf_record.h"
#include "recorder/event/event_def.h"
#include "recorder/event/event_open.h"
#include "recorder/ring/ring.h"

#define PAGE 4096
#define EVENTS 3
#define ASKS 1 /* the second, so that one that does not ask is visited after it, in either order */

struct probe {
	int fd[EVENTS];
	struct ring ring[EVENTS];
	uint8_t records[EVENTS][PAGE];
};

/* Of data alone: the mapping of the probe is then no news to recorders of code, whom it could harm. */
static int
open_event(struct probe *p, int i)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.config = PERF_COUNT_SW_DUMMY,
					.size = sizeof(attr),
					.disabled = 1, /* or it tells of the rings */
					.exclude_kernel = 1,
					.mmap2 = 1,
					.mmap_data = 1 };
	uint64_t asks = UINT64_C(1) << EVENT_ATTR_build_id;

	if (i == ASKS)
		event_attr_set_bits(&attr, event_attr_bits(&attr) | asks);
	p->fd[i] = event_open(&attr, 0, -1, 0);
	return p->fd[i] < 0 ? p->fd[i] : ring_map(&p->ring[i], p->fd[i], 1, false);
}

/* This program's own file: its first page, which holds the program headers, is in memory. */
static void
map_something(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	void *at;

	if (fd < 0)
		return;
	at = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
	if (at != MAP_FAILED)
		(void)munmap(at, PAGE);
	(void)close(fd);
}

static void
control(const struct probe *p, unsigned long request)
{
	for (int i = 0; i < EVENTS; i++)
		(void)ioctl(p->fd[i], request, 0);
}

static struct span
records_of(struct probe *p, int i)
{
	size_t n = ring_pending(&p->ring[i]);
	uint64_t corrupt = 0;

	n = n <= PAGE ? ring_read(&p->ring[i], p->records[i], n, &corrupt) : 0;
	return span_of(p->records[i], n);
}

/* How many MMAP2 records there are with the bit, and without. */
static void
buildid_probe_count(struct span s, unsigned *with, unsigned *without)
{
	struct span record;
	uint32_t type;
	uint16_t misc;

	*with = *without = 0;
	while (perf_record_next(&s, &record) == 1) {
		if (!span_u32(&record, &type) || !span_u16(&record, &misc) || type != REC_MMAP2)
			continue;
		++*(misc & PERF_RECORD_MISC_MMAP_BUILD_ID ? with : without);
	}
}

bool
buildid_probe_judge(struct span asks, struct span before, struct span after)
{
	unsigned with[EVENTS], without[EVENTS];

	buildid_probe_count(before, &with[0], &without[0]);
	buildid_probe_count(asks, &with[ASKS], &without[ASKS]);
	buildid_probe_count(after, &with[2], &without[2]);
	return with[ASKS] && !without[ASKS] && !with[0] && without[0] && !with[2] && without[2];
}

bool
buildid_probe_harmless(void)
{
	struct probe p = { .fd = { -1, -1, -1 } };
	bool harmless = false;
	int r = 0;

	for (int i = 0; r == 0 && i < EVENTS; i++)
		r = open_event(&p, i);
	if (r == 0) {
		control(&p, PERF_EVENT_IOC_ENABLE);
		map_something();
		control(&p, PERF_EVENT_IOC_DISABLE);
		harmless = buildid_probe_judge(records_of(&p, ASKS), records_of(&p, 0),
					       records_of(&p, 2));
	}
	for (int i = 0; i < EVENTS; i++) {
		ring_unmap(&p.ring[i]);
		if (p.fd[i] >= 0)
			(void)close(p.fd[i]);
	}
	return harmless;
}
