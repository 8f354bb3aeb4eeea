/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/perfdata/perfdata_reader.h"

#include <stdio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/string.h>

#include "format/perfdata/perfdata_about.h"
#include "format/perfdata/perfdata_buildid.h"
#include "tests/lab/perfdata_maker.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

/* What a reader gave, in short: "F" the header, "S" a section, "r9" a record... */
struct given {
	char order[512];
	uint64_t ips[64];
	size_t nr_ips, nr;
	uint64_t rounds[16];
	size_t nr_rounds;
	struct buf bytes; /* of all items, one after another */
	int end;
	struct fmt_where where;
};

static void
see(struct given *g, const struct perfdata_item *item)
{
	char text[16];

	switch (item->kind) {
	case PERFDATA_ITEM_FILE:
		snprintf(text, sizeof(text), "F%u ", item->id);
		break;
	case PERFDATA_ITEM_FEATURE:
		snprintf(text, sizeof(text), "S%u ", item->id);
		break;
	case PERFDATA_ITEM_RECORD:
		snprintf(text, sizeof(text), "%s%u ", item->parsed ? "r" : "bad", item->id);
		break;
	case PERFDATA_ITEM_TOOL:
		snprintf(text, sizeof(text), "t%u ", item->id);
		break;
	case PERFDATA_ITEM_ROUND:
		snprintf(text, sizeof(text), "| ");
		assert_true(g->nr_rounds < 16);
		g->rounds[g->nr_rounds++] = item->complete_ns;
		break;
	}
	(void)strlcat(g->order, text, sizeof(g->order));
	if (item->kind == PERFDATA_ITEM_RECORD && item->parsed && item->id == REC_SAMPLE &&
	    g->nr_ips < 64)
		g->ips[g->nr_ips++] = item->record.sample.ip;
	buf_append(&g->bytes, item->bytes.p, item->bytes.len);
	g->nr++;
}

static void
walk(struct perfdata_reader *r, struct given *g)
{
	struct perfdata_item item;

	memset(g, 0, sizeof(*g));
	while ((g->end = perfdata_reader_next(r, &item, &g->where)) > 0)
		see(g, &item);
	/* It goes on saying the same. */
	assert_int_equal(perfdata_reader_next(r, &item, NULL), g->end);
}

static struct perfdata_reader *
open_bytes(const void *p, size_t n)
{
	struct perfdata_reader *r = NULL;
	struct fmt_where where = { 0 };

	if (perfdata_reader_open(io_source_memory(p, n), &r, &where) != 0)
		fail_msg("not opened: %s", where.detail);
	return r;
}

static struct perfdata_reader *
open_buf(const struct buf *b)
{
	assert_false(buf_failed(b));
	return open_bytes(b->p, b->len);
}

static void
assert_refused(const void *p, size_t n, int error, const char *why)
{
	struct perfdata_reader *r = NULL;
	struct fmt_where where = { 0 };

	assert_int_equal(perfdata_reader_open(io_source_memory(p, n), &r, &where), error);
	assert_null(r);
	if (!strstr(where.detail, why))
		fail_msg("\"%s\" does not say \"%s\"", where.detail, why);
}

static const char *
name_at(struct perfdata_reader *r, size_t i)
{
	return event_set_at(perfdata_reader_meta(r)->events, i)->name;
}

/* --- headers ----------------------------------------------------------------------------- */

static void
test_refused(void **state)
{
	static const uint8_t big[16] = { '2', 'E', 'L', 'I', 'F', 'R', 'E', 'P', [15] = 16 };
	struct buf b = { 0 }, data = { 0 }, none = { 0 };
	struct maker_file dir = { .events = { { 128, 0, 1, 1 } },
				  .nr_events = 1,
				  .data = &data,
				  .sections = { { 24, &none } },
				  .nr_sections = 1 };

	assert_refused("", 0, -FMT_E_EMPTY, "");
	assert_refused("PERFFILE\x68\0\0\0\0\0\0\0", 16, -FMT_E_UNSUPPORTED, "version 1");
	assert_refused(big, sizeof(big), -FMT_E_UNSUPPORTED, "big-endian");
	assert_refused("ELF or some such", 16, -FMT_E_NOT_RECORDING, "not a perf.data");
	assert_refused("PERFILE2\x10", 9, -FMT_E_TRUNCATED, "header");
	assert_refused("PERFILE2\x68\0\0\0\0\0\0\0", 16, -FMT_E_TRUNCATED, "header");
	assert_refused("PERFILE2\x20\0\0\0\0\0\0\0", 16, -FMT_E_CORRUPT, "header of 32");
	maker_word_sample(&data, 1, 10, 1);
	maker_file(&b, &dir);
	assert_refused(b.p, b.len, -FMT_E_UNSUPPORTED, "directory");
	/* The attrs section ends the file. */
	assert_refused(b.p, 112, -FMT_E_CORRUPT, "attr");
	buf_done(&b);
	buf_done(&data);
}

/* --- file mode --------------------------------------------------------------------------- */

static void
put_event_desc(struct buf *b, const char *first, const char *second)
{
	buf_u32(b, 2);
	buf_u32(b, 96);
	maker_attr(b, 96, 3);
	buf_u32(b, 1);
	maker_string(b, first);
	buf_u64(b, 101);
	maker_attr(b, 96, 4);
	buf_u32(b, 0);
	maker_string(b, second);
}

static void
put_about(struct buf *b, unsigned int bit)
{
	switch (bit) {
	case 2:
		maker_build_id(b, 1, "[kernel.kallsyms]", 0xaa);
		maker_build_id(b, 1 << 15 | 2, "/bin/sleep", 0xbb);
		break;
	case 3:
		maker_string(b, "host.example");
		break;
	case 5:
		maker_string(b, "6.1.187");
		break;
	case 7:
		buf_u32(b, 8);
		buf_u32(b, 6);
		break;
	case 11:
		buf_u32(b, 3);
		maker_string(b, "/usr/bin/perf");
		maker_string(b, "record");
		maker_string(b, "-a");
		break;
	case 29:
		buf_u32(b, 1);
		buf_u32(b, 4);
		buf_u64(b, 1700000000000000000);
		buf_u64(b, 5000);
		break;
	}
}

static void
test_file(void **state)
{
	static const unsigned int bits[] = { 2, 3, 5, 7, 11, 12, 29 };
	struct buf data = { 0 }, payloads[7] = { 0 };
	struct maker_file f = { .events = { { 96, 3, 100, 2 }, { 96, 4, 200, 1 } },
				.nr_events = 2,
				.data = &data };

	for (unsigned int i = 0; i < 7; i++) {
		if (bits[i] == 12)
			put_event_desc(&payloads[i], "faults:u", "migrations");
		else
			put_about(&payloads[i], bits[i]);
		f.sections[f.nr_sections++] = (struct maker_section){ bits[i], &payloads[i] };
	}
	maker_word_comm(&data, 0, 0, 7, "init");
	maker_word_sample(&data, 101, 20, 0x1000);
	maker_word_sample(&data, 200, 10, 0x2000);
	maker_round(&data);
	for (int last = 0; last < 2; last++) {
		struct buf b = { 0 };
		struct perfdata_reader *r;
		struct recording_meta *m;
		struct given g;

		f.attrs_last = last != 0;
		maker_file(&b, &f);
		r = open_buf(&b);
		m = perfdata_reader_meta(r);
		assert_string_equal(m->hostname, "host.example");
		assert_string_equal(m->writer, "perf 6.1.187");
		assert_string_equal(m->cmdline, "/usr/bin/perf record -a");
		assert_int_equal(m->cpus_possible, 8);
		assert_int_equal(m->cpus_online, 6);
		assert_int_equal(m->clockid, 4);
		assert_int_equal(m->start.realtime, 1700000000000000000);
		assert_int_equal(m->start.monotonic, 5000);
		assert_int_equal(m->kernel_build_id.size, 20);
		assert_int_equal(m->kernel_build_id.bytes[19], 0xaa);
		assert_string_equal(name_at(r, 0), "faults:u");
		assert_string_equal(name_at(r, 1), "migrations");
		assert_int_equal(event_set_find(m->events, 101), 0);
		assert_int_equal(event_set_find(m->events, 200), 1);
		walk(r, &g);
		assert_string_equal(g.order, "F1 S2 S3 S5 S7 S11 S12 S29 r3 r9 r9 | ");
		assert_int_equal(g.end, 0);
		assert_int_equal(g.ips[1], 0x2000);
		/* Every byte of a section and of a record, as it was. */
		assert_memory_equal(g.bytes.p, b.p, 104);
		assert_memory_equal(g.bytes.p + g.bytes.len - data.len, data.p, data.len);
		assert_memory_equal(g.bytes.p + 104, payloads[0].p, payloads[0].len);
		assert_int_equal(perfdata_reader_health(r)->skipped, 0);
		buf_done(&g.bytes);
		perfdata_reader_close(r);
		buf_done(&b);
	}
	for (int i = 0; i < 7; i++)
		buf_done(&payloads[i]);
	buf_done(&data);
}

/* Every size that was ever published, one of the future, and 0, which means the first. */
static void
test_attr_sizes(void **state)
{
	static const uint32_t sizes[] = { 64, 72, 80, 96, 104, 112, 120, 128, 136, 144, 256, 0 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct buf b = { 0 }, data = { 0 };
		struct maker_file f = { .events = { { sizes[i], 0, 1, 3 }, { sizes[i], 2, 8, 1 } },
					.nr_events = 2,
					.data = &data };
		struct perfdata_reader *r;
		struct given g;

		maker_word_sample(&data, 3, 5, 1);
		maker_word_sample(&data, 8, 6, 2);
		maker_file(&b, &f);
		r = open_buf(&b);
		walk(r, &g);
		assert_string_equal(g.order, "F1 r9 r9 ");
		assert_int_equal(event_set_at(perfdata_reader_meta(r)->events, 1)->attr_raw.len,
				 sizes[i] ? sizes[i] : 64);
		/* Nobody named them: as perf would. */
		assert_string_equal(name_at(r, 0), "cpu-clock");
		assert_string_equal(name_at(r, 1), "page-faults");
		buf_done(&g.bytes);
		perfdata_reader_close(r);
		buf_done(&b);
		buf_done(&data);
	}
}

/* Many attrs that all name one large area as their ids would cost its square. */
static void
test_ids_over_each_other(void **state)
{
	struct buf b = { 0 }, data = { 0 };
	struct maker_file f = { .events = { { 64, 0, 1, 4 }, { 64, 1, 9, 0 } },
				.nr_events = 2,
				.data = &data };
	struct perfdata_reader *r;

	maker_word_sample(&data, 1, 5, 1);
	maker_file(&b, &f);
	/* The first has more ids than the file has bytes, the second those of the first. */
	le64enc(b.p + 104 + 32 + 64 + 8, 1 << 20);
	le64enc(b.p + 104 + 32 + 80 + 64, 104);
	le64enc(b.p + 104 + 32 + 80 + 72, 32);
	r = open_buf(&b);
	assert_int_equal(event_set_at(perfdata_reader_meta(r)->events, 0)->nr_ids, 0);
	assert_int_equal(event_set_at(perfdata_reader_meta(r)->events, 1)->nr_ids, 4);
	perfdata_reader_close(r);
	buf_done(&b);
	buf_done(&data);
}

static void
test_killed(void **state)
{
	struct buf b = { 0 }, data = { 0 }, none = { 0 };
	struct maker_file f = { .events = { { 128, 0, 1, 1 } },
				.nr_events = 1,
				.data = &data,
				.sections = { { 3, &none }, { 12, &none }, { 24, &none } },
				.nr_sections = 3,
				.killed = true };
	struct perfdata_reader *r;
	struct given g;

	maker_word_sample(&data, 1, 5, 1);
	maker_round(&data);
	maker_word_sample(&data, 1, 6, 2);
	maker_file(&b, &f);
	r = open_buf(&b);
	walk(r, &g);
	assert_string_equal(g.order, "F1 r9 | r9 ");
	assert_int_equal(g.end, 0);
	assert_true(perfdata_reader_health(r)->unfinished);
	buf_done(&g.bytes);
	perfdata_reader_close(r);
	/* In the middle of a record, as a disk that was full leaves it. */
	r = open_bytes(b.p, b.len - 8);
	walk(r, &g);
	assert_string_equal(g.order, "F1 r9 | ");
	assert_int_equal(g.end, -FMT_E_TRUNCATED);
	assert_int_equal(g.where.offset, b.len - MAKER_SAMPLE_BYTES);
	buf_done(&g.bytes);
	perfdata_reader_close(r);
	buf_done(&b);
	buf_done(&data);
}

/* --- pipe mode --------------------------------------------------------------------------- */

static void
test_pipe(void **state)
{
	struct buf b = { 0 }, host = { 0 }, odd = { 0 };
	struct perfdata_reader *r;
	struct given g;

	maker_string(&host, "piped.example");
	buf_append(&odd, "xyz", 3);
	maker_pipe(&b);
	maker_attr_record(&b, 104, 0, 1, 2);
	maker_attr_record(&b, 128, 7, 9, 1);
	maker_feature_record(&b, 3, &host);
	maker_feature_record(&b, 200, &odd);
	maker_feature_record(&b, 32, NULL);
	maker_build_id(&b, 1, "[kernel.kallsyms]", 0x11);
	maker_word_comm(&b, 0, 0, 1, "init");
	maker_update_name(&b, 2, "sched:sched_switch");
	maker_word_sample(&b, 9, 50, 0x77);
	maker_round(&b);
	/* An event that comes late, and its record. */
	maker_attr_record(&b, 64, 1, 77, 1);
	maker_word_sample(&b, 77, 60, 0x78);
	r = open_buf(&b);
	/* Known before the first record. */
	assert_string_equal(perfdata_reader_meta(r)->hostname, "piped.example");
	assert_int_equal(event_set_count(perfdata_reader_meta(r)->events), 2);
	assert_string_equal(name_at(r, 0), "sched:sched_switch");
	assert_string_equal(name_at(r, 1), "alignment-faults");
	assert_int_equal(perfdata_reader_meta(r)->kernel_build_id.bytes[0], 0x11);
	walk(r, &g);
	assert_string_equal(g.order, "F2 t64 t64 S3 S200 S32 t67 r3 t78 r9 | t64 r9 ");
	assert_int_equal(g.end, 0);
	assert_int_equal(event_set_count(perfdata_reader_meta(r)->events), 3);
	assert_string_equal(name_at(r, 2), "task-clock");
	assert_int_equal(g.ips[1], 0x78);
	buf_done(&g.bytes);
	perfdata_reader_close(r);
	buf_done(&b);
	buf_done(&host);
	buf_done(&odd);
}

static void
test_meta_changes_are_told(void **state)
{
	struct buf b = { 0 };
	struct perfdata_reader *r;
	struct perfdata_item item;
	int changes = 0, at = 0, first = 0;

	maker_pipe(&b);
	maker_attr_record(&b, 64, 0, 1, 1);
	maker_round(&b);
	maker_update_name(&b, 1, "cpu-clock");
	maker_update_name(&b, 1, "other");
	maker_attr_record(&b, 64, 1, 2, 1);
	r = open_buf(&b);
	while (perfdata_reader_next(r, &item, NULL) > 0) {
		at++;
		changes += item.meta_changed;
		if (item.meta_changed && !first)
			first = at;
	}
	/* Not by the ATTR that was read ahead, nor by a name that it had. */
	assert_int_equal(changes, 2);
	assert_int_equal(first, 5);
	perfdata_reader_close(r);
	buf_done(&b);
}

/* Units and scales, which records alone tell. What is none changes nothing. */
static void
test_units(void **state)
{
	struct buf b = { 0 };
	struct perfdata_reader *r;
	struct perfdata_item item;
	const struct count_unit *u;
	int changes = 0;

	(void)state;
	maker_pipe(&b);
	maker_attr_record(&b, 64, 0, 1, 1);
	maker_attr_record(&b, 64, 1, 2, 1);
	maker_round(&b);
	maker_update_unit(&b, 1, "Joules");
	maker_update_scale(&b, 1, 0x1p-32);
	maker_update_unit(&b, 1, "Joules");
	maker_update_scale(&b, 1, 0x1p-32);
	maker_update_scale(&b, 2, 1);
	maker_update_unit(&b, 2, "");
	maker_update_unit(&b, 2, "a unit that is longer than perf takes");
	maker_update_scale(&b, 2, -1);
	maker_update_scale(&b, 2, INFINITY);
	maker_update_scale(&b, 2, NAN);
	maker_update_scale(&b, 7, 2);
	maker_update_unit(&b, 7, "of no event");
	r = open_buf(&b);
	while (perfdata_reader_next(r, &item, NULL) > 0)
		changes += item.meta_changed;
	assert_int_equal(changes, 2);
	u = &event_set_at(perfdata_reader_meta(r)->events, 0)->unit;
	assert_true(u->scale == 0x1p-32);
	assert_string_equal(u->name, "Joules");
	assert_false(count_unit_told(&event_set_at(perfdata_reader_meta(r)->events, 1)->unit));
	perfdata_reader_close(r);
	buf_done(&b);
}

/*
 * At a round, what was there at the round before is complete: up to the greatest time then.
 * Times 0 and ~0 are outside of it.
 */
static void
test_rounds(void **state)
{
	struct buf b = { 0 };
	struct perfdata_reader *r;
	struct given g;

	maker_pipe(&b);
	maker_attr_record(&b, 64, 0, 1, 1);
	maker_word_comm(&b, 0, 0, 1, "init");
	maker_word_sample(&b, 1, 100, 1);
	maker_word_sample(&b, 1, 90, 1);
	maker_round(&b);
	maker_word_sample(&b, 1, 300, 1);
	maker_word_sample(&b, 1, UINT64_MAX, 1);
	maker_round(&b);
	maker_word_sample(&b, 1, 200, 1);
	maker_round(&b);
	maker_round(&b);
	r = open_buf(&b);
	walk(r, &g);
	assert_int_equal(g.nr_rounds, 4);
	assert_int_equal(g.rounds[0], 0);
	assert_int_equal(g.rounds[1], 100);
	assert_int_equal(g.rounds[2], 300);
	assert_int_equal(g.rounds[3], 300);
	buf_done(&g.bytes);
	perfdata_reader_close(r);
	buf_done(&b);
}

/* --- what follows records ---------------------------------------------------------------- */

static void
put_auxtrace(struct buf *b, uint64_t size, size_t have)
{
	maker_head(b, 71, 0, 48);
	buf_u64(b, size);
	buf_zero(b, 32);
	for (size_t i = 0; i < have; i++)
		buf_u8(b, (uint8_t)i);
}

static void
put_tracing_data(struct buf *b, uint32_t size)
{
	maker_head(b, 66, 0, 12);
	buf_u32(b, size);
	for (uint32_t i = 0; i < size; i++)
		buf_u8(b, 0x44);
}

static void
test_behind_records(void **state)
{
	struct buf b = { 0 };
	struct perfdata_reader *r;
	size_t before;
	struct given g;

	maker_pipe(&b);
	maker_attr_record(&b, 64, 0, 1, 1);
	put_tracing_data(&b, 24);
	maker_word_sample(&b, 1, 1, 0xa);
	put_auxtrace(&b, 1000, 1000);
	maker_word_sample(&b, 1, 2, 0xb);
	before = b.len;
	r = open_buf(&b);
	walk(r, &g);
	assert_string_equal(g.order, "F2 t64 t66 r9 t71 r9 ");
	assert_int_equal(g.end, 0);
	/* All of it was given: these bytes, and no others. */
	assert_int_equal(g.bytes.len, b.len);
	assert_memory_equal(g.bytes.p, b.p, b.len);
	buf_done(&g.bytes);
	perfdata_reader_close(r);

	/* Cut in what follows; and a size that no file has. */
	put_auxtrace(&b, 100, 99);
	r = open_buf(&b);
	walk(r, &g);
	assert_int_equal(g.end, -FMT_E_TRUNCATED);
	assert_int_equal(g.where.offset, before);
	assert_int_equal(g.nr, 6);
	buf_done(&g.bytes);
	perfdata_reader_close(r);
	for (size_t i = 0; i < 2; i++) {
		le64enc(b.p + before + 8, i ? UINT64_MAX - 3 : (uint64_t)1 << 40);
		r = open_buf(&b);
		walk(r, &g);
		assert_string_equal(g.order, "F2 t64 t66 r9 t71 r9 ");
		assert_int_equal(g.end, -FMT_E_TRUNCATED);
		buf_done(&g.bytes);
		perfdata_reader_close(r);
	}
	buf_done(&b);
}

/* More than anyone can hold is passed over; what comes after it is read. */
static void
test_too_much_behind(void **state)
{
	struct buf b = { 0 };
	struct perfdata_reader *r;
	struct given g;

	maker_pipe(&b);
	maker_attr_record(&b, 64, 0, 1, 1);
	put_auxtrace(&b, PERFDATA_ITEM_MAX, PERFDATA_ITEM_MAX);
	maker_word_sample(&b, 1, 2, 0xb);
	r = open_buf(&b);
	walk(r, &g);
	assert_string_equal(g.order, "F2 t64 r9 ");
	assert_int_equal(g.end, 0);
	assert_int_equal(perfdata_reader_health(r)->skipped, 1);
	buf_done(&g.bytes);
	perfdata_reader_close(r);
	buf_done(&b);
}

/* --- packed ------------------------------------------------------------------------------ */

#define PACKED_SAMPLES 40

/* Samples with the ips 1..PACKED_SAMPLES, cut without regard to where one ends. */
static void
put_packed(struct buf *b, uint32_t type, size_t piece)
{
	struct maker_zstd *z = maker_zstd_new();
	struct buf raw = { 0 };

	for (unsigned i = 1; i <= PACKED_SAMPLES; i++)
		maker_word_sample(&raw, 1, i * 10, i);
	for (size_t at = 0; at < raw.len; at += piece)
		maker_packed(b, z, type, raw.p + at, raw.len - at < piece ? raw.len - at : piece);
	maker_zstd_free(z);
	buf_done(&raw);
}

static void
test_packed(void **state)
{
	static const size_t pieces[] = { 5, 48, 100, 1000, 4000 };

	for (size_t i = 0; i < 2 * sizeof(pieces) / sizeof(pieces[0]); i++) {
		struct buf b = { 0 };
		struct perfdata_reader *r;
		struct given g;

		maker_pipe(&b);
		maker_attr_record(&b, 64, 0, 1, 1);
		put_packed(&b, i % 2 ? 81 : 83, pieces[i / 2]);
		maker_round(&b);
		r = open_buf(&b);
		walk(r, &g);
		assert_int_equal(g.end, 0);
		assert_int_equal(g.nr_ips, PACKED_SAMPLES);
		for (size_t k = 0; k < PACKED_SAMPLES; k++)
			assert_int_equal(g.ips[k], k + 1);
		assert_int_equal(g.nr, PACKED_SAMPLES + 3);
		assert_int_equal(perfdata_reader_health(r)->packed,
				 (PACKED_SAMPLES * 48 + pieces[i / 2] - 1) / pieces[i / 2]);
		assert_int_equal(perfdata_reader_health(r)->unpacked_failed, 0);
		buf_done(&g.bytes);
		perfdata_reader_close(r);
		buf_done(&b);
	}
}

/* A byte wrong costs what comes until a frame begins; rounds and records between are read. */
static void
test_packed_damaged(void **state)
{
	struct buf b = { 0 };
	struct perfdata_reader *r;
	size_t second, half = PACKED_SAMPLES * 48 / 2;
	struct given g;

	maker_pipe(&b);
	maker_attr_record(&b, 64, 0, 1, 1);
	put_packed(&b, 83, half);
	second = 16 + 80 + le16dec(b.p + 16 + 80 + 6);
	le64enc(b.p + second + 16, 0x1122334455667788);
	maker_round(&b);
	maker_word_sample(&b, 1, 9000, 0x99);
	put_packed(&b, 83, 4000);
	r = open_buf(&b);
	walk(r, &g);
	assert_int_equal(g.end, 0);
	assert_int_equal(perfdata_reader_health(r)->unpacked_failed, 1);
	assert_int_equal(perfdata_reader_health(r)->first.offset, second);
	assert_int_equal(g.nr_ips, PACKED_SAMPLES / 2 + 1 + PACKED_SAMPLES);
	assert_int_equal(g.ips[PACKED_SAMPLES / 2], 0x99);
	assert_int_equal(g.nr_rounds, 1);
	buf_done(&g.bytes);
	perfdata_reader_close(r);

	/* What perf record -z --switch-output leaves: no container begins a frame. */
	b.len = 16 + 80;
	put_packed(&b, 81, 500);
	second = 16 + 80 + le16dec(b.p + 16 + 80 + 6);
	memmove(b.p + 16 + 80, b.p + second, b.len - second);
	b.len -= second - 16 - 80;
	maker_word_sample(&b, 1, 9000, 0x99);
	r = open_buf(&b);
	walk(r, &g);
	assert_int_equal(g.end, 0);
	assert_int_equal(g.nr_ips, 1);
	assert_int_equal(perfdata_reader_health(r)->unpacked_failed, 3);
	buf_done(&g.bytes);
	perfdata_reader_close(r);
	buf_done(&b);
}

static void
test_packed_strange(void **state)
{
	struct maker_zstd *z = maker_zstd_new();
	struct buf b = { 0 }, raw = { 0 };
	struct perfdata_reader *r;
	struct given g;

	maker_pipe(&b);
	maker_attr_record(&b, 64, 0, 1, 1);
	/* A round is a round; a record of a tool has no business there; the last one is cut. */
	maker_word_sample(&raw, 1, 10, 1);
	maker_round(&raw);
	maker_attr_record(&raw, 64, 1, 2, 1);
	maker_word_sample(&raw, 1, 20, 2);
	maker_packed(&b, z, 83, raw.p, raw.len - 8);
	r = open_buf(&b);
	walk(r, &g);
	assert_string_equal(g.order, "F2 t64 r9 | ");
	assert_int_equal(g.end, -FMT_E_TRUNCATED);
	assert_int_equal(perfdata_reader_health(r)->skipped, 1);
	buf_done(&g.bytes);
	perfdata_reader_close(r);

	/* Its rest, then one of no size: what follows that in the stream is lost, and not more. */
	raw.len = 0;
	buf_u64(&raw, 1000);
	maker_head(&raw, 9, 0, 4);
	maker_word_sample(&raw, 1, 25, 2);
	maker_packed(&b, z, 83, raw.p, raw.len);
	maker_word_sample(&b, 1, 30, 3);
	r = open_buf(&b);
	walk(r, &g);
	assert_string_equal(g.order, "F2 t64 r9 | r9 r9 ");
	assert_int_equal(g.ips[1], 2);
	assert_int_equal(g.ips[2], 3);
	assert_int_equal(perfdata_reader_health(r)->unpacked_failed, 1);
	buf_done(&g.bytes);
	perfdata_reader_close(r);
	/* A size of its packed bytes that it does not have. */
	le64enc(b.p + 16 + 80 + 8, UINT64_MAX);
	r = open_buf(&b);
	walk(r, &g);
	assert_int_equal(g.end, 0);
	assert_true(perfdata_reader_health(r)->unpacked_failed > 0);
	buf_done(&g.bytes);
	perfdata_reader_close(r);
	maker_zstd_free(z);
	buf_done(&raw);
	buf_done(&b);
}

/* 240 MiB of one record, which zstd packs a thousand times. */
static void
test_packed_bomb(void **state)
{
	struct maker_zstd *z = maker_zstd_new();
	struct buf b = { 0 }, raw = { 0 };
	struct perfdata_item item;
	struct perfdata_reader *r;
	uint64_t bytes = 0;
	size_t packed;

	maker_pipe(&b);
	maker_attr_record(&b, 64, 0, 1, 1);
	packed = b.len;
	maker_head(&raw, 9, 0, 32 << 10);
	buf_zero(&raw, (32 << 10) - 8);
	for (int i = 0; i < 7680; i++)
		maker_packed(&b, z, 83, raw.p, raw.len);
	packed = b.len - packed;
	maker_word_sample(&b, 1, 30, 3);
	r = open_buf(&b);
	while (perfdata_reader_next(r, &item, NULL) > 0)
		bytes += item.bytes.len;
	print_message("# %zu KiB were packed, %ju KiB came\n", packed >> 10,
		      (uintmax_t)(bytes >> 10));
	assert_true(bytes < (64 << 20) + 256 * packed + (1 << 20));
	assert_true(perfdata_reader_health(r)->unpacked_failed > 0);
	perfdata_reader_close(r);
	maker_zstd_free(z);
	buf_done(&raw);
	buf_done(&b);
}

/* --- damage ------------------------------------------------------------------------------ */

static void
test_odd_records(void **state)
{
	struct buf b = { 0 };
	struct perfdata_reader *r;
	size_t at;
	struct given g;

	maker_pipe(&b);
	maker_attr_record(&b, 64, 0, 1, 1);
	/* Of the kernel, but not a multiple of 8; one without an event; a type of the future. */
	maker_head(&b, 9, 0, 12);
	buf_u32(&b, 0);
	maker_word_sample(&b, 555, 1, 1);
	maker_head(&b, 40, 0, 32);
	buf_u64(&b, 0);
	buf_u64(&b, 7);
	buf_u64(&b, 1);
	maker_head(&b, 4000, 0, 11);
	buf_append(&b, "abc", 3);
	maker_word_sample(&b, 1, 8, 2);
	at = b.len;
	maker_head(&b, 9, 0, 7);
	maker_word_sample(&b, 1, 9, 3);
	r = open_buf(&b);
	walk(r, &g);
	assert_string_equal(g.order, "F2 t64 bad9 r40 t4000 r9 ");
	assert_int_equal(perfdata_reader_health(r)->skipped, 1);
	assert_int_equal(g.end, -FMT_E_CORRUPT);
	assert_int_equal(g.where.offset, at);
	buf_done(&g.bytes);
	perfdata_reader_close(r);
	buf_done(&b);
}

static void
make_rich(struct buf *b, bool pipe)
{
	struct buf data = { 0 }, host = { 0 }, desc = { 0 };
	struct maker_file f = { .events = { { 96, 3, 100, 2 }, { 96, 4, 200, 1 } },
				.nr_events = 2,
				.data = &data,
				.sections = { { 3, &host }, { 12, &desc } },
				.nr_sections = 2 };

	maker_string(&host, "host");
	put_event_desc(&desc, "one", "two");
	maker_word_comm(&data, 0, 0, 1, "init");
	maker_word_sample(&data, 100, 5, 1);
	maker_round(&data);
	put_auxtrace(&data, 40, 40);
	put_packed(&data, 83, 300);
	maker_word_sample(&data, 200, 5, 2);
	if (!pipe) {
		maker_file(b, &f);
	} else {
		maker_pipe(b);
		maker_attr_record(b, 96, 3, 100, 2);
		maker_attr_record(b, 96, 4, 200, 1);
		maker_attr_record(b, 96, 4, 1, 1);
		maker_feature_record(b, 3, &host);
		buf_append(b, data.p, data.len);
	}
	buf_done(&data);
	buf_done(&host);
	buf_done(&desc);
}

/* Cut at every byte: what is before the cut is given, in the same order, and nothing else. */
static void
test_every_cut(void **state)
{
	for (int pipe = 0; pipe < 2; pipe++) {
		struct buf b = { 0 };
		struct perfdata_reader *r;
		struct given whole, g;
		size_t last = 0;

		make_rich(&b, pipe != 0);
		r = open_buf(&b);
		walk(r, &whole);
		assert_int_equal(whole.end, 0);
		perfdata_reader_close(r);
		for (size_t n = 0; n < b.len; n++) {
			/* Of its own, so that a byte too many is seen by the sanitizer. */
			uint8_t *p = malloc(n ? n : 1);

			r = NULL;
			memcpy(p, b.p, n);
			if (perfdata_reader_open(io_source_memory(p, n), &r, NULL) == 0) {
				walk(r, &g);
				if (pipe)
					assert_memory_equal(g.bytes.p, whole.bytes.p, g.bytes.len);
				assert_true(g.nr <= whole.nr);
				assert_true(g.nr_ips >= last);
				last = g.nr_ips;
				assert_memory_equal(g.ips, whole.ips, g.nr_ips * 8);
				buf_done(&g.bytes);
				perfdata_reader_close(r);
			}
			free(p);
		}
		assert_true(last + 1 >= whole.nr_ips);
		buf_done(&whole.bytes);
		buf_done(&b);
	}
}

static void
test_every_bit(void **state)
{
	for (int pipe = 0; pipe < 2; pipe++) {
		struct buf b = { 0 };
		struct given g;

		make_rich(&b, pipe != 0);
		for (size_t bit = 0; bit < 8 * b.len; bit++) {
			struct perfdata_reader *r = NULL;

			b.p[bit / 8] ^= (uint8_t)(1 << bit % 8);
			if (perfdata_reader_open(io_source_memory(b.p, b.len), &r, NULL) == 0) {
				walk(r, &g);
				assert_true(g.nr < 10000);
				buf_done(&g.bytes);
				perfdata_reader_close(r);
			}
			b.p[bit / 8] ^= (uint8_t)(1 << bit % 8);
		}
		buf_done(&b);
	}
}

/* Sections that lie cost what they say, and nothing else. */
static void
test_lying_sections(void **state)
{
	struct buf b = { 0 }, data = { 0 }, junk = { 0 };
	struct maker_file f = { .events = { { 64, 0, 1, 1 } },
				.nr_events = 1,
				.data = &data,
				.sections = { { 2, &junk },
					      { 3, &junk },
					      { 7, &junk },
					      { 11, &junk },
					      { 12, &junk },
					      { 29, &junk } },
				.nr_sections = 6 };
	struct perfdata_reader *r;
	struct given g;

	buf_u32(&junk, 0xffffffff);
	maker_word_sample(&data, 1, 5, 1);
	maker_file(&b, &f);
	r = open_buf(&b);
	assert_int_equal(perfdata_reader_health(r)->skipped, 6);
	assert_string_equal(perfdata_reader_meta(r)->hostname, "");
	assert_string_equal(name_at(r, 0), "cpu-clock");
	walk(r, &g);
	assert_string_equal(g.order, "F1 S2 S3 S7 S11 S12 S29 r9 ");
	assert_int_equal(g.end, 0);
	assert_int_equal(perfdata_reader_health(r)->skipped, 6);
	buf_done(&g.bytes);
	perfdata_reader_close(r);
	buf_done(&b);
	buf_done(&data);
	buf_done(&junk);
}

static void
test_buildid_sizes(void **state)
{
	struct perfdata_buildid id;
	struct buf b = { 0 };
	struct span s;

	maker_build_id(&b, 2, "/without/size", 0x21);
	maker_build_id(&b, 1 << 15 | 2, "/with/size", 0x22);
	maker_build_id(&b, 1, "[kernel.kallsyms]", 0x23);
	maker_build_id(&b, 1, "/lib/modules/6.1/x.ko", 0x24);
	s = buf_span(&b);
	assert_int_equal(perfdata_buildid_next(&s, &id), 1);
	assert_int_equal(id.id.size, 20);
	assert_string_equal(id.path, "/without/size");
	assert_false(perfdata_buildid_is_kernel(&id));
	assert_int_equal(perfdata_buildid_next(&s, &id), 1);
	assert_int_equal(id.id.size, 16);
	assert_int_equal(id.id.bytes[15], 0x22);
	assert_int_equal(id.id.bytes[16], 0);
	assert_int_equal(perfdata_buildid_next(&s, &id), 1);
	assert_true(perfdata_buildid_is_kernel(&id));
	assert_int_equal(perfdata_buildid_next(&s, &id), 1);
	assert_false(perfdata_buildid_is_kernel(&id));
	assert_int_equal(perfdata_buildid_next(&s, &id), 0);
	/* No NUL in the path; a size over its place. */
	s = span_of(b.p, 8 + 28 + 13);
	le16enc(b.p + 6, 8 + 28 + 13);
	assert_int_equal(perfdata_buildid_next(&s, &id), -FMT_E_CORRUPT);
	b.len = 0;
	maker_build_id(&b, 1 << 15 | 2, "/x", 0x22);
	b.p[8 + 4 + 20] = 21;
	s = buf_span(&b);
	assert_int_equal(perfdata_buildid_next(&s, &id), -FMT_E_CORRUPT);
	/* Of 16 bytes with zeros behind them, and no length. */
	b.len = 0;
	maker_build_id(&b, 2, "/padded", 0x22);
	memset(b.p + 8 + 4 + 16, 0, 8);
	s = buf_span(&b);
	assert_int_equal(perfdata_buildid_next(&s, &id), 1);
	assert_int_equal(id.id.size, 16);
	/* Nothing but zeros is no id, and what follows is read. */
	memset(b.p + 8 + 4, 0, 20);
	maker_build_id(&b, 2, "/next", 0x22);
	s = buf_span(&b);
	assert_int_equal(perfdata_buildid_next(&s, &id), 1);
	assert_int_equal(id.id.size, 0);
	assert_int_equal(perfdata_buildid_next(&s, &id), 1);
	assert_string_equal(id.path, "/next");
	buf_done(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_attr_sizes),
		cmocka_unit_test(test_ids_over_each_other),
		cmocka_unit_test(test_killed),
		cmocka_unit_test(test_pipe),
		cmocka_unit_test(test_meta_changes_are_told),
		cmocka_unit_test(test_units),
		cmocka_unit_test(test_rounds),
		cmocka_unit_test(test_behind_records),
		cmocka_unit_test(test_too_much_behind),
		cmocka_unit_test(test_packed),
		cmocka_unit_test(test_packed_damaged),
		cmocka_unit_test(test_packed_strange),
		cmocka_unit_test(test_packed_bomb),
		cmocka_unit_test(test_odd_records),
		cmocka_unit_test(test_every_cut),
		cmocka_unit_test(test_every_bit),
		cmocka_unit_test(test_lying_sections),
		cmocka_unit_test(test_buildid_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
