/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lab/synthetic.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/sys/endian.h>
#include <linux/perf_event.h>

#include "format/block/gap.h"
#include "format/block/ksyms.h"
#include "format/block/loss.h"
#include "format/record/off_cpu.h"
#include "format/record/perf_record.h"
#include "format/record/record_build.h"
#include "tests/lab/attr_encode.h"
#include "tests/lab/record_sample.h"

#define DRAIN_BYTES (256u << 10)

struct memory_sink {
	struct io_sink io;
	struct buf *file;
};

static int
memory_write(struct io_sink *self, const void *p, size_t n)
{
	buf_append(((struct memory_sink *)self)->file, p, n);
	return 0;
}

static int
memory_sync(struct io_sink *self)
{
	return 0;
}

static int
memory_cut(struct io_sink *self, uint64_t size)
{
	((struct memory_sink *)self)->file->len = size;
	return 0;
}

static void
memory_close(struct io_sink *self)
{
	free(self);
}

static void
ok(int err, const struct fmt_where *where)
{
	if (err < 0)
		fail_msg("%s: %s", fmt_error_text(err), where ? where->detail : "");
}

static void
add_event(struct synthetic *s, unsigned i, const char *name)
{
	uint8_t raw[ATTR_ENCODE_MAX];
	size_t index;
	int n = attr_encode(&s->attr[i], raw);

	assert_true(n > 0);
	ok(event_set_add(s->meta->events, span_of(raw, (size_t)n), name, &index), NULL);
	assert_int_equal(index, i);
	ok(event_set_add_id(s->meta->events, index, 100 + i), NULL);
}

static void
begin(struct synthetic *s, uint64_t have, const char *off_cpu, uint64_t pid_namespace)
{
	static const char *const names[] = { "cpu-clock", "page-faults" };
	struct memory_sink *sink = calloc(1, sizeof(*sink));
	struct recording_writer_options options = { 0 };
	struct fmt_where where = { 0 };

	memset(s, 0, sizeof(*s));
	s->now = 1000000000;
	s->period = 1000;
	s->cpumode = PERF_RECORD_MISC_KERNEL;
	buf_init(&s->file);
	buf_init(&s->records);
	s->meta = recording_meta_new();
	assert_non_null(s->meta);
	assert_non_null(sink);
	s->meta->pid_namespace = pid_namespace;
	for (unsigned i = 0; i < SYNTHETIC_EVENTS; i++) {
		s->attr[i] = (struct event_attr){
			.type = PERF_TYPE_SOFTWARE,
			.size = 136,
			.sample_period = 4000,
			.sample_type = (have & PERF_SAMPLE_ID ? 0 : PERF_SAMPLE_IDENTIFIER) |
				PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | have,
			.flags = UINT64_C(1) << EVENT_ATTR_sample_id_all,
		};
		add_event(s, i, names[i]);
	}
	if (off_cpu) {
		struct event_attr *a = &s->attr[SYNTHETIC_OFF_CPU];

		*a = s->attr[0];
		a->config = PERF_COUNT_SW_CONTEXT_SWITCHES;
		a->sample_period = 1;
		a->flags |= UINT64_C(1) << EVENT_ATTR_context_switch;
		add_event(s, SYNTHETIC_OFF_CPU, off_cpu);
	}
	sink->io = (struct io_sink){ memory_write, memory_sync, memory_cut, memory_close };
	sink->file = &s->file;
	ok(recording_writer_open(&sink->io, s->meta, &options, &s->writer, &where), &where);
}

void
synthetic_begin(struct synthetic *s, uint64_t have)
{
	begin(s, have, NULL, 0);
}

void
synthetic_begin_inside(struct synthetic *s, uint64_t have)
{
	begin(s, have, NULL, 4026532178);
}

void
synthetic_begin_off_cpu(struct synthetic *s, uint64_t have, const char *name)
{
	begin(s, have, name, 0);
}

static struct perf_sample_id
sid(struct synthetic *s, uint32_t pid, uint32_t tid)
{
	s->now += 1000;
	return (struct perf_sample_id){
		.have = s->attr[0].sample_type,
		.pid = pid,
		.tid = tid,
		.time = s->now,
		.id = 100 + s->event,
		.cpu = s->cpu,
	};
}

static void
flush(struct synthetic *s)
{
	struct span rest = buf_span(&s->records), record, piece = rest;
	struct fmt_where where = { 0 };

	/* In calls of the size of a drain's: the writer refuses more than half a block's bound at once. */
	for (int more = 1; more > 0;) {
		more = perf_record_next(&rest, &record);
		piece.len = (size_t)(rest.p - piece.p) + (more > 0 ? 0 : rest.len);
		if (more > 0 && piece.len < DRAIN_BYTES)
			continue;
		ok(recording_writer_records(s->writer, piece, NULL, &where), &where);
		piece.p = rest.p;
	}
	buf_clear(&s->records);
	recording_writer_pass(s->writer, s->now);
	ok(recording_writer_flush(s->writer, &where), &where);
}

static unsigned
more_events(struct synthetic *s, const char *name, uint64_t flags, uint32_t type)
{
	const unsigned i = (unsigned)event_set_count(s->meta->events);
	struct fmt_where where = { 0 };

	flush(s);
	assert_true(i < sizeof(s->attr) / sizeof(s->attr[0]));
	s->attr[i] = s->attr[0];
	s->attr[i].flags |= flags;
	s->attr[i].type = type;
	add_event(s, i, name);
	if (type == PERF_TYPE_TRACEPOINT)
		ok(event_set_format(
			   s->meta->events, i,
			   "sched\nname: sched_waking\nID: 0\nformat:\n"
			   "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
			   "\n"
			   "\tfield:pid_t pid;\toffset:16;\tsize:4;\tsigned:1;\n"),
		   NULL);
	ok(recording_writer_block(s->writer, BLOCK_META, (struct span){ 0 }, &where), &where);
	return i;
}

unsigned
synthetic_event(struct synthetic *s, const char *name)
{
	return more_events(s, name, 0, s->attr[0].type);
}

unsigned
synthetic_clock_without_idle(struct synthetic *s)
{
	return more_events(s, "cpu-clock:I", UINT64_C(1) << EVENT_ATTR_exclude_idle,
			   PERF_TYPE_SOFTWARE);
}

unsigned
synthetic_wakeups(struct synthetic *s)
{
	return more_events(s, OFF_CPU_WAKEUPS, 0, PERF_TYPE_TRACEPOINT);
}

void
synthetic_wakeup(struct synthetic *s, unsigned event, uint32_t tid, uint8_t flags)
{
	const struct perf_sample more = s->more;
	const unsigned before = s->event;
	uint8_t raw[20] = { 0, 0, flags };

	le32enc(raw + 16, tid);
	s->event = event;
	s->more.raw = span_of(raw, sizeof(raw));
	synthetic_sample(s, 90, 91, 1, NULL, 0);
	s->event = before;
	s->more = more;
}

void
synthetic_ksym(struct synthetic *s, uint64_t start, uint64_t end, const char *module,
	       const char *name)
{
	struct fmt_where where = { 0 };
	struct buf b;

	flush(s);
	buf_init(&b);
	ksyms_begin(&b);
	ksyms_add(&b, start, end, module, name);
	ok(recording_writer_block(s->writer, BLOCK_KSYMS, buf_span(&b), &where), &where);
	buf_done(&b);
}

void
synthetic_gap(struct synthetic *s, uint64_t from_ns, uint64_t until_ns)
{
	const struct gap gap = { LOSS_PAUSED, GAP_CPU_ALL, from_ns, until_ns, 0 };
	struct fmt_where where = { 0 };
	struct buf b;

	flush(s);
	buf_init(&b);
	gap_begin(&b);
	gap_add(&b, &gap);
	ok(recording_writer_block(s->writer, BLOCK_GAP, buf_span(&b), &where), &where);
	buf_done(&b);
}

void
synthetic_comm(struct synthetic *s, uint32_t pid, uint32_t tid, const char *comm)
{
	struct perf_sample_id id = sid(s, pid, tid);

	ok(record_build_comm(&s->records, &s->attr[0], &id, pid, tid, comm, 0), NULL);
}

void
synthetic_fork(struct synthetic *s, uint32_t pid, uint32_t tid, uint16_t misc)
{
	struct perf_sample_id id = sid(s, pid, tid);

	ok(record_build_fork(&s->records, &s->attr[0], &id, pid, 1, tid, 1, s->now, misc), NULL);
}

/* A record of no fields but these words; of the event that is set. */
static void
put_words(struct synthetic *s, uint32_t type, uint16_t misc, const struct perf_sample_id *id,
	  const uint64_t *words, size_t nr)
{
	buf_u32(&s->records, type);
	buf_u16(&s->records, misc);
	buf_u16(&s->records, (uint16_t)(8 + 8 * (nr + 4)));
	for (size_t i = 0; i < nr; i++)
		buf_u64(&s->records, words[i]);
	buf_u32(&s->records, id->pid);
	buf_u32(&s->records, id->tid);
	buf_u64(&s->records, id->time);
	buf_u64(&s->records, id->cpu);
	buf_u64(&s->records, id->id);
}

void
synthetic_switch(struct synthetic *s, uint32_t pid, uint32_t tid, uint16_t misc)
{
	struct perf_sample_id id = sid(s, pid, tid);

	put_words(s, REC_SWITCH, misc, &id, NULL, 0);
}

void
synthetic_lost(struct synthetic *s, uint64_t lost)
{
	struct perf_sample_id id = sid(s, 0, 0);

	put_words(s, REC_LOST, 0, &id, (const uint64_t[]){ id.id, lost }, 2);
}

void
synthetic_poke(struct synthetic *s, uint64_t address, struct span old, struct span new)
{
	struct perf_sample_id id = sid(s, 0, 0);
	uint64_t words[2 + SYNTHETIC_POKE_MAX / 8] = { address };
	uint8_t *p = (uint8_t *)&words[1];

	assert_true(old.len + new.len <= SYNTHETIC_POKE_MAX);
	le16enc(p, (uint16_t)old.len);
	le16enc(p + 2, (uint16_t) new.len);
	memcpy(p + 4, old.p, old.len);
	memcpy(p + 4 + old.len, new.p, new.len);
	put_words(s, REC_TEXT_POKE, 0, &id, words, 1 + (4 + old.len + new.len + 7) / 8);
}

void
synthetic_exit(struct synthetic *s, uint32_t pid, uint32_t tid)
{
	struct perf_sample_id id = sid(s, pid, tid);

	ok(record_build_exit(&s->records, &s->attr[0], &id, pid, 1, tid, 1, s->now), NULL);
}

void
synthetic_cgroup(struct synthetic *s, uint64_t id, const char *path)
{
	struct perf_sample_id sample_id = sid(s, 0, 0);

	ok(record_build_cgroup(&s->records, &s->attr[0], &sample_id, id, path), NULL);
}

void
synthetic_map(struct synthetic *s, uint32_t pid, uint64_t addr, uint64_t len, const char *path)
{
	struct perf_sample_id id = sid(s, pid, pid);
	struct perf_mmap m = { .pid = pid,
			       .tid = pid,
			       .addr = addr,
			       .len = len,
			       .prot = 5,
			       .ino = 77,
			       .filename = path };

	ok(record_build_mmap2(&s->records, &s->attr[0], &id, &m, PERF_RECORD_MISC_USER), NULL);
}

void
synthetic_sample(struct synthetic *s, uint32_t pid, uint32_t tid, uint64_t ip,
		 const uint64_t *chain, size_t words)
{
	struct perf_sample_id id = sid(s, pid, tid);
	struct perf_sample sample = s->more;

	sample.have = s->attr[s->event].sample_type;
	sample.ip = ip;
	sample.period = s->period;
	sample.cgroup = s->cgroup;
	sample.callchain = span_of(chain, words * 8);
	ok(record_sample_build(&s->records, &id, &sample, s->cpumode), NULL);
}

void
synthetic_read(struct synthetic *s)
{
	struct fmt_where where = { 0 };

	flush(s);
	ok(recording_writer_close(s->writer, 0, &where), &where);
	s->writer = NULL;
	assert_false(buf_failed(&s->file));
	ok(recording_reader_open(io_source_memory(s->file.p, s->file.len), &s->reader, &where),
	   &where);
	ok(record_stream_open(s->reader, &s->stream), NULL);
}

void
synthetic_end(struct synthetic *s)
{
	record_stream_close(s->stream);
	recording_reader_close(s->reader);
	recording_meta_free(s->meta);
	buf_done(&s->file);
	buf_done(&s->records);
}
