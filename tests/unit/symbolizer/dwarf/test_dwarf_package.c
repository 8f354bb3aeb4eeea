/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The index of a .dwp, right and wrong: what it says of a unit, or nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "format/bytes/buf.h"
#include "symbolizer/dwarf/dwarf_package.h"

#define SLOTS 4
#define UNIT_A UINT64_C(0x1111111122222221)
#define UNIT_B UINT64_C(0x3333333344444445) /* begins in the slot of A */

static const uint8_t bytes[1000];

static struct dwarf_split_sections
whole(void)
{
	return (struct dwarf_split_sections){
		.info = span_of(bytes, 100),
		.abbrev = span_of(bytes + 100, 100),
		.str_offsets = span_of(bytes + 200, 100),
		.rnglists = span_of(bytes + 300, 100),
		.str = span_of(bytes + 400, 100),
	};
}

/* Two units: A has the bytes from 10 on, B those from 50 on, 20 of each section. */
static struct buf
make_index(uint32_t version)
{
	static const uint32_t kinds[] = { 1, 3, 6, 8 };
	struct buf b;

	buf_init(&b);
	buf_u32(&b, version);
	buf_u32(&b, 4);
	buf_u32(&b, 2);
	buf_u32(&b, SLOTS);
	for (uint32_t i = 0; i < SLOTS; i++)
		buf_u64(&b, i == 1 ? UNIT_A : i == 0 ? UNIT_B : 0);
	for (uint32_t i = 0; i < SLOTS; i++)
		buf_u32(&b, i == 1 ? 1 : i == 0 ? 2 : 0);
	for (uint32_t i = 0; i < 4; i++)
		buf_u32(&b, kinds[i]);
	for (uint32_t i = 0; i < 8; i++)
		buf_u32(&b, i < 4 ? 10 : 50);
	for (uint32_t i = 0; i < 8; i++)
		buf_u32(&b, 20);
	assert_false(buf_failed(&b));
	return b;
}

static bool
find(struct buf *b, uint64_t id, struct dwarf_split_sections *ret)
{
	const struct dwarf_split_sections all = whole();
	uint8_t *copy = malloc(b->len);
	bool found;

	assert_non_null(copy);
	memcpy(copy, b->p, b->len); /* of its length exactly, for the sanitizer */
	found = dwarf_package_find(span_of(copy, b->len), id, &all, ret);
	free(copy);
	return found;
}

static void
put(struct buf *b, size_t at, uint32_t value)
{
	le32enc(b->p + at, value);
}

static void
test_found(void **state)
{
	struct buf b = make_index(5);
	struct dwarf_split_sections s;

	(void)state;
	assert_true(find(&b, UNIT_A, &s));
	assert_ptr_equal(s.info.p, bytes + 10);
	assert_int_equal(s.info.len, 20);
	assert_ptr_equal(s.rnglists.p, bytes + 310);
	assert_int_equal(s.str.len, 100);
	/* Its own slot is taken: the next one is (id >> 32 & 3 | 1) on. */
	assert_true(find(&b, UNIT_B, &s));
	assert_ptr_equal(s.abbrev.p, bytes + 150);
	assert_false(find(&b, UNIT_A + 1, &s)); /* an empty slot */
	assert_false(find(&b, UNIT_A + 4, &s)); /* another one's */
	buf_done(&b);
	/* In GNU's version the eighth kind is of macros. */
	b = make_index(2);
	assert_true(find(&b, UNIT_A, &s));
	assert_int_equal(s.rnglists.len, 0);
	buf_done(&b);
}

static void
test_wrong(void **state)
{
	static const struct {
		size_t at;
		uint32_t value;
	} wrong[] = {
		{ 0, 3 },		       /* version */
		{ 4, 0 },		       /* columns */
		{ 4, UINT32_MAX },	       /* which rows times columns would overflow with */
		{ 8, UINT32_MAX },	       /* units */
		{ 8, 0 },		       /* a row behind the last */
		{ 12, 0 },		       /* slots */
		{ 12, 3 },		       /* no power of two */
		{ 12, UINT32_C(1) << 31 },     /* more than there are */
		{ 16 + 8 * SLOTS + 4, 3 },     /* row 3 of 2 */
		{ 16 + 12 * SLOTS + 16, 101 }, /* begins behind the section */
		{ 16 + 12 * SLOTS + 48, 91 },  /* ends behind it */
		{ 16 + 12 * SLOTS + 48, UINT32_MAX },
	};
	struct dwarf_split_sections s;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct buf b = make_index(5);

		put(&b, wrong[i].at, wrong[i].value);
		assert_false(find(&b, UNIT_A, &s));
		buf_done(&b);
	}
}

static void
test_cut(void **state)
{
	struct buf b = make_index(5);
	const size_t len = b.len;
	struct dwarf_split_sections s;

	(void)state;
	for (b.len = 0; b.len < len; b.len++)
		assert_false(find(&b, UNIT_A, &s));
	buf_done(&b);
}

/* All slots taken by others, none empty: the search ends. */
static void
test_full(void **state)
{
	struct buf b = make_index(5);
	struct dwarf_split_sections s;

	(void)state;
	for (size_t i = 0; i < SLOTS; i++)
		put(&b, 16 + 8 * SLOTS + 4 * i, 1);
	assert_false(find(&b, 7, &s));
	buf_done(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_found),
		cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_full),
	};

	return cmocka_run_group_tests_name("dwarf_package", tests, NULL, NULL);
}
