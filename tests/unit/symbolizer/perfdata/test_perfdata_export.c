/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A recording as a perf.data: which records go out, what is made up, and what is not. */
#include "symbolizer/perfdata/perfdata_export.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/string.h>

#include "format/block/aux_trace.h"
#include "format/block/buildids.h"
#include "format/block/foreign.h"
#include "format/perfdata/perfdata_feature.h"
#include "format/perfdata/perfdata_reader.h"
#include "format/record/record_build.h"
#include "tests/lab/synthetic.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define CALLCHAIN UINT64_C(0x20)

/* --- where it goes, and back ------------------------------------------------------------- */

struct sink {
	struct io_sink io;
	struct buf bytes;
	unsigned int writes, fail; /* this write and those after it fail; 0: none */
};

static int
sink_write(struct io_sink *io, const void *p, size_t n)
{
	struct sink *s = (struct sink *)io;

	if (++s->writes >= s->fail && s->fail != 0)
		return -ENOSPC;
	buf_append(&s->bytes, p, n);
	return 0;
}

/* What came out, as perfdata_reader reads it. */
struct seen {
	unsigned int records[REC_KERNEL_MAX], tools[PERFDATA_RECORD_END];
	unsigned int features[PERFDATA_FEATURES_MAX], samples, bad;
	unsigned int bits; /* maps with the bit of a build-id */
	uint64_t lost[4];  /* by CPU, of LOST_SAMPLES */
	uint64_t newest;
	bool unsorted;
	char names[2][32], cmdline[64];
	struct buf build_ids, sample_time, places, traces;
	bool clock_first; /* TIME_CONV, of AUXTRACE_INFO */
};

static void
see_record(struct seen *seen, const struct perfdata_item *item)
{
	const struct perf_record *r = &item->record;

	if (!item->parsed) {
		seen->bad++;
		return;
	}
	seen->records[r->type]++;
	seen->bits += r->type == REC_MMAP2 && r->misc & PERF_RECORD_MISC_MMAP_BUILD_ID;
	seen->unsorted = seen->unsorted || r->sid.time < seen->newest;
	seen->newest = r->sid.time;
	if (r->type == REC_LOST_SAMPLES && r->sid.cpu < 4)
		seen->lost[r->sid.cpu] += r->lost.lost;
}

static void
see(struct seen *seen, const struct perfdata_item *item)
{
	if (item->kind == PERFDATA_ITEM_RECORD)
		see_record(seen, item);
	if (item->kind == PERFDATA_ITEM_TOOL || item->kind == PERFDATA_ITEM_ROUND)
		seen->tools[item->id]++;
	if (item->kind == PERFDATA_ITEM_TOOL && item->id == PERFDATA_AUXTRACE)
		buf_append(&seen->traces, item->bytes.p, item->bytes.len);
	if (item->kind == PERFDATA_ITEM_TOOL && item->id == PERFDATA_AUXTRACE_INFO)
		seen->clock_first = seen->tools[PERFDATA_TIME_CONV];
	if (item->kind != PERFDATA_ITEM_FEATURE)
		return;
	seen->features[item->id]++;
	if (item->id == PERFDATA_FEATURE_BUILD_ID)
		buf_append(&seen->build_ids, item->bytes.p, item->bytes.len);
	if (item->id == PERFDATA_FEATURE_SAMPLE_TIME)
		buf_append(&seen->sample_time, item->bytes.p, item->bytes.len);
	if (item->id == PERFDATA_FEATURE_AUXTRACE)
		buf_append(&seen->places, item->bytes.p, item->bytes.len);
}

static void
read_back(const struct buf *bytes, struct seen *seen)
{
	struct io_source *source = io_source_memory(bytes->p, bytes->len);
	struct perfdata_reader *reader;
	struct perfdata_item item;
	struct fmt_where where = { 0 };
	const struct recording_meta *meta;

	memset(seen, 0, sizeof(*seen));
	assert_int_equal(perfdata_reader_open(source, &reader, &where), 0);
	while (perfdata_reader_next(reader, &item, &where) > 0)
		see(seen, &item);
	assert_int_equal(perfdata_reader_health(reader)->skipped, 0);
	meta = perfdata_reader_meta(reader);
	for (size_t i = 0; i < 2; i++) {
		const struct event *e = event_set_at(meta->events, i);

		(void)strlcpy(seen->names[i], e->name, sizeof(seen->names[i]));
		assert_int_equal(e->nr_ids, 1);
		assert_int_equal(e->ids[0], 100 + i);
	}
	(void)strlcpy(seen->cmdline, meta->cmdline, sizeof(seen->cmdline));
	perfdata_reader_close(reader);
}

static void
seen_done(struct seen *seen)
{
	buf_done(&seen->build_ids);
	buf_done(&seen->sample_time);
	buf_done(&seen->places);
	buf_done(&seen->traces);
}

/* The section tells of each AUXTRACE record, in their order, where it is. */
static void
check_places(const struct buf *file, const struct seen *seen)
{
	struct span s = buf_span(&seen->places), record;
	uint64_t nr = 0, at, size, before = 0;

	assert_int_equal(seen->features[PERFDATA_FEATURE_AUXTRACE], 1);
	assert_true(span_u64(&s, &nr));
	assert_int_equal(nr, seen->tools[PERFDATA_AUXTRACE]);
	assert_int_equal(s.len, nr * 16);
	while (span_u64(&s, &at) && span_u64(&s, &size)) {
		assert_true(at > before && at <= file->len - size);
		record = span_of(file->p + at, (size_t)size);
		assert_int_equal(le32dec(record.p), PERFDATA_AUXTRACE);
		assert_int_equal(le16dec(record.p + 6), size);
		before = at;
	}
}

/* Everything that s reads, to sink. */
static int
export_to(struct sink *sink, struct synthetic *s, const struct perfdata_export_options *o,
	  struct perfdata_export_result *result, struct fmt_where *where)
{
	struct perfdata_export *x;
	int error, read_error;

	assert_int_equal(perfdata_export_open(&sink->io, o, &x), 0);
	assert_int_equal(perfdata_export_look(x, s->reader, where), 0);
	error = perfdata_export_add(x, s->reader, s->stream, &read_error, where);
	assert_int_equal(read_error, 0);
	if (!error)
		error = perfdata_export_finish(x, result, where);
	perfdata_export_close(x);
	return error;
}

/* And back. */
static void export(struct synthetic *s, const struct perfdata_export_options *o,
		   struct perfdata_export_result *result, struct seen *seen)
{
	struct sink sink = { .io = { .write = sink_write } };
	struct fmt_where where = { 0 };

	assert_int_equal(export_to(&sink, s, o, result, &where), 0);
	if (!o->pipe)
		memcpy(sink.bytes.p, result->header, sizeof(result->header));
	read_back(&sink.bytes, seen);
	if (!o->pipe && seen->tools[PERFDATA_AUXTRACE])
		check_places(&sink.bytes, seen);
	buf_done(&sink.bytes);
}

/* --- recordings -------------------------------------------------------------------------- */

static void
put_block(struct synthetic *s, enum block_type type, struct buf *payload)
{
	struct fmt_where where = { 0 };

	assert_int_equal(recording_writer_block(s->writer, type, buf_span(payload), &where), 0);
	buf_done(payload);
}

static void
put_loss(struct synthetic *s)
{
	struct loss *loss = loss_new();
	struct buf payload;

	assert_int_equal(loss_add(loss, 0, LOSS_KERNEL_SAMPLES, 7), 0);
	assert_int_equal(loss_add(loss, 0, LOSS_THROTTLED, 100), 0);
	assert_int_equal(loss_add(loss, 2, LOSS_KERNEL_SAMPLES, 3), 0);
	assert_int_equal(loss_add(loss, 2, LOSS_DROPPED, 2), 0);
	/* The kernel's own record tells of these. */
	assert_int_equal(loss_add(loss, 3, LOSS_LOST_SAMPLES, 50), 0);
	buf_init(&payload);
	loss_encode(loss, &payload);
	put_block(s, BLOCK_LOSS, &payload);
	loss_free(loss);
}

/* A sample of an event that is not there. */
static void
put_bad(struct synthetic *s)
{
	buf_u32(&s->records, REC_SAMPLE);
	buf_u16(&s->records, 0);
	buf_u16(&s->records, 16);
	buf_u64(&s->records, 999);
}

/* Five samples of two events on two CPUs, a COMM, a loss, and a record that is none. */
static void
make(struct synthetic *s)
{
	synthetic_begin(s, CALLCHAIN);
	synthetic_comm(s, 1, 1, "one");
	for (uint32_t i = 0; i < 5; i++) {
		s->event = i == 4;
		s->cpu = i % 2;
		synthetic_sample(s, 1, 1, 0x1000 + i, NULL, 0);
	}
	put_bad(s);
	put_loss(s);
}

/* What an importer leaves beside the records. */
static void
put_foreign(struct synthetic *s)
{
	static const uint8_t update[32] = { 78, 0, 0, 0, 0, 0, 32, 0, 2, 0, 0, 0, 0, 0, 0, 0, 100 };
	static const uint8_t unit[32] = { 78, 0, 0, 0, 0, 0, 32, 0, 0, 0, 0, 0, 0, 0, 0, 0, 100 };
	static const uint8_t auxtrace[48 + 16] = { 71, 0, 0, 0, 0, 0, 48, 0, 16 };
	static const uint8_t round[8] = { 68, 0, 0, 0, 0, 0, 8 };
	struct buf payload, cmdline;

	buf_init(&payload);
	buf_init(&cmdline);
	perfdata_feature_cmdline(&cmdline, "perf record");
	foreign_add(&payload, FOREIGN_FILE, 1, span_of("PERFILE2", 8));
	foreign_add(&payload, FOREIGN_FEATURE, PERFDATA_FEATURE_CMDLINE, buf_span(&cmdline));
	foreign_add(&payload, FOREIGN_FEATURE, PERFDATA_FEATURE_COMPRESSED,
		    span_of("01234567890123456789", 20));
	foreign_add(&payload, FOREIGN_FEATURE, PERFDATA_FEATURE_AUXTRACE, span_of("12345678", 8));
	foreign_add(&payload, FOREIGN_RECORD, 78, span_of(update, sizeof(update)));
	foreign_add(&payload, FOREIGN_RECORD, 78, span_of(unit, sizeof(unit)));
	foreign_add(&payload, FOREIGN_RECORD, 71, span_of(auxtrace, sizeof(auxtrace)));
	foreign_add(&payload, FOREIGN_RECORD, 68, span_of(round, sizeof(round)));
	buf_done(&cmdline);
	put_block(s, BLOCK_FOREIGN, &payload);
}

/* --- tests ------------------------------------------------------------------------------- */

static void
test_our_own(void **state)
{
	for (int pipe = 0; pipe < 2; pipe++) {
		struct perfdata_export_options o = { .pipe = pipe };
		struct perfdata_export_result result;
		struct synthetic s;
		struct seen seen;

		make(&s);
		synthetic_read(&s);
		export(&s, &o, &result, &seen);
		assert_int_equal(result.samples, 5);
		assert_int_equal(result.records, 6);
		assert_int_equal(result.bad_records, 1);
		assert_int_equal(seen.records[REC_SAMPLE], 5);
		assert_int_equal(seen.records[REC_COMM], 1);
		assert_int_equal(seen.bad, 0);
		assert_false(seen.unsorted);
		assert_string_equal(seen.names[0], "cpu-clock");
		assert_string_equal(seen.names[1], "page-faults");
		/* What is lost and no record tells of, once per CPU. */
		assert_int_equal(seen.records[REC_LOST_SAMPLES], 2);
		assert_int_equal(seen.lost[0], 7);
		assert_int_equal(seen.lost[2], 5);
		assert_int_equal(seen.features[PERFDATA_FEATURE_SAMPLE_TIME], !pipe);
		seen_done(&seen);
		synthetic_end(&s);
	}
}

/* Of an import nothing is made up, and nothing is left out but what tells of the file. */
static void
test_an_import(void **state)
{
	for (int pipe = 0; pipe < 2; pipe++) {
		struct perfdata_export_options o = { .pipe = pipe };
		struct perfdata_export_result result;
		struct synthetic s;
		struct seen seen;

		make(&s);
		put_foreign(&s);
		synthetic_read(&s);
		export(&s, &o, &result, &seen);
		assert_int_equal(result.bad_records, 0);
		assert_int_equal(seen.bad, 1);
		assert_int_equal(seen.records[REC_SAMPLE], 5);
		assert_int_equal(seen.records[REC_LOST_SAMPLES], 0);
		assert_string_equal(seen.cmdline, "perf record");
		assert_int_equal(seen.features[PERFDATA_FEATURE_COMPRESSED], 0);
		assert_int_equal(seen.features[PERFDATA_FEATURE_AUXTRACE], !pipe);
		assert_int_equal(seen.features[PERFDATA_FEATURE_BUILD_ID], 0);
		assert_int_equal(seen.features[PERFDATA_FEATURE_VERSION], 0);
		assert_int_equal(seen.tools[PERFDATA_AUXTRACE], 1);
		/* Two names of the writer's in a pipe, and the unit. */
		assert_int_equal(seen.tools[PERFDATA_EVENT_UPDATE], pipe ? 3 : 1);
		assert_int_equal(seen.tools[PERFDATA_FINISHED_ROUND], 0);
		seen_done(&seen);
		synthetic_end(&s);
	}
}

/* Two blocks of one tracer, and one of another, which a perf.data has no place for. */
static void
put_aux(struct synthetic *s)
{
	struct aux_trace about = { .tracer = AUX_TRACER_INTEL_PT,
				   .time_shift = 1,
				   .time_mult = 2,
				   .words = span_of("12345678", 8) };
	const struct aux_piece piece = { .cpu = 1, .bytes = span_of("seven..", 7) };
	struct buf payload;

	for (int i = 0; i < 3; i++) {
		if (i == 2)
			about.tracer = AUX_TRACER_ARM_SPE;
		buf_init(&payload);
		aux_trace_begin(&payload, &about);
		aux_trace_add(&payload, &piece);
		aux_trace_add(&payload, &piece);
		put_block(s, BLOCK_AUX, &payload);
	}
}

static void
test_aux(void **state)
{
	struct filter *filter = filter_new(0);

	for (int i = 0; i < 4; i++) {
		struct perfdata_export_options o = { .pipe = i & 1,
						     .filter = i & 2 ? filter : NULL };
		struct perfdata_export_result result;
		struct synthetic s;
		struct seen seen;

		make(&s);
		put_aux(&s);
		synthetic_read(&s);
		export(&s, &o, &result, &seen);
		assert_int_equal(seen.records[REC_SAMPLE], 5);
		assert_int_equal(seen.tools[PERFDATA_AUXTRACE_INFO], !o.filter);
		assert_int_equal(seen.tools[PERFDATA_TIME_CONV], !o.filter);
		assert_int_equal(seen.tools[PERFDATA_AUXTRACE], o.filter ? 0 : 4);
		assert_int_equal(seen.features[PERFDATA_FEATURE_AUXTRACE], i == 0);
		assert_int_equal(seen.clock_first, !o.filter);
		assert_true(result.aux_left_out);
		seen_done(&seen);
		synthetic_end(&s);
	}
	filter_free(filter);
}

/* A block with a piece of a ring, of the bytes of its stream: each tells its place. */
static void
put_piece(struct synthetic *s, uint32_t ring, uint64_t from, uint64_t until, uint32_t flags)
{
	struct aux_trace about = { .tracer = AUX_TRACER_CS_ETM };
	struct buf payload, bytes;

	buf_init(&payload);
	buf_init(&bytes);
	for (uint64_t i = from; i < until; i++)
		buf_u8(&bytes, (uint8_t)(i + 100 * ring));
	aux_trace_begin(&payload, &about);
	aux_trace_add(&payload,
		      &(struct aux_piece){ .ring = ring,
					   .cpu = ring,
					   .tid = AUX_TRACE_ANY,
					   .flags = flags,
					   .offset = from,
					   .bytes = buf_span(&bytes) });
	buf_done(&bytes);
	put_block(s, BLOCK_AUX, &payload);
}

static void
check_trace(struct span *traces, uint32_t ring, uint64_t from, uint64_t until)
{
	struct span record = { 0 }, bytes = { 0 };

	assert_true(span_take(traces, 48, &record));
	assert_int_equal(le64dec(record.p + 8), (until - from + 7) & ~UINT64_C(7));
	assert_int_equal(le64dec(record.p + 16), from);
	assert_int_equal(le32dec(record.p + 32), ring);
	assert_true(span_take(traces, (until - from + 7) & ~UINT64_C(7), &bytes));
	for (uint64_t i = from; i < until; i++)
		assert_int_equal(bytes.p[i - from], (uint8_t)(i + 100 * ring));
}

/* What was read together is one record, also if others came in between; what a hole parts is not. */
static void
test_pieces(void **state)
{
	struct perfdata_export_options o = { 0 };
	struct perfdata_export_result result;
	struct synthetic s;
	struct seen seen;
	struct span traces;

	make(&s);
	put_piece(&s, 0, 0, 64, AUX_PIECE_MORE);
	put_piece(&s, 1, 8, 24, AUX_PIECE_MORE);
	put_piece(&s, 0, 64, 128, AUX_PIECE_MORE);
	put_piece(&s, 0, 128, 133, 0);
	put_piece(&s, 0, 136, 144, 0);
	put_piece(&s, 1, 32, 40, 0);
	put_piece(&s, 2, 0, 16, AUX_PIECE_MORE);
	synthetic_read(&s);
	export(&s, &o, &result, &seen);
	assert_int_equal(result.aux_pieces, 5);
	traces = buf_span(&seen.traces);
	check_trace(&traces, 0, 0, 133);
	check_trace(&traces, 0, 136, 144);
	check_trace(&traces, 1, 8, 24);
	check_trace(&traces, 1, 32, 40);
	check_trace(&traces, 2, 0, 16);
	assert_int_equal(traces.len, 0);
	seen_done(&seen);
	synthetic_end(&s);
}

static void
test_a_filter(void **state)
{
	struct filter *filter = filter_new(0);
	struct perfdata_export_options o = { .filter = filter };
	struct perfdata_export_result result;
	struct synthetic s;
	struct seen seen;
	const char *why;

	assert_int_equal(filter_set(filter, FILTER_OPTION_cpu, "1", &why), 0);
	make(&s);
	synthetic_read(&s);
	export(&s, &o, &result, &seen);
	assert_int_equal(result.samples, 2);
	assert_int_equal(seen.records[REC_SAMPLE], 2);
	assert_int_equal(seen.records[REC_COMM], 1);
	/* The ledger is of all samples. */
	assert_int_equal(seen.records[REC_LOST_SAMPLES], 0);
	/* The second and the fourth of the samples, a microsecond apart each. */
	assert_int_equal(seen.sample_time.len, 16);
	assert_int_equal(le64dec(seen.sample_time.p + 8) - le64dec(seen.sample_time.p), 2000);
	seen_done(&seen);
	synthetic_end(&s);
	filter_free(filter);
}

static void
put_build_id(struct buf *payload, const char *path, uint8_t first)
{
	const struct buildid_entry e = { .id = { .size = 20, .bytes = { first } },
					 .path = path,
					 .path_len = strlen(path) };

	buildids_add(payload, &e);
}

/* Kilobytes of a hostile recording that unpack to more than anybody's header. */
static void
test_large_sections(void **state)
{
	static const struct {
		enum foreign_kind kind;
		uint32_t id;
	} cases[] = { { FOREIGN_RECORD, PERFDATA_BUILD_ID },
		      { FOREIGN_FEATURE, PERFDATA_FEATURE_CACHE } };
	const size_t n = 40u << 20;
	uint8_t *zeros = calloc(1, n);

	for (size_t i = 0; i < 2; i++) {
		struct perfdata_export_options o = { .pipe = false };
		struct sink sink = { .io = { .write = sink_write } };
		struct perfdata_export_result result;
		struct fmt_where where = { 0 };
		struct synthetic s;

		make(&s);
		for (uint32_t k = 0; k < 3; k++) {
			struct buf payload = { 0 };

			foreign_add(&payload, cases[i].kind, cases[i].id + (i > 0 ? k : 0),
				    span_of(zeros, n));
			put_block(&s, BLOCK_FOREIGN, &payload);
		}
		synthetic_read(&s);
		assert_int_equal(export_to(&sink, &s, &o, &result, &where), 0);
		assert_int_equal(result.left_out, 2);
		assert_int_equal(result.samples, 5);
		assert_uint_in_range(sink.bytes.len, n, n + 65536);
		buf_done(&sink.bytes);
		synthetic_end(&s);
	}
	free(zeros);
}

/* Once each; a path with two of them not at all, however often the first one comes again. */
static void
test_build_ids(void **state)
{
	struct perfdata_export_options o = { .pipe = false };
	struct perfdata_export_result result;
	struct synthetic s;
	struct seen seen;
	struct buf payload;

	make(&s);
	buf_init(&payload);
	buildids_begin(&payload);
	put_build_id(&payload, "/bin/a", 1);
	put_build_id(&payload, "/bin/upgraded", 2);
	put_build_id(&payload, "/bin/a", 1);
	put_build_id(&payload, "/bin/upgraded", 3);
	put_build_id(&payload, "/bin/upgraded", 2);
	put_build_id(&payload, "[module]", 4);
	put_build_id(&payload, "[vdso]", 5);
	put_block(&s, BLOCK_BUILDIDS, &payload);
	synthetic_read(&s);
	export(&s, &o, &result, &seen);
	assert_int_equal(seen.build_ids.len, 3 * 100);
	assert_string_equal((char *)seen.build_ids.p + 36, "/bin/a");
	assert_string_equal((char *)seen.build_ids.p + 136, "[module]");
	assert_string_equal((char *)seen.build_ids.p + 236, "[vdso]");
	for (size_t i = 0; i < 3; i++) /* user, kernel, user; and the size is told */
		assert_int_equal(le16dec(seen.build_ids.p + i * 100 + 4), i == 1 ? 0x8001 : 0x8002);
	seen_done(&seen);
	synthetic_end(&s);
}

/* The synthetic event asks for no build-ids: a record with a build-id's bit and an inode has the bit of another event. */
static void
put_map(struct synthetic *s, struct buildid id)
{
	const struct event_attr *attr = &s->attr[0];
	const struct perf_sample_id sid = { .id = 100, .time = s->now, .pid = 1, .tid = 1 };
	struct perf_mmap m = { .pid = 1, .tid = 1, .addr = 0x1000, .len = 0x1000, .build_id = id };
	const size_t start = s->records.len;

	m.maj = 8;
	m.min = 1;
	m.ino = UINT64_C(0x1234567812345678);
	m.filename = "/bin/a";
	assert_int_equal(record_build_mmap2(&s->records, attr, &sid, &m, 0), 0);
	le16enc(s->records.p + start + 4, PERF_RECORD_MISC_MMAP_BUILD_ID);
}

static void
test_bit_of_another_event(void **state)
{
	static const uint8_t bytes[20] = { 1, 2, 3, 4, 0xff, 0xff, 0xff, 0xff };

	for (int imported = 0; imported < 2; imported++) {
		struct perfdata_export_options o = { .pipe = false };
		struct perfdata_export_result result;
		struct synthetic s;
		struct seen seen;

		make(&s);
		put_map(&s, (struct buildid){ 0 });
		put_map(&s, buildid_of(BUILDID_GNU, bytes, sizeof(bytes)));
		if (imported)
			put_foreign(&s);
		synthetic_read(&s);
		export(&s, &o, &result, &seen);
		assert_int_equal(seen.records[REC_MMAP2], 2);
		assert_int_equal(seen.bits, imported ? 2 : 1);
		seen_done(&seen);
		synthetic_end(&s);
	}
}

static void
test_rounds(void **state)
{
	struct perfdata_export_options o = { .pipe = true };
	struct perfdata_export_result result;
	struct synthetic s;
	struct seen seen;
	uint64_t chain[1000] = { 0 };

	synthetic_begin(&s, CALLCHAIN);
	for (uint64_t i = 0; i < 300; i++)
		synthetic_sample(&s, 1, 1, i, chain, 1000);
	synthetic_read(&s);
	export(&s, &o, &result, &seen);
	/* 300 of 8048 bytes: one after each MiB. */
	assert_int_equal(seen.tools[PERFDATA_FINISHED_ROUND], 2);
	assert_int_equal(seen.records[REC_SAMPLE], 300);
	seen_done(&seen);
	synthetic_end(&s);
}

static void
test_every_write_fails(void **state)
{
	for (int pipe = 0; pipe < 2; pipe++) {
		struct perfdata_export_options o = { .pipe = pipe };
		struct perfdata_export_result result;
		int error = -1;

		for (unsigned int fail = 1; error != 0; fail++) {
			struct sink sink = { .io = { .write = sink_write }, .fail = fail };
			struct fmt_where where = { 0 };
			struct synthetic s;

			make(&s);
			synthetic_read(&s);
			error = export_to(&sink, &s, &o, &result, &where);
			if (error) {
				assert_int_equal(error, -FMT_E_IO);
				assert_int_equal(where.saved_errno, ENOSPC);
			}
			assert_true(fail < 100);
			buf_done(&sink.bytes);
			synthetic_end(&s);
		}
	}
}

/* Files that rotated share ids; another run has others of the same events. */
static void
test_several(void **state)
{
	struct perfdata_export_options o = { .pipe = false };
	struct perfdata_export_result result;
	struct sink sink = { .io = { .write = sink_write } };
	struct fmt_where where = { 0 };
	struct perfdata_export *x;
	struct synthetic s[3];
	struct seen seen;
	int read_error;

	assert_int_equal(perfdata_export_open(&sink.io, &o, &x), 0);
	for (int i = 0; i < 3; i++) {
		make(&s[i]);
		synthetic_read(&s[i]);
		assert_int_equal(perfdata_export_look(x, s[i].reader, &where), 0);
	}
	for (int i = 0; i < 3; i++)
		assert_int_equal(
			perfdata_export_add(x, s[i].reader, s[i].stream, &read_error, &where), 0);
	assert_int_equal(perfdata_export_finish(x, &result, &where), 0);
	perfdata_export_close(x);
	memcpy(sink.bytes.p, result.header, sizeof(result.header));
	read_back(&sink.bytes, &seen);
	assert_int_equal(seen.records[REC_SAMPLE], 15);
	assert_int_equal(seen.lost[0], 21);
	assert_int_equal(seen.features[PERFDATA_FEATURE_EVENT_DESC], 1);
	seen_done(&seen);
	buf_done(&sink.bytes);
	for (int i = 0; i < 3; i++)
		synthetic_end(&s[i]);
}

static int
sink_sync(struct io_sink *io)
{
	return 0;
}

static void
sink_close(struct io_sink *io)
{
}

/* An empty recording of that boot; its bytes are in file. */
static struct recording_reader *
make_boot(struct sink *file, uint8_t boot)
{
	struct recording_writer_options options = { 0 };
	struct recording_meta *meta = recording_meta_new();
	struct recording_writer *writer;
	struct recording_reader *reader;
	struct fmt_where where = { 0 };

	file->io = (struct io_sink){ .write = sink_write, .sync = sink_sync, .close = sink_close };
	meta->boot_id[15] = boot;
	assert_int_equal(recording_writer_open(&file->io, meta, &options, &writer, &where), 0);
	assert_int_equal(recording_writer_close(writer, 0, &where), 0);
	recording_meta_free(meta);
	assert_int_equal(recording_reader_open(io_source_memory(file->bytes.p, file->bytes.len),
					       &reader, &where),
			 0);
	return reader;
}

static void
test_two_boots(void **state)
{
	struct perfdata_export_options o = { .pipe = true };
	struct sink sink = { .io = { .write = sink_write } };
	struct fmt_where where = { 0 };
	struct perfdata_export *x;

	assert_int_equal(perfdata_export_open(&sink.io, &o, &x), 0);
	for (uint8_t i = 0; i < 3; i++) {
		struct sink file = { 0 };
		struct recording_reader *reader = make_boot(&file, i == 2);

		assert_int_equal(perfdata_export_look(x, reader, &where),
				 i == 2 ? -FMT_E_MISMATCH : 0);
		recording_reader_close(reader);
		buf_done(&file.bytes);
	}
	assert_int_equal(sink.writes, 0);
	perfdata_export_close(x);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_our_own),
		cmocka_unit_test(test_an_import),
		cmocka_unit_test(test_large_sections),
		cmocka_unit_test(test_a_filter),
		cmocka_unit_test(test_build_ids),
		cmocka_unit_test(test_bit_of_another_event),
		cmocka_unit_test(test_rounds),
		cmocka_unit_test(test_every_write_fails),
		cmocka_unit_test(test_several),
		cmocka_unit_test(test_two_boots),
		cmocka_unit_test(test_aux),
		cmocka_unit_test(test_pieces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
