/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Time: what a reader does may not grow faster than what it reads.
 *
 * The input is a template, steps of eight bytes, each of which says what is written (a record, an entry
 * of a block, the end of a block) and how its numbers grow from one repetition to the next. The recording of
 * 4 n repetitions is read, reported and summed up as that of n is. Work is counted, not timed:
 * format/ and symbolizer/ are compiled so that each basic block counts (see Makefile). n log n is allowed,
 * a quadratic loop is not.
 */
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/block/aux_trace.h"
#include "format/block/buildids.h"
#include "format/block/gap.h"
#include "format/block/ksyms.h"
#include "format/record/record_build.h"
#include "format/recording/record_stream.h"
#include "format/recording/recording_writer.h"
#include "symbolizer/dump/summary.h"
#include "symbolizer/profile/report.h"
#include "tests/lab/attr_encode.h"
#include "tests/lab/profile_add.h"
#include "tests/lab/record_sample.h"

#define STEP_BYTES 8
#define STEPS_MAX 12
#define REPEAT 1000  /* the smaller n */
#define MORE 4	     /* times as many are the larger */
#define GROWTH 1.3   /* of work per byte: n log n has 1.2, what is there 1.11 at most, n * n 4 */
#define SPARE 100000 /* basic blocks that tables may double at the wrong moment for */
#define OPS 21
#define OP_AUX 20
#define OP_EVENT 19 /* one more event; the others: put_step() */
#define KERNEL UINT64_C(0xffffffff81000000)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t work;

/* Called by each basic block of what is measured; libFuzzer has the other name for itself. */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
#define COUNT growth_trace_pc
#else
#define COUNT __sanitizer_cov_trace_pc
#endif
void COUNT(void);
void
COUNT(void)
{
	work++;
}

/* ---- a sink into memory ---- */

struct file {
	struct io_sink io;
	struct buf bytes;
};

static int
file_write(struct io_sink *io, const void *p, size_t n)
{
	buf_append(&((struct file *)io)->bytes, p, n);
	return 0;
}

static int
file_sync(struct io_sink *io)
{
	(void)io;
	return 0;
}

static int
file_cut(struct io_sink *io, uint64_t size)
{
	((struct file *)io)->bytes.len = (size_t)size;
	return 0;
}

static void
file_close(struct io_sink *io)
{
	(void)io;
}

/* ---- writing ---- */

struct maker {
	struct event_attr attr;
	struct recording_meta *meta;
	struct recording_writer *writer;
	struct file file;
	struct buf records;
	uint64_t time, n;
};

static void
check(bool ok)
{
	if (!ok)
		abort();
}

static void
add_event(struct maker *m, const char *name, uint64_t id)
{
	uint8_t bytes[ATTR_ENCODE_MAX];
	int n = attr_encode(&m->attr, bytes);
	size_t index;

	check(n > 0 && !event_set_add(m->meta->events, span_of(bytes, (size_t)n), name, &index) &&
	      !event_set_add_id(m->meta->events, index, id));
}

/* The numbers of one step in its i-th repetition. */
struct numbers {
	uint32_t pid, id;
	uint64_t addr, len;
	char name[32];
};

static void
numbers_of(const struct maker *m, const uint8_t *d, uint64_t i, struct numbers *ret)
{
	static const int64_t grow[] = { 0, 1, -1, 2, 3, 16, -16, 1000 };

	ret->pid = (uint32_t)(10 + d[1] % 16 + (uint64_t)(grow[d[2] & 7] * (int64_t)i)) & 0xfffffff;
	ret->id = (uint32_t)(1 + d[1] % 16 + (uint64_t)(grow[d[2] >> 3 & 7] * (int64_t)i));
	ret->addr =
		(UINT64_C(1) << 40) + d[3] * 4096u + (uint64_t)(grow[d[4] & 7] * (int64_t)i * 4096);
	ret->len = 4096u * (1u + d[5] % 8) + (d[6] & 1 ? (m->n - i) * 8192 : 0) +
		(d[6] & 2 ? i * 8192 : 0);
	snprintf(ret->name, sizeof(ret->name), "/n%u",
		 d[7] & 1 ? (unsigned)i : (unsigned)(d[7] >> 1) % 8);
}

/* All events stand in the header: a META for each would be a quadratic input. */
static void
add_events(struct maker *m, const uint8_t *data, size_t steps)
{
	struct numbers n;

	add_event(m, "e", 1);
	for (size_t k = 0; k < steps * STEP_BYTES; k += STEP_BYTES)
		for (uint64_t i = 0; i < m->n && data[k] % OPS == OP_EVENT; i++) {
			numbers_of(m, data + k, i, &n);
			if (event_set_find(m->meta->events, n.id) < 0)
				add_event(m, n.name, n.id);
		}
}

static void
begin(struct maker *m, const uint8_t *data, size_t steps)
{
	m->attr = (struct event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.size = ATTR_ENCODE_MAX,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_CALLCHAIN |
			PERF_SAMPLE_CGROUP,
		.flags = UINT64_C(1) << EVENT_ATTR_sample_id_all,
	};
	m->file.io = (struct io_sink){ file_write, file_sync, file_cut, file_close };
	buf_init(&m->file.bytes);
	buf_init(&m->records);
	m->meta = recording_meta_new();
	check(m->meta != NULL);
	m->meta->start = (struct clock_triple){ 1, 1, 1 };
	add_events(m, data, steps);
	check(!recording_writer_open(&m->file.io, m->meta, NULL, &m->writer, NULL));
}

static void
flush(struct maker *m)
{
	check(!recording_writer_records(m->writer, buf_span(&m->records), NULL, NULL));
	recording_writer_pass(m->writer, m->time);
	buf_clear(&m->records);
}

static void
block(struct maker *m, enum block_type type, struct buf *payload)
{
	check(!buf_failed(payload));
	check(!recording_writer_block(m->writer, type, buf_span(payload), NULL));
	buf_done(payload);
}

static int
put_map(struct maker *m, const struct perf_sample_id *sid, const struct numbers *n, bool kernel)
{
	const struct perf_mmap k = { .pid = kernel ? UINT32_MAX : n->pid,
				     .tid = kernel ? 0 : n->pid,
				     .addr = kernel ? KERNEL + (n->addr & 0xfffffff) : n->addr,
				     .len = n->len,
				     .ino = n->id,
				     .prot = 5,
				     .filename = n->name };

	return kernel ? record_build_mmap(&m->records, &m->attr, sid, &k, 1)
		      : record_build_mmap2(&m->records, &m->attr, sid, &k, 2);
}

static int
put_sample(struct maker *m, struct perf_sample_id *sid, const struct numbers *n, bool kernel,
	   bool chain)
{
	uint64_t ips[16] = { kernel ? PERF_CONTEXT_KERNEL : PERF_CONTEXT_USER };
	struct perf_sample s = { .have = m->attr.sample_type,
				 .ip = kernel ? KERNEL + (n->addr & 0xfffffff) : n->addr,
				 .cgroup = n->id };

	if (event_set_find(m->meta->events, n->id) >= 0)
		sid->id = n->id;
	for (uint64_t k = 1; k < 16; k++)
		ips[k] = s.ip + (k - 1) * 4096;
	if (chain)
		s.callchain = span_of(ips, sizeof(ips));
	return record_sample_build(&m->records, sid, &s, kernel ? 1 : 2);
}

static void
put_buildid(struct maker *m, const struct numbers *n, bool by_path)
{
	struct buildid_entry e = { .ino = by_path ? 0 : n->id,
				   .path = n->name,
				   .path_len = strlen(n->name) };
	uint8_t id[20] = { 1 };
	struct buf payload;

	le32enc(id + 4, n->pid);
	e.id = buildid_of(BUILDID_GNU, id, sizeof(id));
	buf_init(&payload);
	buildids_begin(&payload);
	buildids_add(&payload, &e);
	block(m, BLOCK_BUILDIDS, &payload);
}

static void
put_aux(struct maker *m, const struct numbers *n)
{
	const struct aux_trace about = { .tracer = AUX_TRACER_INTEL_PT };
	struct aux_piece piece = { .ring = n->id, .cpu = n->pid, .offset = n->addr };
	struct buf payload;

	buf_init(&payload);
	aux_trace_begin(&payload, &about);
	for (unsigned i = 0; i < 1 + n->id % 64; i++)
		aux_trace_add(&payload, &piece);
	block(m, BLOCK_AUX, &payload);
}

static void
put_other(struct maker *m, unsigned op, const struct numbers *n)
{
	const struct gap gap = { .cause = 1, .cpu = n->pid, .from_ns = n->addr, .until_ns = n->len };
	struct buf payload;

	buf_init(&payload);
	switch (op) {
	case 0:
		ksyms_begin(&payload);
		ksyms_add(&payload, KERNEL + (n->addr & 0xfffffff),
			  KERNEL + (n->addr & 0xfffffff) + n->len, "", n->name);
		block(m, BLOCK_KSYMS, &payload);
		break;
	case 1:
		gap_begin(&payload);
		gap_add(&payload, &gap);
		block(m, BLOCK_GAP, &payload);
		break;
	case 2:
		check(!recording_writer_block(m->writer, BLOCK_META, span_of(NULL, 0), NULL));
		break;
	default:
		flush(m);
		check(!recording_writer_flush(m->writer, NULL));
		break;
	}
}

static void
put_step(struct maker *m, const uint8_t *d, uint64_t i)
{
	const uint64_t links[14] = { i };
	struct perf_sample_id sid = { .have = m->attr.sample_type, .time = m->time++, .id = 1 };
	struct buf *b = &m->records;
	struct numbers n;
	unsigned op = d[0] % OPS;
	int error = 0;

	numbers_of(m, d, i, &n);
	sid.pid = sid.tid = n.pid;
	if (op == 0)
		error = record_build_fork(b, &m->attr, &sid, n.pid, 9, n.pid, 9, sid.time, 0);
	else if (op == 1) /* a thread */
		error = record_build_fork(b, &m->attr, &sid, 10, 10, n.pid, 10, sid.time, 0);
	else if (op == 2)
		error = record_build_exit(b, &m->attr, &sid, n.pid, 9, n.pid, 9, sid.time);
	else if (op <= 4)
		error = record_build_comm(b, &m->attr, &sid, n.pid, n.pid, n.name,
					  op == 4 ? PERF_RECORD_MISC_COMM_EXEC : 0);
	else if (op <= 6)
		error = put_map(m, &sid, &n, op == 6);
	else if (op <= 8)
		error = record_build_ksymbol(b, &m->attr, &sid, KERNEL + (n.addr & 0xfffffff),
					     (uint32_t)n.len, 1, op == 8, n.name);
	else if (op == 9)
		error = record_build_cgroup(b, &m->attr, &sid, n.id, n.name);
	else if (op == 10)
		error = record_build_namespaces(b, &m->attr, &sid, n.pid, n.pid, links, 7);
	else if (op <= 12)
		error = put_sample(m, &sid, &n, op == 12, d[7] & 0x80);
	else if (op <= 14)
		put_buildid(m, &n, op == 14);
	else if (op == OP_AUX)
		put_aux(m, &n);
	else if (op != OP_EVENT)
		put_other(m, op - 15, &n);
	check(!error);
	if (b->len > 1u << 18)
		flush(m);
}

/* ---- reading ---- */

static void
report(struct recording_reader *reader)
{
	static const char *const nowhere[] = { NULL };
	const struct resolver_options options = { .symfs = "/nonexistent", .debug_dirs = nowhere };
	const struct profile_options po = { .by_pid = true, .by_cgroup = true };
	const struct report_options ro = {
		.keys = { { REPORT_comm, REPORT_dso, REPORT_sym, REPORT_pid, REPORT_cgroup },
			  5,
			  false },
		.children = true,
	};
	const struct resolver_recording recording = { 0 };
	struct resolver *resolver = resolver_new(&options);
	struct profile *p = resolver ? profile_new(resolver, NULL, &po) : NULL;
	struct record_stream *stream = NULL;
	struct report *r = NULL;

	check(p && !resolver_begin(resolver, &recording));
	check(!record_stream_open(reader, &stream));
	check(!profile_add(p, &po, stream, NULL));
	check(!report_build(p, &ro, &r));
	report_free(r);
	record_stream_close(stream);
	profile_free(p);
	resolver_free(resolver);
}

/* What reading the recording of n repetitions takes; *ret_bytes: how much there is to read. */
static uint64_t
cost(const uint8_t *data, size_t steps, uint64_t n, uint64_t *ret_bytes)
{
	struct recording_writer_stats stats;
	struct recording_reader *reader;
	struct maker m = { .n = n, .time = 1 };
	struct summary s;
	uint64_t before;

	begin(&m, data, steps);
	for (uint64_t i = 0; i < n; i++)
		for (size_t k = 0; k < steps; k++)
			put_step(&m, data + k * STEP_BYTES, i);
	flush(&m);
	check(!recording_writer_flush(m.writer, NULL));
	recording_writer_stats(m.writer, &stats);
	check(!recording_writer_close(m.writer, 0, NULL) && !buf_failed(&m.file.bytes));
	*ret_bytes = stats.raw_bytes + m.file.bytes.len;
	before = work;
	check(!recording_reader_open(io_source_memory(m.file.bytes.p, m.file.bytes.len), &reader,
				     NULL));
	report(reader);
	check(!summary_read(reader, &s, NULL));
	summary_done(&s);
	recording_reader_close(reader);
	before = work - before;
	recording_meta_free(m.meta);
	buf_done(&m.records);
	buf_done(&m.file.bytes);
	return before;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t steps = size / STEP_BYTES < STEPS_MAX ? size / STEP_BYTES : STEPS_MAX;
	uint64_t small_bytes, large_bytes, small, large;
	double more;

	small = cost(data, steps, REPEAT, &small_bytes);
	large = cost(data, steps, REPEAT * MORE, &large_bytes);
	check(small > 0); /* it is counted */
	/* Repetitions need not be of one size; of small ones the file's own beginning is most. */
	more = (double)large_bytes / (double)small_bytes;
	if ((double)large > GROWTH * (double)small * (more > MORE ? more : MORE) + SPARE) {
		fprintf(stderr, "%llu bytes: %llu blocks; %llu bytes: %llu blocks\n",
			(unsigned long long)small_bytes, (unsigned long long)small,
			(unsigned long long)large_bytes, (unsigned long long)large);
		abort();
	}
	return 0;
}
