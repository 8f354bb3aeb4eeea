/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/perfdata/perfdata_import.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/string.h>

#include "format/block/buildids.h"
#include "format/block/foreign.h"
#include "format/block/loss.h"
#include "format/recording/record_stream.h"
#include "tests/lab/perfdata_maker.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

/* --- a sink into memory ------------------------------------------------------------------ */

struct memory_sink {
	struct io_sink io;
	struct buf *to;
	size_t room; /* bytes until the disk is full */
};

static int
sink_write(struct io_sink *io, const void *p, size_t n)
{
	struct memory_sink *s = (struct memory_sink *)io;

	if (n > s->room)
		return -ENOSPC;
	s->room -= n;
	buf_append(s->to, p, n);
	return 0;
}

static int
sink_sync(struct io_sink *io)
{
	return 0;
}

static int
sink_cut(struct io_sink *io, uint64_t size)
{
	return 0;
}

static void
sink_close(struct io_sink *io)
{
	free(io);
}

static struct io_sink *
sink_into(struct buf *to, size_t room)
{
	struct memory_sink *s = calloc(1, sizeof(*s));

	s->io = (struct io_sink){ sink_write, sink_sync, sink_cut, sink_close };
	s->to = to;
	s->room = room;
	return &s->io;
}

/* --- what an import gave ----------------------------------------------------------------- */

struct imported {
	struct perfdata_import_result result;
	struct buf file;
	struct recording_reader *reader;
	struct buf records; /* of all RECORDS blocks */
	struct buf foreign; /* of all FOREIGN blocks */
	struct buf buildids;
	uint64_t first_complete;
	unsigned int blocks, metas;
	uint64_t lost;
};

static void
import(const struct buf *perfdata, struct imported *im)
{
	struct fmt_where where = { 0 };
	struct block b;
	bool reading;
	int error;

	memset(im, 0, sizeof(*im));
	error = perfdata_import(io_source_memory(perfdata->p, perfdata->len),
				sink_into(&im->file, SIZE_MAX), &im->result, &reading, &where);
	if (error)
		fail_msg("%s", where.detail);
	assert_int_equal(recording_reader_open(io_source_memory(im->file.p, im->file.len),
					       &im->reader, &where),
			 0);
	while (recording_reader_next(im->reader, NULL, NULL, &b, &where) > 0) {
		struct buf *to = NULL;

		if (b.header.type == BLOCK_RECORDS) {
			to = &im->records;
			if (im->blocks++ == 0)
				im->first_complete = b.header.complete;
		} else if (b.header.type == BLOCK_FOREIGN) {
			to = &im->foreign;
		} else if (b.header.type == BLOCK_BUILDIDS) {
			to = &im->buildids;
		} else if (b.header.type == BLOCK_META) {
			im->metas++;
		}
		if (to)
			buf_append(to, b.payload.p, b.payload.len);
		im->lost = b.header.lost;
	}
	assert_true(recording_health_clean(recording_reader_health(im->reader)));
}

static void
imported_done(struct imported *im)
{
	recording_reader_close(im->reader);
	buf_done(&im->file);
	buf_done(&im->records);
	buf_done(&im->foreign);
	buf_done(&im->buildids);
}

static void
begin_pipe(struct buf *b, uint64_t read_format)
{
	maker_pipe(b);
	maker_attr_record(b, 96, 0, 1, 2);
	le64enc(b->p + 16 + 8 + 32, read_format);
}

static void
put_lost(struct buf *b, uint32_t type, uint16_t misc, uint64_t lost)
{
	maker_head(b, type, misc, 8 + (type == 2 ? 16 : 8) + 24);
	if (type == 2)
		buf_u64(b, 1);
	buf_u64(b, lost);
	buf_u32(b, 7);
	buf_u32(b, 7);
	buf_u64(b, 1000);
	buf_u64(b, 1);
}

/* The first CPU of the ledger. */
static void
read_loss_cpu(struct imported *im, uint32_t *ret)
{
	struct loss *loss = loss_new();
	struct fmt_where where;
	struct block b;

	recording_reader_rewind(im->reader);
	while (recording_reader_next(im->reader, NULL, NULL, &b, &where) > 0) {
		if (b.header.type == BLOCK_LOSS)
			assert_int_equal(loss_decode(loss, b.payload), 0);
	}
	assert_int_equal(loss_cpu_at(loss, 0, ret), 0);
	loss_free(loss);
}

/* --- tests ------------------------------------------------------------------------------- */

static void
test_everything_is_carried(void **state)
{
	struct buf b = { 0 }, kernel = { 0 }, host = { 0 }, want = { 0 };
	struct maker_zstd *z = maker_zstd_new();
	struct imported im;
	struct foreign f;
	struct span s;
	char order[128] = "";

	maker_string(&host, "host");
	begin_pipe(&b, 0);
	maker_feature_record(&b, 3, &host);
	maker_feature_record(&b, 32, NULL);
	maker_word_comm(&b, 0, 0, 7, "seven");
	maker_word_comm(&kernel, 0, 0, 7, "seven");
	maker_head(&b, 71, 0, 48);
	buf_u64(&b, 8);
	buf_zero(&b, 32);
	buf_u64(&b, 0x4141414141414141);
	maker_word_sample(&kernel, 1, 10, 1);
	maker_word_sample(&kernel, 99, 11, 2); /* nobody's: kept as it is */
	maker_word_sample(&kernel, 2, 12, 3);
	maker_packed(&b, z, 83, kernel.p + 56, kernel.len - 56);
	maker_round(&b);
	import(&b, &im);
	assert_int_equal(im.records.len, kernel.len);
	assert_memory_equal(im.records.p, kernel.p, kernel.len);
	s = buf_span(&im.foreign);
	while (foreign_next(&s, &f) > 0) {
		char text[32];

		snprintf(text, sizeof(text), "%u:%u:%zu ", f.kind, f.id, f.bytes.len);
		strlcat(order, text, sizeof(order));
		if (f.kind == FOREIGN_FEATURE && f.id == 3)
			assert_memory_equal(f.bytes.p, host.p, host.len);
		if (f.kind == FOREIGN_RECORD && f.id == 71)
			assert_int_equal(le64dec(f.bytes.p + 48), 0x4141414141414141);
	}
	assert_string_equal(order, "3:2:16 2:64:120 1:3:68 1:32:0 2:71:56 2:68:8 ");
	assert_int_equal(im.result.records, 4);
	assert_int_equal(im.result.samples, 2);
	assert_int_equal(im.result.bad_records, 1);
	assert_int_equal(im.result.tool_records, 3);
	assert_true(perfdata_import_whole(&im.result));
	assert_string_equal(recording_reader_meta(im.reader)->hostname, "host");
	imported_done(&im);
	maker_zstd_free(z);
	buf_done(&b);
	buf_done(&kernel);
	buf_done(&host);
	buf_done(&want);
}

#define ROUNDS 40
#define A_ROUND 1000

/*
 * Two CPUs, drained one after the other in each round, and the second with what the first
 * had in the round before: in order across blocks, with no more held than two rounds.
 */
static void
test_order(void **state)
{
	struct buf b = { 0 };
	struct record_stream *stream;
	struct stream_record rec;
	struct imported im;
	uint64_t last = 0, n = 0;

	begin_pipe(&b, 0);
	for (unsigned r = 0; r < ROUNDS; r++) {
		for (unsigned i = 0; i < A_ROUND; i++)
			maker_word_sample(&b, 1, 100000 + r * A_ROUND + i, i);
		for (unsigned i = 0; i < A_ROUND; i++)
			maker_word_sample(&b, 2, 100000 + r * A_ROUND + i - A_ROUND / 2, i);
		maker_round(&b);
	}
	maker_word_comm(&b, 0, 0, 7, "late");
	import(&b, &im);
	assert_true(im.blocks > 2);
	/* 1 MiB is 10 rounds and some; the last that the tenth made sure of is the ninth. */
	assert_int_equal(im.first_complete, 100000 + 9 * A_ROUND - 1);
	assert_int_equal(record_stream_open(im.reader, &stream), 0);
	while (record_stream_next(stream, &rec, NULL) > 0) {
		assert_non_null(rec.record);
		if (rec.record->type == REC_SAMPLE) {
			assert_true(rec.record->sid.time >= last);
			last = rec.record->sid.time;
			n++;
		}
	}
	assert_int_equal(n, 2 * ROUNDS * A_ROUND);
	record_stream_close(stream);
	imported_done(&im);
	buf_done(&b);
}

static void
test_buildids(void **state)
{
	struct buf b = { 0 }, section = { 0 };
	struct imported im;
	struct buildid_entry e;
	size_t cursor = 0;

	begin_pipe(&b, 0);
	maker_build_id(&section, 1, "[kernel.kallsyms]", 1);
	maker_build_id(&section, 2, "/two/files", 2);
	maker_build_id(&section, 2, "/lib/b.so", 3);
	maker_build_id(&section, 2, "/two/files", 4);
	maker_build_id(&section, 1 << 15 | 1, "/lib/modules/a.ko", 5);
	maker_build_id(&section, 2, "/lib/b.so", 3);
	maker_build_id(&section, 5, "/of/a/guest", 6);
	maker_feature_record(&b, 2, &section);
	maker_word_sample(&b, 1, 5, 5);
	import(&b, &im);
	assert_int_equal(buildids_next(buf_span(&im.buildids), &cursor, &e), 1);
	assert_memory_equal(e.path, "/lib/b.so", e.path_len);
	assert_int_equal(e.ino | e.maj | e.min, 0);
	assert_int_equal(e.id.size, 20);
	assert_int_equal(e.id.bytes[0], 3);
	assert_int_equal(buildids_next(buf_span(&im.buildids), &cursor, &e), 1);
	assert_memory_equal(e.path, "/lib/modules/a.ko", e.path_len);
	assert_int_equal(e.id.size, 16);
	assert_int_equal(buildids_next(buf_span(&im.buildids), &cursor, &e), 0);
	assert_int_equal(recording_reader_meta(im.reader)->kernel_build_id.bytes[5], 1);
	imported_done(&im);
	buf_done(&b);
	buf_done(&section);
}

static void
test_loss(void **state)
{
	static const struct {
		uint64_t read_format, want;
	} cases[] = { { 0, 3 + 5 + 40 }, { 1 << 4, 40 } };

	for (size_t i = 0; i < 2; i++) {
		struct buf b = { 0 };
		struct imported im;

		begin_pipe(&b, cases[i].read_format);
		put_lost(&b, 2, 0, 3);
		put_lost(&b, 2, 0, 5);
		maker_word_sample(&b, 1, 5, 5);
		put_lost(&b, 13, 0, 40);
		put_lost(&b, 13, 1 << 15, 1000); /* not wanted is not lost */
		import(&b, &im);
		assert_int_equal(im.result.lost, cases[i].want);
		assert_int_equal(im.lost, cases[i].want);
		assert_int_equal(im.result.records, 5);
		imported_done(&im);
		buf_done(&b);
	}
}

/* What a tracer could not write: each flag is a loss of its own, of its CPU; OVERWRITE is none. */
static void
test_loss_of_traces(void **state)
{
	static const uint64_t flags[] = { 0, 1, 1, 2, 4, 8, 1 | 2 | 4 | 8 };
	struct buf b = { 0 };
	struct imported im;
	uint32_t cpu = 12345;

	begin_pipe(&b, 0);
	le64enc(b.p + 16 + 8 + 24, 1u << 16 | 1u << 7);
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		maker_head(&b, REC_AUX, 0, 48);
		buf_u64(&b, 4096 * i);
		buf_u64(&b, 4096);
		buf_u64(&b, flags[i]);
		buf_u64(&b, 5);
		buf_u64(&b, 1);
	}
	import(&b, &im);
	assert_int_equal(im.result.loss[LOSS_AUX_TRUNCATED], 3);
	assert_int_equal(im.result.loss[LOSS_AUX_PARTIAL], 2);
	assert_int_equal(im.result.loss[LOSS_AUX_COLLISION], 2);
	assert_int_equal(im.result.lost, 0);
	read_loss_cpu(&im, &cpu);
	assert_int_equal(cpu, 5);
	imported_done(&im);
	buf_done(&b);
}

/* A CPU that is not told, and one that cannot be, are no CPU; and no reason to give up. */
static void
test_loss_of_no_cpu(void **state)
{
	static const uint32_t cpus[] = { 0, 16383, 16384, UINT32_MAX - 1, UINT32_MAX };

	for (size_t i = 0; i < 5; i++) {
		struct buf b = { 0 };
		struct imported im;
		uint32_t cpu = 12345;

		begin_pipe(&b, 0);
		if (i > 0)
			le64enc(b.p + 16 + 8 + 24, 1u << 16 | 1u << 7);
		maker_head(&b, 2, 0, i > 0 ? 40 : 48);
		buf_u64(&b, 1);
		buf_u64(&b, 3);
		buf_u64(&b, i > 0 ? cpus[i] : 7);
		buf_u64(&b, 1);
		if (i == 0)
			buf_u64(&b, 1);
		import(&b, &im);
		assert_int_equal(im.result.lost, 3);
		assert_int_equal(im.lost, 3);
		read_loss_cpu(&im, &cpu);
		assert_int_equal(cpu, i == 1 ? 16383 : UINT32_MAX);
		imported_done(&im);
		buf_done(&b);
	}
}

static void
test_late_event(void **state)
{
	struct buf b = { 0 };
	struct imported im;

	begin_pipe(&b, 0);
	maker_word_sample(&b, 1, 5, 5);
	maker_attr_record(&b, 64, 3, 30, 1);
	maker_word_sample(&b, 30, 6, 6);
	import(&b, &im);
	assert_int_equal(im.result.bad_records, 0);
	assert_int_equal(event_set_count(recording_reader_meta(im.reader)->events), 2);
	imported_done(&im);
	buf_done(&b);
}

static void
test_damage_is_told(void **state)
{
	struct buf b = { 0 };
	struct imported im;

	begin_pipe(&b, 0);
	maker_word_sample(&b, 1, 5, 5);
	maker_word_sample(&b, 1, 6, 6);
	b.len -= 8;
	import(&b, &im);
	assert_int_equal(im.result.samples, 1);
	assert_int_equal(im.result.ended, -FMT_E_TRUNCATED);
	assert_int_equal(im.result.where.offset, b.len - 40);
	assert_false(perfdata_import_whole(&im.result));
	imported_done(&im);
	buf_done(&b);
}

static ssize_t
failing_read(struct io_source *self, uint64_t offset, void *p, size_t n)
{
	return offset + n > 200000 ? -EIO : (memset(p, 0x20, n), (ssize_t)n);
}

static void
test_failures(void **state)
{
	struct buf b = { 0 }, out = { 0 };
	struct perfdata_import_result result;
	struct fmt_where where = { 0 };
	struct io_source *source;
	bool reading = true;

	begin_pipe(&b, 0);
	for (unsigned i = 0; i < 100; i++)
		maker_word_sample(&b, 1, i, i);
	assert_int_equal(perfdata_import(io_source_memory(b.p, b.len), sink_into(&out, 400),
					 &result, &reading, &where),
			 -FMT_E_IO);
	assert_false(reading);
	assert_int_equal(where.saved_errno, ENOSPC);
	source = io_source_memory(b.p, b.len);
	source->read = failing_read;
	assert_int_equal(perfdata_import(source, sink_into(&out, SIZE_MAX), &result, &reading,
					 &where),
			 -FMT_E_NOT_RECORDING);
	assert_true(reading);
	buf_done(&b);
	buf_done(&out);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_everything_is_carried),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_buildids),
		cmocka_unit_test(test_loss),
		cmocka_unit_test(test_loss_of_traces),
		cmocka_unit_test(test_loss_of_no_cpu),
		cmocka_unit_test(test_late_event),
		cmocka_unit_test(test_damage_is_told),
		cmocka_unit_test(test_failures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
