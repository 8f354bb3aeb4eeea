/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perf.data written: every byte of a small one, by hand. */
#include "format/perfdata/perfdata_writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/perfdata/perfdata_buildid.h"
#include "format/perfdata/perfdata_feature.h"
#include "tests/lab/recording_maker.h"
#include "tests/lab/wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define EVENTS 2
#define FEATURE_CPU_TOPOLOGY 13

/* An attr of size bytes whose fields up to used are not 0. */
static void
put_attr(struct wire *w, uint32_t size, uint32_t used, uint8_t fill)
{
	size_t at = w->len;

	for (uint32_t i = 0; i < size; i++)
		wire_u8(w, i < used ? fill : 0);
	for (int i = 0; i < 4; i++)
		w->bytes[at + 4 + (size_t)i] = (uint8_t)(size >> 8 * i);
}

/* "one" with ids 5 and 6, "another" with 7. */
static struct event_set *
make_events(uint32_t size, uint32_t used)
{
	static struct wire w;
	struct event_set *set = event_set_new();

	assert_non_null(set);
	wire_clear(&w);
	put_attr(&w, size, used, 1);
	assert_int_equal(event_set_add(set, span_of(w.bytes, w.len), "one", NULL), 0);
	wire_clear(&w);
	put_attr(&w, size, 64, 2);
	assert_int_equal(event_set_add(set, span_of(w.bytes, w.len), "another", NULL), 0);
	assert_int_equal(event_set_add_id(set, 0, 5), 0);
	assert_int_equal(event_set_add_id(set, 0, 6), 0);
	assert_int_equal(event_set_add_id(set, 1, 7), 0);
	return set;
}

static struct span
text(const char *s)
{
	return span_of(s, strlen(s));
}

/* Writes a small file: two sections, one record, one round. Returns what the writer says. */
static int
write_all(struct memory_file *f, const struct event_set *events, bool pipe, uint32_t keep)
{
	struct perfdata_writer_options o = { .pipe = pipe, .keep_attr_bytes = keep };
	struct io_sink *sink = memory_sink(f);
	struct fmt_where where = { 0 };
	struct perfdata_writer *w = NULL;
	uint8_t header[PERFDATA_HEADER_BYTES];
	int error = perfdata_writer_open(sink, events, &o, &w, &where);

	if (!error)
		error = perfdata_writer_feature(w, PERFDATA_FEATURE_HOSTNAME, text("hostname"),
						&where);
	if (!error)
		error = perfdata_writer_records(w, text("record16 bytes.."), &where);
	if (!error)
		error = perfdata_writer_round(w, &where);
	if (!error)
		error = perfdata_writer_feature(w, PERFDATA_FEATURE_STAT, span_of(NULL, 0), &where);
	if (!error) {
		assert_int_equal(perfdata_writer_bytes(w), 24);
		error = perfdata_writer_finish(w, header, &where);
	}
	if (!error && !pipe)
		memcpy(f->p, header, sizeof(header));
	if (error)
		assert_int_equal(where.saved_errno, f->fail_errno);
	perfdata_writer_free(w);
	sink->close(sink);
	return error;
}

static void
check(const struct memory_file *f, const struct wire *want)
{
	assert_int_equal(f->n, want->len);
	assert_memory_equal(f->p, want->bytes, want->len);
}

static void
put_u64s(struct wire *w, size_t nr, const uint64_t *v)
{
	for (size_t i = 0; i < nr; i++)
		wire_u64(w, v[i]);
}

static void
test_file_mode(void **state)
{
	/* ids at 104, attrs at 128, data at 304, the table at 328, the hostname at 360 */
	static const uint64_t header[] = { 104, 88, 128, 176, 304, 24, 0, 0, 1 << 3 | 1 << 19,
					   0,	0,  0,	 5,   6,   7 };
	static const uint64_t table[] = { 360, 8, 368, 0 };
	static struct wire w;
	struct event_set *events = make_events(128, 66);
	struct memory_file f = { 0 };

	assert_int_equal(write_all(&f, events, false, 0), 0);
	wire_clear(&w);
	wire_bytes(&w, "PERFILE2", 8);
	put_u64s(&w, 15, header);
	put_attr(&w, 72, 66, 1);
	put_u64s(&w, 2, (const uint64_t[]){ 104, 16 });
	put_attr(&w, 72, 64, 2);
	put_u64s(&w, 2, (const uint64_t[]){ 120, 8 });
	wire_bytes(&w, "record16 bytes..", 16);
	wire_u64(&w, UINT64_C(8) << 48 | 68);
	put_u64s(&w, 4, table);
	wire_bytes(&w, "hostname", 8);
	check(&f, &w);
	memory_file_done(&f);
	event_set_free(events);
}

static void
test_pipe_mode(void **state)
{
	static struct wire w;
	struct event_set *events = make_events(128, 66);
	struct memory_file f = { 0 };

	assert_int_equal(write_all(&f, events, true, 0), 0);
	wire_clear(&w);
	wire_bytes(&w, "PERFILE2", 8);
	wire_u64(&w, 16);
	wire_u64(&w, UINT64_C(152) << 48 | 64);
	/* Not cut: perf 6.1 looks for ids behind 128 bytes, whatever the attr says. */
	put_attr(&w, 128, 66, 1);
	put_u64s(&w, 2, (const uint64_t[]){ 5, 6 });
	wire_u64(&w, UINT64_C(144) << 48 | 64);
	put_attr(&w, 128, 64, 2);
	wire_u64(&w, 7);
	put_u64s(&w, 3, (const uint64_t[]){ UINT64_C(32) << 48 | 78, 2, 5 });
	wire_bytes(&w, "one\0\0\0\0\0", 8);
	put_u64s(&w, 3, (const uint64_t[]){ UINT64_C(32) << 48 | 78, 2, 7 });
	wire_bytes(&w, "another\0", 8);
	put_u64s(&w, 2, (const uint64_t[]){ UINT64_C(24) << 48 | 80, 3 });
	wire_bytes(&w, "hostname", 8);
	wire_bytes(&w, "record16 bytes..", 16);
	wire_u64(&w, UINT64_C(8) << 48 | 68);
	check(&f, &w);
	memory_file_done(&f);
	event_set_free(events);
}

/* The second event's, by the first of its ids: records like others, in a file as in a pipe. */
static void
test_units(void **state)
{
	const struct perfdata_writer_options o = { .pipe = true };
	const struct count_unit unit = { .scale = 0.5, .name = "12345678", .snapshot = true };
	struct event_set *events = make_events(128, 66);
	static struct wire w;
	struct memory_file f = { 0 };
	struct io_sink *sink = memory_sink(&f);
	struct perfdata_writer *writer;
	uint8_t header[PERFDATA_HEADER_BYTES];
	size_t before;

	(void)state;
	event_set_unit(events, 1, &unit);
	assert_int_equal(perfdata_writer_open(sink, events, &o, &writer, NULL), 0);
	before = f.n;
	assert_int_equal(perfdata_writer_units(writer, events, NULL), 0);
	assert_int_equal(perfdata_writer_finish(writer, header, NULL), 0);
	wire_clear(&w);
	put_u64s(&w, 3, (const uint64_t[]){ UINT64_C(40) << 48 | 78, 0, 7 });
	wire_bytes(&w, "12345678\0\0\0\0\0\0\0\0", 16);
	put_u64s(&w, 4, (const uint64_t[]){ UINT64_C(32) << 48 | 78, 1, 7, UINT64_C(0x3fe) << 52 });
	assert_int_equal(f.n - before, w.len);
	assert_memory_equal(f.p + before, w.bytes, w.len);
	perfdata_writer_free(writer);
	sink->close(sink);
	memory_file_done(&f);
	event_set_free(events);
}

/* What perf 6.1 does not know goes, if it is 0; what is used stays; of others nothing goes. */
static void
test_attr_bytes(void **state)
{
	static const struct {
		uint32_t size, used, keep, want;
	} cases[] = {
		{ 144, 64, 0, 64 },	{ 144, 65, 0, 72 },    { 144, 81, 0, 96 },
		{ 144, 64, 128, 128 },	{ 136, 64, 128, 128 }, { 128, 64, 128, 128 },
		{ 120, 64, 128, 120 },	{ 64, 64, 128, 64 },   { 144, 130, 128, 136 },
		{ 144, 144, 128, 144 }, { 160, 64, 128, 128 }, { 160, 160, 128, 160 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct event_set *events = make_events(cases[i].size, cases[i].used);

		assert_int_equal(perfdata_attr_bytes(events, cases[i].keep), cases[i].want);
		event_set_free(events);
	}
}

static void
test_every_write_fails(void **state)
{
	struct event_set *events = make_events(128, 66);

	for (int pipe = 0; pipe < 2; pipe++) {
		unsigned int calls = 1;

		for (;; calls++) {
			struct memory_file f = { .fail_write = calls, .fail_errno = ENOSPC };
			int error = write_all(&f, events, pipe, 0);

			memory_file_done(&f);
			if (error == 0)
				break;
			assert_int_equal(error, -FMT_E_IO);
		}
		assert_true(calls >= 3);
	}
	event_set_free(events);
}

/* 8170 ids are a record of 65,496 bytes; a few more and a u16 cannot say it. */
static void
test_too_many_ids(void **state)
{
	for (uint64_t nr = 8174; nr <= 8175; nr++) {
		struct event_set *events = make_events(128, 66);
		struct memory_file f = { 0 };

		for (uint64_t i = 2; i < nr; i++)
			assert_int_equal(event_set_add_id(events, 0, 1000 + i), 0);
		assert_int_equal(write_all(&f, events, true, 0), nr == 8174 ? 0 : -FMT_E_TOO_BIG);
		memory_file_done(&f);
		assert_int_equal(write_all(&f, events, false, 0), 0);
		memory_file_done(&f);
		event_set_free(events);
	}
}

/* One section in a pipe: what stands behind the events. */
static void
check_pipe_feature(unsigned int feature, struct span payload, const struct wire *want)
{
	struct perfdata_writer_options o = { .pipe = true };
	struct event_set *events = event_set_new();
	struct memory_file f = { 0 };
	struct io_sink *sink = memory_sink(&f);
	struct perfdata_writer *w = NULL;

	assert_int_equal(perfdata_writer_open(sink, events, &o, &w, NULL), 0);
	assert_int_equal(perfdata_writer_feature(w, feature, payload, NULL), 0);
	assert_int_equal(perfdata_writer_finish(w, NULL, NULL), 0);
	assert_int_equal(f.n, 16 + want->len);
	if (want->len > 0)
		assert_memory_equal(f.p + 16, want->bytes, want->len);
	perfdata_writer_free(w);
	sink->close(sink);
	memory_file_done(&f);
	event_set_free(events);
}

static void
test_sections_in_a_pipe(void **state)
{
	static uint8_t much[70000];
	static struct wire w;

	wire_clear(&w);
	wire_u64(&w, UINT64_C(16) << 48 | 66);
	wire_u64(&w, 16);
	wire_bytes(&w, "tracing data\0\0\0\0", 16);
	check_pipe_feature(PERFDATA_FEATURE_TRACING_DATA, text("tracing data"), &w);

	wire_clear(&w);
	wire_u64(&w, UINT64_C(24) << 48 | 80);
	wire_u64(&w, 13);
	wire_bytes(&w, "topology", 8);
	check_pipe_feature(FEATURE_CPU_TOPOLOGY, text("topology"), &w);

	/* Exactly as long as it is: perf takes padding for the fields that a later perf appends. */
	wire_clear(&w);
	wire_u64(&w, UINT64_C(19) << 48 | 80);
	wire_u64(&w, 13);
	wire_bytes(&w, "old", 3);
	check_pipe_feature(FEATURE_CPU_TOPOLOGY, text("old"), &w);

	wire_clear(&w);
	check_pipe_feature(PERFDATA_FEATURE_AUXTRACE, text("offsets."), &w);
	check_pipe_feature(PERFDATA_FEATURE_CMDLINE, span_of(much, sizeof(much)), &w);
}

/* perf's entries are not of whole words, records have to be; an old one has no type. */
static void
test_build_ids_in_a_pipe(void **state)
{
	struct perfdata_buildid one = { .cpumode = 1,
					.id = { .size = 16, .bytes = { 0xab, 0xcd } },
					.path = "[kernel." };
	static struct wire w;
	struct buf section;

	buf_init(&section);
	perfdata_buildid_add(&section, &one);
	assert_int_equal(section.len, 100);
	buf_append(&section, "\0\0\0\0\1\0\14\0abcd", 12);
	buf_append(&section, "rest", 4); /* no entry: left out */
	wire_clear(&w);
	wire_u32(&w, 67);
	wire_u16(&w, 0x8001);
	wire_u16(&w, 104);
	wire_u32(&w, UINT32_MAX);
	wire_bytes(&w, one.id.bytes, 20);
	wire_u32(&w, 16);
	wire_bytes(&w, "[kernel.", 8);
	for (int i = 0; i < 60; i++)
		wire_u8(&w, 0);
	wire_u64(&w, UINT64_C(16) << 48 | UINT64_C(1) << 32 | 67);
	wire_bytes(&w, "abcd\0\0\0\0", 8);
	check_pipe_feature(PERFDATA_FEATURE_BUILD_ID, buf_span(&section), &w);
	buf_done(&section);
}

static void
test_sections(void **state)
{
	static struct wire w;
	struct event_set *events = make_events(128, 66);
	struct buf b;

	buf_init(&b);
	perfdata_feature_nrcpus(&b, 8, 4);
	perfdata_feature_cmdline(&b, "spoor record");
	perfdata_feature_sample_time(&b, 1, 2);
	perfdata_feature_clockid(&b, 3);
	perfdata_feature_clock_data(&b, 1, 4, 5);
	perfdata_feature_event_desc(&b, events, 72);
	wire_clear(&w);
	put_u64s(&w, 1, (const uint64_t[]){ UINT64_C(4) << 32 | 8 });
	wire_u64(&w, UINT64_C(64) << 32 | 1);
	wire_bytes(&w, "spoor record", 12);
	for (int i = 12; i < 64; i++)
		wire_u8(&w, 0);
	put_u64s(&w, 6, (const uint64_t[]){ 1, 2, 3, UINT64_C(1) << 32 | 1, 4, 5 });
	wire_u64(&w, UINT64_C(72) << 32 | 2);
	for (unsigned int i = 0; i < EVENTS; i++) {
		put_attr(&w, 72, i == 0 ? 66 : 64, (uint8_t)(i + 1));
		wire_u64(&w, UINT64_C(64) << 32 | (i == 0 ? 2 : 1));
		wire_bytes(&w, i == 0 ? "one\0\0\0\0" : "another", 7);
		for (int k = 7; k < 64; k++)
			wire_u8(&w, 0);
		for (uint64_t id = i == 0 ? 5 : 7; id < (i == 0 ? 7 : 8); id++)
			wire_u64(&w, id);
	}
	assert_int_equal(b.len, w.len);
	assert_memory_equal(b.p, w.bytes, w.len);
	buf_done(&b);
	event_set_free(events);
}

/* A name of 64 bytes keeps its NUL. */
static void
test_string_fills_its_room(void **state)
{
	char name[65] = { 0 };
	struct buf b;

	memset(name, 'x', 64);
	buf_init(&b);
	perfdata_feature_string(&b, name);
	assert_int_equal(b.len, 4 + 128);
	assert_int_equal(le32dec(b.p), 128);
	assert_string_equal((const char *)b.p + 4, name);
	buf_clear(&b);
	perfdata_feature_string(&b, "");
	assert_int_equal(b.len, 4 + 64);
	buf_done(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file_mode),
		cmocka_unit_test(test_pipe_mode),
		cmocka_unit_test(test_units),
		cmocka_unit_test(test_attr_bytes),
		cmocka_unit_test(test_every_write_fails),
		cmocka_unit_test(test_too_many_ids),
		cmocka_unit_test(test_sections_in_a_pipe),
		cmocka_unit_test(test_build_ids_in_a_pipe),
		cmocka_unit_test(test_sections),
		cmocka_unit_test(test_string_fills_its_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
