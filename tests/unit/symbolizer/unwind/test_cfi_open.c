/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Call frame information of a file that stays open. That its rules are those of the file read at once is in
 * test_cfi_files, and that its walks are, in test_unwind_steps.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "format/bytes/fmt_error.h"
#include "symbolizer/object/elf_bytes.h"
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

	assert_int_equal(cfi_open(o, SIZE_MAX, NULL, &c), 0);
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
	assert_int_equal(cfi_open(o, SIZE_MAX, NULL, &c), 0);
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
	err = cfi_open(o, SIZE_MAX, NULL, ret);
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

/* FDEs that are written to after they were looked at, and before their rules are made. */
static void
test_rewritten(void **state)
{
	const char *path = lab_build("rewritten", source, 0, "-O1 -w -fasynchronous-unwind-tables");
	struct elf_object *o = elf_lab_open(path);
	struct cfi *all, *some = opened(path);
	struct cfi_function f;
	uint64_t vaddr, offset;
	const struct elf_segment *s;
	const uint32_t nothing = 0;
	size_t nr;
	struct elf_bytes eh_frame;
	uint32_t rule;
	FILE *file;

	assert_int_equal(cfi_new(o, NULL, &all), 0);
	assert_int_equal(elf_bytes_of_section(o, ".eh_frame", &eh_frame), 0);
	assert_true(cfi_function(all, 1, &f));
	vaddr = eh_frame.vaddr + f.offset + 12; /* of its length, behind two words and its start */
	nr = elf_object_segments(o, &s);
	assert_true(elf_segments_offset(s, nr, vaddr, false, &offset));
	/* It is learnt, not compiled. */
	assert_int_equal(cfi_gap_from(some, f.start).len, 0);
	file = fopen(path, "r+e");
	assert_non_null(file);
	assert_int_equal(fseek(file, (long)offset, SEEK_SET), 0);
	assert_int_equal(fwrite(&nothing, sizeof(nothing), 1, file), 1);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(cfi_find(some, f.start, &rule), -FMT_E_CORRUPT);
	free(eh_frame.p);
	elf_object_close(o);
	cfi_free(all);
	cfi_free(some);
}

/*
 * Code at the end of all addresses, and code at their beginning: an entry of the table that is behind what is asked for.
 * Pieces are of the gap that the address is in, and have it.
 */
static void
test_wrapped(void **state)
{
	static uint8_t image[0x14000];
	const uint64_t high = UINT64_C(0xfffffffffffff000);
	const Elf64_Phdr p[3] = {
		{ .p_type = PT_LOAD,
		  .p_flags = PF_R | PF_X,
		  .p_offset = 0x3000,
		  .p_vaddr = high,
		  .p_filesz = 0x10000,
		  .p_memsz = 0x10000 },
		{ .p_type = PT_LOAD,
		  .p_flags = PF_R | PF_X,
		  .p_filesz = 0x10000,
		  .p_memsz = 0x10000 },
		{ .p_type = PT_GNU_EH_FRAME, .p_offset = 0x1000, .p_vaddr = 0x1000, .p_filesz = 20 },
	};
	/* A CIE with addresses of eight bytes, and the FDE of 0x3000 bytes from high on. */
	static const uint8_t cie[] = { 20, 0,	 0,  0, 0, 0,	 0, 0, 1,    'z', 'R', 0,
				       1,  0x78, 16, 1, 0, 0x0c, 7, 8, 0x90, 1,	  0,   0 };
	const uint32_t fde[2] = { 28, 0x1104 - 0x1064 + 0 };
	const uint64_t of[2] = { high, 0x3000 };
	const uint8_t header[12] = { 1, 3, 3, 0x3b, 0, 0, 0, 0, 1 };
	const int32_t entry[2] = { -0x2000, 0x100 };
	struct elf_object *o;
	struct cfi *c;

	frame_image(image, EM_X86_64, NULL, 0);
	memcpy(image + sizeof(Elf64_Ehdr), p, sizeof(p));
	memcpy(image + 0x1000, header, sizeof(header));
	memcpy(image + 0x100c, entry, sizeof(entry));
	memcpy(image + 0x1064, cie, sizeof(cie));
	memcpy(image + 0x1100, fde, sizeof(fde));
	memcpy(image + 0x1108, of, sizeof(of));
	for (size_t i = 0x1800; i < 0x10000; i++)
		image[i] = (uint8_t)(i * 7 >> 3);
	assert_int_equal(elf_object_open_memory(image, sizeof(image), &o), 0);
	assert_int_equal(cfi_open(o, SIZE_MAX, NULL, &c), 0);
	elf_object_close(o);
	for (uint64_t at = 0x1800; at < 0x10000; at += 0x123) {
		const struct span s = cfi_gap_from(c, at), b = cfi_gap_before(c, at);

		assert_true(s.len > 0 && s.len <= CFI_CODE_PIECE_BYTES + 2 * CFI_CODE_NEAR);
		assert_true(b.len > 0 && b.len <= CFI_CODE_PIECE_BYTES + 2 * CFI_CODE_NEAR);
		assert_memory_equal(s.p, image + at, s.len);
	}
	cfi_free(c);
}

/* What is not read for want of budget is read another time. */
static void
test_budget(void **state)
{
	const char *path = lab_build("budget", source, 0, "-O1 -w -fasynchronous-unwind-tables");
	struct elf_object *o = elf_lab_open(path);
	struct elf_budget budget = { .left = 0 };
	struct cfi *all, *some;
	struct cfi_function f;
	uint32_t rule;

	assert_int_equal(cfi_new(o, NULL, &all), 0);
	assert_int_equal(cfi_open(o, SIZE_MAX, &budget, &some), 0);
	elf_object_close(o);
	assert_true(cfi_function(all, 1, &f));
	for (budget.left = 0; budget.left < 3 * ELF_BUDGET_LEAST; budget.left += ELF_BUDGET_LEAST) {
		const uint64_t left = budget.left;

		budget.refused = false;
		assert_int_equal(cfi_find(some, f.start, &rule), -FMT_E_NOMEM);
		assert_true(budget.refused);
		budget.left = left;
	}
	budget = (struct elf_budget){ .left = 1 << 20 };
	assert_int_equal(cfi_find(some, f.start, &rule), 1);
	assert_false(budget.refused);
	budget.left = 0;
	assert_int_equal(cfi_find(some, f.start, &rule), 1);
	assert_int_equal(cfi_gap_from(some, f.end + 4096).len, 0);
	assert_true(budget.refused);
	budget.left = 1 << 20;
	assert_true(cfi_gap_from(some, f.end + 4096).len > 0);
	cfi_free(all);
	cfi_free(some);
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
		cmocka_unit_test(test_gaps),	   cmocka_unit_test(test_pieces_are_bounded),
		cmocka_unit_test(test_bad_tables), cmocka_unit_test(test_shortened),
		cmocka_unit_test(test_rewritten),  cmocka_unit_test(test_wrapped),
		cmocka_unit_test(test_budget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
