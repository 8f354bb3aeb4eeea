/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Call frame information of a file that stays open. That its rules are those of the file read at once is in
 * test_cfi_files, and that its walks are, in test_unwind_steps.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "format/bytes/fmt_error.h"
#include "symbolizer/unwind/cfi.h"
#include "symbolizer/unwind/cfi_code.h"
#include "tests/lab/elf_lab.h"
#include "tests/lab/frame_image.h"

#define GAP (200u << 10)

/* Two functions, and code between them of which no call frame information knows: a number in each of its words. */
static const char source[] =
	"int a(int x) { return x + 1; }\n"
	"__asm__(\".set n, 0\\n.rept 51200\\n.long n\\n.set n, n + 1\\n.endr\\n.byte 0, 0, 0, 0\");\n"
	"int main(int n, char **v) { return a(n); }\n";

static struct cfi *
opened(const char *path)
{
	struct elf_object *o = elf_lab_open(path);
	struct cfi *c = NULL;

	assert_int_equal(cfi_open(o, &c), 0);
	elf_object_close(o);
	return c;
}

/* What there is around each address is what there is when all is read: all of it, or at least what is promised. */
static void
test_gaps(void **state)
{
	const char *path = lab_build("gap", source, 0, "-O1 -w -fasynchronous-unwind-tables");
	struct cfi *some = opened(path), *all;
	struct elf_object *o = elf_lab_open(path);
	size_t before = 0, gap = 0;
	const struct elf_segment *s;
	size_t i = 0;

	assert_int_equal(cfi_new(o, NULL, &all), 0);
	(void)elf_object_segments(o, &s);
	while (!s[i].exec)
		i++;
	for (uint64_t at = s[i].vaddr - 8; at < s[i].vaddr + s[i].filesz + 8; at++) {
		const struct span x = cfi_gap_from(all, at), y = cfi_gap_from(some, at);
		const struct span u = cfi_gap_before(all, at), v = cfi_gap_before(some, at);

		gap += x.len > 0;
		assert_true(y.len == x.len || (y.len >= CFI_CODE_NEAR && y.len < x.len));
		assert_true(y.len == 0 || memcmp(x.p, y.p, y.len) == 0);
		assert_true(v.len == u.len || (v.len >= CFI_CODE_NEAR && v.len < u.len));
		assert_true(v.len == 0 || memcmp(u.p + u.len - v.len, v.p, v.len) == 0);
		assert_int_equal(cfi_begins_apart(all, at), cfi_begins_apart(some, at));
		before = v.len > before ? v.len : before;
	}
	assert_true(gap > GAP);
	assert_true(before > 0 && before <= CFI_CODE_PIECE_BYTES + 2 * CFI_CODE_NEAR);
	elf_object_close(o);
	cfi_free(all);
	cfi_free(some);
}

/* Where pieces of a large gap are forgotten, they are read again. */
static void
test_pieces_are_bounded(void **state)
{
	static const int32_t nowhere[1][2] = { { (int32_t)FRAME_IMAGE_CODE, 0x7fff } };
	const size_t pieces = 3 * CFI_CODE_PIECES_MAX, size = pieces * CFI_CODE_PIECE_BYTES;
	uint8_t *image = calloc(1, FRAME_IMAGE_HEAD + size + frame_image_table_bytes(1));
	struct elf_object *o;
	struct cfi *c;
	Elf64_Phdr p;

	frame_image(image, EM_X86_64, NULL, 0);
	memcpy(&p, image + sizeof(Elf64_Ehdr) + sizeof(p), sizeof(p));
	p.p_offset = FRAME_IMAGE_HEAD;
	p.p_filesz = p.p_memsz = size;
	memcpy(image + sizeof(Elf64_Ehdr) + sizeof(p), &p, sizeof(p));
	for (size_t i = 0; i < pieces; i++)
		image[FRAME_IMAGE_HEAD + i * CFI_CODE_PIECE_BYTES + 100] = (uint8_t)(i + 1);
	assert_int_equal(elf_object_open_memory(
				 image,
				 frame_image_table(image, FRAME_IMAGE_HEAD + size, nowhere, 1), &o),
			 0);
	assert_int_equal(cfi_open(o, &c), 0);
	elf_object_close(o);
	for (size_t i = 0; i < 2 * pieces; i++) {
		const size_t at = i % pieces;
		const struct span s =
			cfi_gap_from(c, FRAME_IMAGE_CODE + at * CFI_CODE_PIECE_BYTES + 100);

		assert_true(s.len >= CFI_CODE_NEAR);
		assert_int_equal(s.p[0], (uint8_t)(at + 1));
		assert_true(cfi_bytes(c) <
			    (CFI_CODE_PIECES_MAX + 8) * (CFI_CODE_PIECE_BYTES + 2 * CFI_CODE_NEAR));
	}
	cfi_free(c);
	free(image);
}

/* An image whose table has these pairs, after one change of a byte of its header (-1: none). */
static int
open_table(const int32_t (*pairs)[2], size_t nr, int byte, uint8_t value, struct cfi **ret)
{
	static const uint8_t eh_frame[64] = { 16, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0x78, 16 };
	uint8_t image[1024];
	const size_t end = frame_image(image, EM_X86_64, eh_frame, sizeof(eh_frame)),
		     size = frame_image_table(image, end, pairs, nr);
	struct elf_object *o;
	int err;

	if (byte >= 0)
		image[end + (size_t)byte] = value;
	assert_int_equal(elf_object_open_memory(image, size, &o), 0);
	*ret = NULL;
	err = cfi_open(o, ret);
	elf_object_close(o);
	return err;
}

/* A table that is not one is refused; one that leads to no FDE gives no rule. */
static void
test_bad_tables(void **state)
{
	static const int32_t sorted[][2] = {
		{ (int32_t)FRAME_IMAGE_CODE, FRAME_IMAGE_HEAD }, /* a CIE */
		{ (int32_t)FRAME_IMAGE_CODE + 64, FRAME_IMAGE_HEAD + 3 },
		{ (int32_t)FRAME_IMAGE_CODE + 128, INT32_MAX },
		{ (int32_t)FRAME_IMAGE_CODE + 192, INT32_MIN / 2 },
	};
	static const int32_t turned[][2] = { { 200, 0 }, { 100, 0 } };
	uint32_t rule;
	struct cfi *c;

	assert_int_equal(open_table(turned, 2, -1, 0, &c), -FMT_E_CORRUPT);
	assert_int_equal(open_table(sorted, 4, 0, 2, &c), -FMT_E_CORRUPT);     /* version */
	assert_int_equal(open_table(sorted, 4, 2, 0xff, &c), -FMT_E_EMPTY);    /* no count */
	assert_int_equal(open_table(sorted, 4, 3, 0x1b, &c), -FMT_E_EMPTY);    /* pcrel */
	assert_int_equal(open_table(sorted, 4, 8, 5, &c), -FMT_E_CORRUPT);     /* five entries */
	assert_int_equal(open_table(sorted, 4, 11, 0x40, &c), -FMT_E_CORRUPT); /* 2^30 */
	assert_int_equal(open_table(sorted, 0, -1, 0, &c), -FMT_E_EMPTY);
	assert_int_equal(open_table(sorted, 4, -1, 0, &c), 0);
	for (uint64_t at = FRAME_IMAGE_CODE - 1; at < FRAME_IMAGE_CODE + 256; at++)
		assert_int_equal(cfi_find(c, at, &rule), 0);
	assert_int_equal(cfi_find(c, UINT64_MAX, &rule), 0);
	assert_int_equal(cfi_find(c, 0, &rule), 0);
	cfi_free(c);
}

/* What is gone of a file while it is open has no rules and no code. */
static void
test_shortened(void **state)
{
	const char *path = lab_build("short", source, 0, "-O1 -w -fasynchronous-unwind-tables");
	struct elf_object *o = elf_lab_open(path);
	struct cfi *all, *some = opened(path);
	struct cfi_function f;
	uint32_t rule;

	assert_int_equal(cfi_new(o, NULL, &all), 0);
	elf_object_close(o);
	assert_true(cfi_function(all, 1, &f));
	assert_int_equal(truncate(path, 100), 0);
	assert_int_equal(cfi_find(some, f.start, &rule), 0);
	assert_int_equal(cfi_gap_from(some, f.start).len, 0);
	cfi_free(all);
	cfi_free(some);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gaps),
		cmocka_unit_test(test_pieces_are_bounded),
		cmocka_unit_test(test_bad_tables),
		cmocka_unit_test(test_shortened),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
