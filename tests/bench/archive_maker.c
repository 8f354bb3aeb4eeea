/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An archive as spoord would have left it, of a host that does not exist:
 *
 *	archive_maker [-c CPUS] [-f HZ] [-s SEGMENT_SECONDS] [-e END] [-n] DIRECTORY SECONDS
 *
 * Every CPU is busy and sampled with call chains of some twenty frames; processes come (fork, exec,
 * maps) and go all the time; each segment begins with a snapshot of a thousand tasks. Through
 * the real writer, with the daemon's blocks of 5 s and segments of an hour; the last one ends
 * at END (seconds since 1970; default: now). -n: no END and no last INDEX, as a daemon that was
 * killed leaves it. Prints one line of JSON.
 */
#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "format/block/ksyms.h"
#include "format/block/loss.h"
#include "format/record/record_build.h"
#include "format/recording/recording_writer.h"
#include "tests/lab/attr_encode.h"
#include "tests/lab/record_sample.h"

#define USAGE "archive_maker [-c CPUS] [-f HZ] [-s SEGMENT_SECONDS] [-e END] [-n] DIRECTORY SECONDS"
#define NS UINT64_C(1000000000)
#define SAMPLE_ID 1000	 /* + cpu */
#define SIDEBAND_ID 5000 /* + cpu */
#define TASKS 1000
#define MAPS 20
#define STACKS 5000
#define DEPTH 20
#define FUNCTIONS 500		 /* of the kernel */
#define BLOCK_AGE 5		 /* seconds, as spoord has it */
#define UPTIME (86400 * NS * 30) /* of the host when the first segment begins */
#define KERNEL UINT64_C(0xffffffff81000000)

static unsigned int cpus = 64, hz = 19, segment_seconds = 3600;
static bool torn;
static uint64_t random_state = 1;
static uint64_t stacks[STACKS][DEPTH];
static struct event_attr sample_attr, sideband_attr;
static uint64_t samples_made, records_made, next_pid = 100000;

static uint32_t
next_random(uint32_t below)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((random_state >> 33) % below);
}

static void
make_stacks(void)
{
	for (size_t i = 0; i < STACKS; i++) {
		stacks[i][0] = PERF_CONTEXT_KERNEL;
		for (size_t k = 1; k < 8; k++)
			stacks[i][k] = KERNEL + next_random(FUNCTIONS * 8) * 64u;
		stacks[i][8] = PERF_CONTEXT_USER;
		for (size_t k = 9; k < DEPTH; k++)
			stacks[i][k] = 0x7f0000000000 + next_random(20000) * 48u;
	}
}

static void
make_attrs(void)
{
	const uint64_t common = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
		PERF_SAMPLE_CPU;

	sample_attr = (struct event_attr){
		.type = PERF_TYPE_HARDWARE,
		.size = 136,
		.sample_period = hz,
		.sample_type = common | PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN,
		.flags = UINT64_C(1) << EVENT_ATTR_sample_id_all | UINT64_C(1) << EVENT_ATTR_freq,
	};
	sideband_attr = (struct event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.size = 136,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = common,
		.flags = UINT64_C(1) << EVENT_ATTR_sample_id_all,
	};
}

static void
add_event(struct event_set *events, const struct event_attr *attr, const char *name, uint64_t id)
{
	uint8_t bytes[ATTR_ENCODE_MAX];
	int n = attr_encode(attr, bytes);
	size_t index;

	if (n < 0 || event_set_add(events, span_of(bytes, (size_t)n), name, &index) != 0)
		errx(1, "event");
	for (uint32_t cpu = 0; cpu < cpus; cpu++)
		if (event_set_add_id(events, index, id + cpu) != 0)
			errx(1, "event");
}

static struct recording_meta *
make_meta(uint64_t seq, uint64_t realtime, uint64_t monotonic)
{
	struct recording_meta *m = recording_meta_new();

	if (!m)
		errx(1, "out of memory");
	for (size_t i = 0; i < sizeof(m->file_id); i++)
		m->file_id[i] = (uint8_t)(seq >> (i % 8 * 8)) ^ (uint8_t)(i * 7);
	memset(m->boot_id, 0xab, sizeof(m->boot_id));
	m->start = (struct clock_triple){ realtime, monotonic, monotonic };
	m->clockid = 1;
	m->page_size = 4096;
	m->cpus_possible = m->cpus_online = cpus;
	m->frequency_hz = m->frequency_hz_effective = hz;
	recording_meta_set(&m->hostname, "nowhere");
	recording_meta_set(&m->release, "6.1.0");
	recording_meta_set(&m->arch, "x86_64");
	add_event(m->events, &sample_attr, "cycles", SAMPLE_ID);
	add_event(m->events, &sideband_attr, "dummy", SIDEBAND_ID);
	return m;
}

static struct perf_sample_id
sideband_id(uint32_t cpu, uint64_t time, uint32_t pid)
{
	return (struct perf_sample_id){ .have = sideband_attr.sample_type,
					.pid = pid,
					.tid = pid,
					.time = time,
					.id = SIDEBAND_ID + cpu,
					.cpu = cpu };
}

/* What says who a task is: its name, and the files it has mapped. */
static void
put_task(struct buf *b, uint32_t cpu, uint64_t time, uint32_t pid)
{
	const struct perf_sample_id sid = sideband_id(cpu, time, pid);
	char name[64];

	snprintf(name, sizeof(name), "worker-%u", pid % 50);
	record_build_comm(b, &sideband_attr, &sid, pid, pid, name, PERF_RECORD_MISC_COMM_EXEC);
	for (uint32_t i = 0; i < MAPS; i++) {
		struct perf_mmap m = { .pid = pid,
				       .tid = pid,
				       .addr = 0x7f0000000000 + i * 0x100000u,
				       .len = 0x100000,
				       .prot = 5,
				       .flags = 2,
				       .build_id.size = 20 };

		snprintf(name, sizeof(name), "/usr/lib/nowhere/lib%02u.so.%u", i, pid % 7);
		memset(m.build_id.bytes, (int)(i + pid % 7), sizeof(m.build_id.bytes));
		m.filename = name;
		record_build_mmap2(b, &sideband_attr, &sid, &m, PERF_RECORD_MISC_USER);
	}
	records_made += 1 + MAPS;
}

static void
put_process(struct buf *b, uint32_t cpu, uint64_t time)
{
	uint32_t pid = (uint32_t)next_pid++, old = pid - 100;
	const struct perf_sample_id sid = sideband_id(cpu, time, pid);

	record_build_fork(b, &sideband_attr, &sid, pid, 1, pid, 1, time, 0);
	put_task(b, cpu, time + 1000, pid);
	if (old >= 100000)
		record_build_exit(b, &sideband_attr, &sid, old, 1, old, 1, time + 2000);
	records_made += 2;
}

static void
put_sample(struct buf *b, uint32_t cpu, uint64_t time)
{
	uint32_t pid = 1000 + (cpu * 13 + next_random(40)) % TASKS;
	const uint64_t *stack = stacks[next_random(8) ? next_random(300) : next_random(STACKS)];
	size_t depth = DEPTH - next_random(4);
	const struct perf_sample sample = {
		.have = sample_attr.sample_type,
		.ip = stack[1],
		.period = 100000000 + next_random(1000000),
		.callchain = span_of(stack, depth * sizeof(*stack)),
	};
	const struct perf_sample_id sid = { .have = sample_attr.sample_type,
					    .pid = pid,
					    .tid = pid,
					    .time = time,
					    .id = SAMPLE_ID + cpu,
					    .cpu = cpu };

	if (record_sample_build(b, &sid, &sample, PERF_RECORD_MISC_KERNEL) != 0)
		errx(1, "sample");
	samples_made++;
	records_made++;
}

static void
fail(const struct fmt_where *where)
{
	errx(1, "offset %" PRIu64 ": %s", where->offset, where->detail);
}

/* One pass of a drain: a second, ring after ring. */
static void
put_second(struct recording_writer *w, struct buf *b, uint64_t from)
{
	struct fmt_where where = { 0 };
	uint64_t period = NS / hz;

	for (uint32_t cpu = 0; cpu < cpus; cpu++) {
		buf_clear(b);
		for (uint64_t i = 0; i < hz; i++)
			put_sample(b, cpu, from + i * period + next_random(1000000) + cpu * 977u);
		if (cpu % 16 == 5)
			put_process(b, cpu, from + next_random(900000000));
		if (buf_failed(b) || recording_writer_records(w, buf_span(b), NULL, &where) != 0)
			fail(&where);
	}
	recording_writer_pass(w, from + NS);
}

static void
put_ksyms(struct recording_writer *w, struct buf *b)
{
	char name[32];

	buf_clear(b);
	ksyms_begin(b);
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		snprintf(name, sizeof(name), "function_%u", i);
		ksyms_add(b, KERNEL + i * 512, KERNEL + (i + 1) * 512, "", name);
	}
	recording_writer_block(w, BLOCK_KSYMS, buf_span(b), NULL);
}

static void
put_small_blocks(struct recording_writer *w, struct buf *b, const struct loss *loss)
{
	buf_clear(b);
	loss_encode(loss, b);
	recording_writer_block(w, BLOCK_LOSS, buf_span(b), NULL);
}

static void
make_segment(const char *dir, uint64_t seq, uint64_t realtime, uint64_t monotonic, uint64_t seconds,
	     bool last)
{
	struct recording_meta *meta = make_meta(seq, realtime, monotonic);
	struct fmt_where where = { 0 };
	struct recording_writer *w;
	struct loss *loss = loss_new();
	time_t t = (time_t)(realtime / NS);
	char date[32], path[4096];
	struct buf b;
	struct tm tm;
	int fd;

	gmtime_r(&t, &tm);
	strftime(date, sizeof(date), "%Y%m%dT%H%M%S", &tm);
	snprintf(path, sizeof(path), "%s/%s.%06uZ-abababab-%06" PRIu64 ".spoor%s", dir, date,
		 (unsigned int)(realtime % NS / 1000), seq, last && torn ? ".active" : "");
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
	if (fd < 0 || !loss)
		err(1, "%s", path);
	buf_init(&b);
	if (recording_writer_open(io_sink_fd(fd), meta, NULL, &w, &where) != 0)
		fail(&where);
	for (uint32_t i = 0; i < TASKS; i++)
		put_task(&b, 0, monotonic, 1000 + i);
	recording_writer_block(w, BLOCK_STATE, buf_span(&b), &where);
	put_ksyms(w, &b);
	for (uint64_t s = 0; s < seconds; s++) {
		put_second(w, &b, monotonic + s * NS);
		if (s % 60 == 30) {
			loss_add(loss, 3, LOSS_KERNEL_SAMPLES, 1);
			put_small_blocks(w, &b, loss);
		}
		if (s % BLOCK_AGE == BLOCK_AGE - 1 && recording_writer_flush(w, &where) != 0)
			fail(&where);
	}
	if (last && torn)
		recording_writer_abandon(w);
	else if (recording_writer_close(w, 0, &where) != 0)
		fail(&where);
	recording_meta_free(meta);
	loss_free(loss);
	buf_done(&b);
}

static uint64_t
number(const char *text, uint64_t max)
{
	char *end;
	unsigned long long n = strtoull(text, &end, 10);

	if (end == text || *end || n > max)
		errx(2, "%s: not a number to %" PRIu64, text, max);
	return n;
}

int
main(int argc, char **argv)
{
	uint64_t seconds, end = (uint64_t)time(NULL), start, seq = 1, n;
	int c;

	if (argc == 2 && strcmp(argv[1], "--help") == 0) {
		puts("usage: " USAGE);
		return 0;
	}
	while ((c = getopt(argc, argv, "c:f:s:e:n")) != -1) {
		if (c == 'c')
			cpus = (unsigned int)number(optarg, 1024);
		else if (c == 'f')
			hz = (unsigned int)number(optarg, 100000);
		else if (c == 's')
			segment_seconds = (unsigned int)number(optarg, 1000000);
		else if (c == 'e')
			end = number(optarg, UINT32_MAX);
		else if (c == 'n')
			torn = true;
		else
			return 2;
	}
	if (argc != optind + 2 || cpus == 0 || hz == 0 || segment_seconds == 0)
		errx(2, "usage: " USAGE);
	seconds = number(argv[optind + 1], 100 * 86400);
	start = end - seconds;
	make_attrs();
	make_stacks();
	for (uint64_t at = 0; at < seconds; at += n, seq++) {
		n = seconds - at < segment_seconds ? seconds - at : segment_seconds;
		make_segment(argv[optind], seq, (start + at) * NS, UPTIME + at * NS, n,
			     at + n == seconds);
	}
	printf("{\"segments\":%" PRIu64 ",\"samples\":%" PRIu64 ",\"records\":%" PRIu64
	       ",\"start_s\":%" PRIu64 "}\n",
	       seq - 1, samples_made, records_made, start);
	return 0;
}
