/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lab/recording_maker.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/block/aux_trace.h"
#include "format/block/buildids.h"
#include "format/block/foreign.h"
#include "format/block/gap.h"
#include "format/block/jitsyms.h"
#include "format/block/ksyms.h"
#include "format/block/packed.h"
#include "format/block/rate.h"
#include "format/block/unwind_stops.h"
#include "format/record/record_build.h"
#include "tests/lab/attr_encode.h"
#include "tests/lab/record_sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

struct sink {
	struct io_sink io;
	struct memory_file *f;
};

static void
append(struct memory_file *f, const void *p, size_t n)
{
	if (f->n + n > f->cap) {
		f->cap = (f->n + n) * 2;
		f->p = realloc(f->p, f->cap);
		assert_non_null(f->p);
	}
	if (n > 0)
		memcpy(f->p + f->n, p, n);
	f->n += n;
}

static int
sink_write(struct io_sink *io, const void *p, size_t n)
{
	struct memory_file *f = ((struct sink *)io)->f;
	bool fails = f->fail_write != 0 && ++f->writes >= f->fail_write &&
		(f->heal_after == 0 || f->writes < f->fail_write + f->heal_after);

	if (fails) {
		append(f, p, f->short_bytes < n ? f->short_bytes : n);
		return -f->fail_errno;
	}
	append(f, p, n);
	return 0;
}

static int
sink_sync(struct io_sink *io)
{
	struct memory_file *f = ((struct sink *)io)->f;

	f->syncs++;
	return f->fail_sync ? -EIO : 0;
}

static int
sink_cut(struct io_sink *io, uint64_t size)
{
	struct memory_file *f = ((struct sink *)io)->f;

	f->cuts++;
	if (f->fail_cut)
		return -EIO;
	assert_true(size <= f->n);
	f->n = size;
	return 0;
}

static void
sink_close(struct io_sink *io)
{
	((struct sink *)io)->f->closed = true;
	free(io);
}

struct io_sink *
memory_sink(struct memory_file *f)
{
	struct sink *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	s->io = (struct io_sink){ sink_write, sink_sync, sink_cut, sink_close };
	s->f = f;
	return &s->io;
}

void
memory_file_done(struct memory_file *f)
{
	free(f->p);
	memset(f, 0, sizeof(*f));
}

static const struct event_attr sample_attr = {
	.type = PERF_TYPE_SOFTWARE,
	.size = 136,
	.config = PERF_COUNT_SW_CPU_CLOCK,
	.sample_period = 999,
	.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
		PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD,
	.flags = UINT64_C(1) << EVENT_ATTR_sample_id_all | UINT64_C(1) << EVENT_ATTR_freq,
};

static const struct event_attr sideband_attr = {
	.type = PERF_TYPE_SOFTWARE,
	.size = 136,
	.config = PERF_COUNT_SW_DUMMY,
	.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
		PERF_SAMPLE_CPU,
	.flags = UINT64_C(1) << EVENT_ATTR_sample_id_all | UINT64_C(1) << EVENT_ATTR_comm,
};

static void
add_event(struct event_set *events, const struct event_attr *attr, const char *name, uint64_t id)
{
	uint8_t bytes[ATTR_ENCODE_MAX];
	int n = attr_encode(attr, bytes);
	size_t index;

	assert_int_equal(n, attr->size);
	assert_int_equal(event_set_add(events, span_of(bytes, (size_t)n), name, &index), 0);
	for (uint32_t cpu = 0; cpu < MAKER_CPUS; cpu++)
		assert_int_equal(event_set_add_id(events, index, id + cpu), 0);
}

struct recording_meta *
maker_meta(uint8_t seed)
{
	struct recording_meta *m = recording_meta_new();

	assert_non_null(m);
	for (int i = 0; i < FILE_ID_BYTES; i++)
		m->file_id[i] = (uint8_t)(seed * 31 + i * 7);
	m->start = (struct clock_triple){ 1700000000000000000, 1000, 2000 };
	m->clockid = 1;
	m->page_size = 4096;
	m->cpus_possible = m->cpus_online = MAKER_CPUS;
	m->frequency_hz = m->frequency_hz_effective = 999;
	assert_int_equal(recording_meta_set(&m->hostname, "lion"), 0);
	assert_int_equal(recording_meta_set(&m->release, "6.1.0"), 0);
	assert_int_equal(recording_meta_set(&m->arch, "x86_64"), 0);
	add_event(m->events, &sample_attr, "cpu-clock", MAKER_SAMPLE_ID);
	add_event(m->events, &sideband_attr, "dummy", MAKER_SIDEBAND_ID);
	return m;
}

void
maker_sample(struct buf *out, uint32_t cpu, uint64_t time, uint64_t ip)
{
	const struct perf_sample sample = { .have = sample_attr.sample_type,
					    .ip = ip,
					    .period = 1 + ip * 2654435761 };
	const struct perf_sample_id sid = {
		.have = sample_attr.sample_type,
		.pid = 1000 + cpu,
		.tid = 1000 + cpu,
		.time = time,
		.id = MAKER_SAMPLE_ID + cpu,
		.cpu = cpu,
	};

	assert_int_equal(record_sample_build(out, &sid, &sample, 2), 0);
}

void
maker_comm(struct buf *out, uint32_t cpu, uint64_t time, uint32_t pid, const char *comm)
{
	const struct perf_sample_id sid = {
		.have = sideband_attr.sample_type,
		.pid = pid,
		.tid = pid,
		.time = time,
		.id = MAKER_SIDEBAND_ID + cpu,
		.cpu = cpu,
	};

	assert_int_equal(record_build_comm(out, &sideband_attr, &sid, pid, pid, comm, 0), 0);
}

static void
write_small_blocks(struct recording_writer *w)
{
	struct loss *loss = loss_new();
	struct recording_writer_stats st;
	struct buf b;

	assert_non_null(loss);
	buf_init(&b);
	ksyms_begin(&b);
	ksyms_add(&b, 0xffffffff81000000, 0xffffffff81000100, "", "do_idle");
	assert_int_equal(le32dec(b.p), 1);
	assert_int_equal(recording_writer_block(w, BLOCK_KSYMS, buf_span(&b), NULL), 0);
	buildids_begin(&b);
	buildids_add(&b,
		     &(struct buildid_entry){
			     .ino = 7, .id = { .size = 20 }, .path = "/a", .path_len = 2 });
	assert_int_equal(le32dec(b.p), 1);
	assert_int_equal(recording_writer_block(w, BLOCK_BUILDIDS, buf_span(&b), NULL), 0);
	buf_clear(&b);
	assert_int_equal(loss_add(loss, 1, LOSS_KERNEL_SAMPLES, 5), 0);
	loss_encode(loss, &b);
	assert_int_equal(recording_writer_block(w, BLOCK_LOSS, buf_span(&b), NULL), 0);
	gap_begin(&b);
	gap_add(&b, &(struct gap){ LOSS_CPU_OFFLINE, 1, 10100, 10200, 0 });
	assert_int_equal(recording_writer_block(w, BLOCK_GAP, buf_span(&b), NULL), 0);
	rate_begin(&b);
	rate_add(&b, &(struct rate){ 10200, 99, 49, RATE_ASKED });
	assert_int_equal(recording_writer_block(w, BLOCK_RATE, buf_span(&b), NULL), 0);
	buf_clear(&b);
	unwind_stops_encode(&(struct unwind_stops){ .stacks = { [UNWIND_END] = 7 }, .frames = 70 },
			    &b);
	assert_int_equal(recording_writer_block(w, BLOCK_STACKS, buf_span(&b), NULL), 0);
	buf_clear(&b);
	foreign_add(&b, FOREIGN_FEATURE, 3, span_of("five.", 5));
	assert_int_equal(recording_writer_block(w, BLOCK_FOREIGN, buf_span(&b), NULL), 0);
	jitsyms_begin(&b);
	jitsyms_add(&b,
		    &(struct jitsym){
			    .pid = 1001, .start = 0x7000, .size = 9, .name = "f", .name_len = 1 });
	assert_int_equal(recording_writer_block(w, BLOCK_JIT, buf_span(&b), NULL), 0);
	aux_trace_begin(&b,
			&(struct aux_trace){ .tracer = AUX_TRACER_ARM_SPE,
					     .time_shift = 3,
					     .time_mult = 24,
					     .time_zero = 100,
					     .words = span_of("PMUTYPE.PER_CPU.", 16) });
	aux_trace_add(&b,
		      &(struct aux_piece){ .cpu = 1,
					   .tid = AUX_TRACE_ANY,
					   .bytes = span_of("thirteen byte", 13) });
	assert_int_equal(recording_writer_block(w, BLOCK_AUX, buf_span(&b), NULL), 0);
	buf_clear(&b);
	packed_object_put(&b,
			  &(struct packed_object){ .kind = PACKED_OBJECT,
						   .id = { 1, BUILDID_GNU, { 7 } },
						   .pieces = 1,
						   .size = 100,
						   .path = "/bin/cat",
						   .path_len = 8 });
	assert_int_equal(recording_writer_block(w, BLOCK_OBJECT, buf_span(&b), NULL), 0);
	buf_clear(&b);
	recording_writer_stats(w, &st);
	packed_piece_put(&b,
			 &(struct packed_piece){ st.blocks - 1, 10, span_of("ten bytes.", 10) });
	assert_int_equal(recording_writer_block(w, BLOCK_PIECE, buf_span(&b), NULL), 0);
	loss_free(loss);
	buf_done(&b);
}

void
maker_recording(struct memory_file *f, uint8_t seed, unsigned int samples, uint32_t block_bytes,
		uint32_t index_every)
{
	const struct recording_writer_options options = { .block_bytes = block_bytes,
							  .index_every = index_every };
	struct recording_meta *meta = maker_meta(seed);
	struct recording_writer *w;
	uint64_t bad, time = 10000;
	bool half = false;
	struct buf b;

	buf_init(&b);
	assert_int_equal(recording_writer_open(memory_sink(f), meta, &options, &w, NULL), 0);
	maker_comm(&b, 0, time, 1000, "init");
	maker_comm(&b, 0, time, 1001, "cat");
	assert_int_equal(recording_writer_block(w, BLOCK_STATE, buf_span(&b), NULL), 0);
	for (unsigned int ip = 1; ip <= samples;) {
		/* A pass: ring 0, then ring 1, of which each is in order and both overlap. */
		for (uint32_t cpu = 0; cpu < 2; cpu++) {
			buf_clear(&b);
			if (cpu == 1)
				maker_comm(&b, cpu, time + 1, 1001, "dog");
			for (uint64_t i = 0; i < 3 && ip <= samples; i++)
				maker_sample(&b, cpu, time + 10 * i + cpu, ip++);
			assert_int_equal(recording_writer_records(w, buf_span(&b), &bad, NULL), 0);
			assert_int_equal(bad, 0);
		}
		time += 100;
		recording_writer_pass(w, time);
		if (!half && ip > samples / 2)
			write_small_blocks(w);
		half = ip > samples / 2;
	}
	assert_int_equal(recording_writer_close(w, 1, NULL), 0);
	assert_true(f->closed);
	recording_meta_free(meta);
	buf_done(&b);
}

size_t
maker_ips(const struct event_set *events, struct span payload, uint64_t *ips, size_t max)
{
	struct perf_record record;
	struct span bytes;
	size_t n = 0;

	while (perf_record_next(&payload, &bytes) > 0) {
		if (event_set_parse(events, bytes, &record, NULL) != 0)
			fail_msg("a record of a whole block does not parse");
		if (record.type == REC_SAMPLE) {
			assert_true(n < max);
			ips[n++] = record.sample.ip;
		}
	}
	return n;
}
