/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/event/trace_cost.h"

#include <linux/perf_event.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "recorder/event/event_open.h"
#include "recorder/host/host.h"

#define PAGES 64u
#define ROUNDS 15

static int
compare_ns(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* CPU time of touching all pages, each of which the kernel has to find anew. */
static int64_t
faults_ns(char *memory, size_t page)
{
	volatile char *touched = memory;
	uint64_t begin;

	(void)madvise(memory, PAGES * page, MADV_DONTNEED);
	begin = host_thread_cpu_ns();
	for (size_t i = 0; i < PAGES; i++)
		touched[i * page] = 1;
	return (int64_t)(host_thread_cpu_ns() - begin);
}

/* With the event and without it in turn: what else the machine does is in both. */
static uint64_t
median_ns(int fd, char *memory, size_t page)
{
	int64_t more[ROUNDS], without;

	for (size_t i = 0; i < ROUNDS; i++) {
		without = faults_ns(memory, page);
		(void)ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
		more[i] = faults_ns(memory, page) - without;
		(void)ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	}
	qsort(more, ROUNDS, sizeof(more[0]), compare_ns);
	return more[ROUNDS / 2] > 0 ? (uint64_t)more[ROUNDS / 2] / PAGES : 0;
}

static uint64_t
measure(void)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			PERF_SAMPLE_CALLCHAIN,
		.disabled = 1,
	};
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *memory = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);
	uint64_t ns = 0;
	int fd;

	if (memory == MAP_FAILED)
		return 0;
	/* A huge page would be one fault. */
	(void)madvise(memory, PAGES * page, MADV_NOHUGEPAGE);
	fd = event_open(&attr, 0, -1, 0);
	if (fd >= 0) {
		ns = median_ns(fd, memory, page);
		(void)close(fd);
	}
	(void)munmap(memory, PAGES * page);
	return ns;
}

uint64_t
trace_cost_ns(void)
{
	/* One more than measured; 0: not yet. Two threads may both measure. */
	static _Atomic uint64_t measured;
	uint64_t ns = atomic_load(&measured);

	if (!ns) {
		ns = measure() + 1;
		atomic_store(&measured, ns);
	}
	return ns - 1;
}
