/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "format/bytes/buf.h"
#include "format/bytes/fmt_error.h"
#include "format/jit/jitdump.h"
#include "tests/lab/jit_expect.h"

/* A dump in the making, in either byte order. */
struct maker {
	uint8_t bytes[4096];
	size_t len;
	bool big;
};

static void
put32(struct maker *m, uint32_t v)
{
	if (m->big)
		be32enc(m->bytes + m->len, v);
	else
		le32enc(m->bytes + m->len, v);
	m->len += 4;
}

static void
put64(struct maker *m, uint64_t v)
{
	if (m->big)
		be64enc(m->bytes + m->len, v);
	else
		le64enc(m->bytes + m->len, v);
	m->len += 8;
}

static void
header(struct maker *m, uint64_t flags)
{
	put32(m, 0x4a695444);
	put32(m, 1);
	put32(m, 48); /* a later version's, with 8 bytes more */
	put32(m, 62);
	put32(m, 0);
	put32(m, 77);
	put64(m, 1);
	put64(m, flags);
	put64(m, 0);
}

static void
load(struct maker *m, uint64_t time_ns, uint64_t address, uint64_t size, uint64_t index,
     const char *name)
{
	put32(m, 0);
	put32(m, (uint32_t)(16 + 40 + strlen(name) + 1 + 8));
	put64(m, time_ns);
	put32(m, 77);
	put32(m, 77);
	put64(m, address);
	put64(m, address);
	put64(m, size);
	put64(m, index);
	memcpy(m->bytes + m->len, name, strlen(name) + 1);
	m->len += strlen(name) + 1;
	put64(m, 0); /* the code */
}

static void
move(struct maker *m, uint64_t time_ns, uint64_t from, uint64_t to, uint64_t size, uint64_t index)
{
	put32(m, 1);
	put32(m, 16 + 48);
	put64(m, time_ns);
	put32(m, 77);
	put32(m, 77);
	put64(m, to);
	put64(m, from);
	put64(m, to);
	put64(m, size);
	put64(m, index);
}

static int
read_dump(const struct maker *m, size_t len, struct jit_table *t)
{
	struct io_source *file = io_source_memory(m->bytes, len);
	uint64_t budget = 100;
	int err = jitdump_read(file, &budget, t, NULL);

	file->close(file);
	if (err == 0)
		assert_int_equal(jit_table_settle(t), 0);
	return err;
}

static void
story(struct maker *m)
{
	header(m, 0);
	load(m, 10, 0x1000, 0x100, 1, "alpha");
	put32(m, 2); /* lines: not looked at */
	put32(m, 24);
	put64(m, 11);
	put64(m, 0);
	move(m, 20, 0x1000, 0x2000, 0x100, 1);
	load(m, 30, 0x1000, 0x80, 2, "beta");
	move(m, 35, 0x5000, 0x6000, 0x100, 99); /* of nothing */
	put32(m, 3);
	put32(m, 16);
	put64(m, 40);
}

static void
test_both_orders(void **state)
{
	for (int big = 0; big < 2; big++) {
		struct maker m = { .big = big };
		struct jit_table *t = jit_table_new();

		story(&m);
		assert_int_equal(read_dump(&m, m.len, t), 0);
		jit_expect(t, 0x1010, 9, NULL);
		jit_expect(t, 0x1010, 10, "alpha");
		jit_expect(t, 0x1010, 20, NULL);
		jit_expect(t, 0x2010, 19, NULL);
		jit_expect(t, 0x2010, 20, "alpha");
		jit_expect(t, 0x1010, 30, "beta");
		jit_expect(t, 0x1090, 30, NULL);
		jit_expect(t, 0x6010, 99, NULL);
		jit_table_free(t);
	}
}

/* A writer may be anywhere: what is whole is read. */
static void
test_cut(void **state)
{
	struct maker m = { 0 };

	story(&m);
	for (size_t len = 0; len < m.len; len++) {
		struct jit_table *t = jit_table_new();
		int err = read_dump(&m, len, t);

		assert_int_equal(err, len < 40 ? -FMT_E_CORRUPT : 0);
		if (err == 0 && len >= 48 + 16 + 40 + 6)
			jit_expect(t, 0x1010, 10, "alpha");
		jit_table_free(t);
	}
}

static void
test_refused(void **state)
{
	struct maker m = { 0 };
	struct jit_table *t = jit_table_new();

	header(&m, 1);
	assert_int_equal(read_dump(&m, m.len, t), -FMT_E_UNSUPPORTED);
	m.bytes[0] = 0;
	assert_int_equal(read_dump(&m, m.len, t), -FMT_E_CORRUPT);
	jit_table_free(t);
}

/* A record that says it has no length is the last. */
static void
test_no_length(void **state)
{
	struct maker m = { 0 };
	struct jit_table *t = jit_table_new();

	header(&m, 0);
	put32(&m, 0);
	put32(&m, 0);
	put64(&m, 0);
	load(&m, 10, 0x1000, 0x100, 1, "never");
	assert_int_equal(read_dump(&m, m.len, t), 0);
	assert_int_equal(jit_table_count(t), 0);
	jit_table_free(t);
}

/* A record of code that is too short for what it should have: the next one's bytes are not its own. */
static void
test_short(void **state)
{
	struct maker m = { 0 };
	struct jit_table *t = jit_table_new();

	(void)state;
	header(&m, 0);
	put32(&m, 0);
	put32(&m, 16 + 8);
	put64(&m, 10);
	put32(&m, 77);
	put32(&m, 77);
	load(&m, 20, 0x1000, 0x100, 1, "alpha");
	assert_int_equal(read_dump(&m, m.len, t), 0);
	assert_int_equal(jit_table_count(t), 1);
	jit_expect(t, 0x1010, 20, "alpha");
	jit_table_free(t);
}

/* Any number of records, each of no use: as many are looked at as the caller grants. */
static void
test_budget(void **state)
{
	struct maker m = { 0 };
	struct jit_table *t = jit_table_new();
	struct io_source *file;
	uint64_t budget = 2;

	header(&m, 0);
	load(&m, 10, 0x1000, 0x100, 1, "first");
	load(&m, 20, 0x2000, 0x100, 2, "second");
	load(&m, 30, 0x3000, 0x100, 3, "third");
	file = io_source_memory(m.bytes, m.len);
	assert_int_equal(jitdump_read(file, &budget, t, NULL), -FMT_E_TOO_BIG);
	assert_int_equal(budget, 0);
	assert_int_equal(jit_table_count(t), 2);
	budget = 100;
	assert_int_equal(jitdump_read(file, &budget, t, NULL), 0);
	assert_in_range(budget, 96, 97);
	file->close(file);
	jit_table_free(t);
}

/* An .eh_frame of so many bytes with its header of 20 behind it; size: as it says. */
static void
unwinding(struct maker *m, const char *frame, uint64_t size, uint64_t header_bytes)
{
	put32(m, 4);
	put32(m, (uint32_t)(16 + 24 + strlen(frame) + 20));
	put64(m, 1);
	put64(m, size);
	put64(m, header_bytes);
	put64(m, 4096);
	memcpy(m->bytes + m->len, frame, strlen(frame));
	m->len += strlen(frame) + 20;
}

/* Of the code that is found there; "". */
static const char *
frames_at(const struct jitdump_frames *f, const struct jit_table *t, uint64_t address,
	  uint64_t time_ns)
{
	static char text[64];
	struct jit_symbol s;
	struct span bytes;

	text[0] = 0;
	if (jit_table_find(t, address, time_ns, &s) && jitdump_frames_find(f, s.order, &bytes)) {
		memcpy(text, bytes.p, bytes.len);
		text[bytes.len] = 0;
	}
	return text;
}

static void
test_frames(void **state)
{
	for (int big = 0; big < 2; big++) {
		struct maker m = { .big = big };
		struct jit_table *t = jit_table_new();
		struct jitdump_frames f = { .bytes_max = 16 };
		struct io_source *file;
		uint64_t budget = 100;

		header(&m, 0);
		unwinding(&m, "frames", 26, 20);
		load(&m, 10, 0x1000, 0x100, 1, "first");
		load(&m, 20, 0x2000, 0x100, 2, "second, without");
		move(&m, 30, 0x1000, 0x5000, 0x100, 1);
		move(&m, 40, 0x5000, 0x6000, 0x100, 1);
		/* More than there is, no more than the header, more than there is room for. */
		unwinding(&m, "long", 2600, 20);
		load(&m, 10, 0x7000, 0x100, 3, "third");
		unwinding(&m, "none", 20, 20);
		load(&m, 10, 0x8000, 0x100, 4, "fourth");
		unwinding(&m, "0123456789a", 31, 20);
		load(&m, 10, 0x9000, 0x100, 5, "fifth");
		unwinding(&m, "more", 24, 20);
		load(&m, 10, 0xa000, 0x100, 6, "sixth");
		file = io_source_memory(m.bytes, m.len);
		assert_int_equal(jitdump_read(file, &budget, t, &f), 0);
		assert_int_equal(jit_table_settle(t), 0);
		file->close(file);
		assert_string_equal(frames_at(&f, t, 0x10ff, 10), "frames");
		assert_string_equal(frames_at(&f, t, 0x1000, 30), "");
		assert_string_equal(frames_at(&f, t, 0x2000, 99), "");
		assert_string_equal(frames_at(&f, t, 0x5000, 30), "frames");
		assert_string_equal(frames_at(&f, t, 0x6000, 40), "frames");
		assert_string_equal(frames_at(&f, t, 0x7000, 99), "");
		assert_string_equal(frames_at(&f, t, 0x8000, 99), "");
		assert_string_equal(frames_at(&f, t, 0x9000, 99), "");
		assert_string_equal(frames_at(&f, t, 0xa000, 99), "more");
		jitdump_frames_done(&f);
		jit_table_free(t);
	}
}

/* A bound of 0 bytes, which is what another file may leave, is one. */
static void
test_no_frames(void **state)
{
	struct maker m = { 0 };
	struct jit_table *t = jit_table_new();
	struct jitdump_frames f = { 0 };
	struct io_source *file;
	uint64_t budget = 100;

	header(&m, 0);
	unwinding(&m, "frames", 26, 20);
	load(&m, 10, 0x1000, 0x100, 1, "first");
	file = io_source_memory(m.bytes, m.len);
	assert_int_equal(jitdump_read(file, &budget, t, &f), 0);
	assert_int_equal(jit_table_settle(t), 0);
	file->close(file);
	assert_int_equal(jit_table_count(t), 1);
	assert_int_equal(f.nr, 0);
	assert_int_equal(f.bytes.len, 0);
	jitdump_frames_done(&f);
	jit_table_free(t);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_both_orders), cmocka_unit_test(test_cut),
		cmocka_unit_test(test_refused),	    cmocka_unit_test(test_no_length),
		cmocka_unit_test(test_short),	    cmocka_unit_test(test_budget),
		cmocka_unit_test(test_frames),	    cmocka_unit_test(test_no_frames),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
