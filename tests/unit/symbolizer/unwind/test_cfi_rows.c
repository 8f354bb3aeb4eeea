/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Entries and instructions of .eh_frame and .debug_frame, made by hand, and what is wrong with some. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dwarf.h>
#include <elf.h>

#include "format/bytes/fmt_error.h"
#include "symbolizer/unwind/cfi_rows.h"

#define BYTES(...) ((const uint8_t[]){ __VA_ARGS__ }), sizeof((const uint8_t[]){ __VA_ARGS__ })
#define VADDR UINT64_C(0x10000)

/* --- a section --- */

struct section {
	uint8_t bytes[4096];
	size_t len;
};

static void
put(struct section *s, const void *bytes, size_t len)
{
	assert_true(s->len + len <= sizeof(s->bytes));
	if (len > 0)
		memcpy(s->bytes + s->len, bytes, len);
	s->len += len;
}

static void
put_number(struct section *s, uint64_t v, size_t len)
{
	put(s, &v, len); /* hosts of these tests are little-endian */
}

/* Returns where the length stands. */
static size_t
begin(struct section *s)
{
	size_t at = s->len;

	put_number(s, 0, 4);
	return at;
}

static void
end(struct section *s, size_t at)
{
	uint32_t len = (uint32_t)(s->len - at - 4);

	memcpy(s->bytes + at, &len, 4);
}

static struct cfi_section
whole(const struct section *s, bool is_eh)
{
	return (struct cfi_section){ .bytes = span_of(s->bytes, s->len),
				     .vaddr = VADDR,
				     .is_eh = is_eh };
}

/* --- rows --- */

static struct cfi_rows rows;

/* "0:7+8,16c-8 4:..." */
static const char *
rows_text(size_t first)
{
	static const char how[] = "ucv=ev";
	static char text[4096];
	size_t n = 0;

	text[0] = '\0';
	for (size_t i = first; i < rows.nr; i++) {
		struct cfi_rule rule;

		rule.words = word_lists_at(&rows.rules, rows.v[i].rule, &rule.nr);
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%" PRIu32 ":",
				      i > first ? " " : "", rows.v[i].pc);
		for (size_t j = 0; j < rule.nr / 2; j++) {
			struct cfi_place p = cfi_rule_place(&rule, j);

			if (j > 0)
				n += (size_t)snprintf(text + n, sizeof(text) - n, ",%u", p.target);
			else if (p.target == CFI_SIGNAL_FRAME)
				n += (size_t)snprintf(text + n, sizeof(text) - n, "S");
			if (p.how == CFI_AT_EXPRESSION || p.how == CFI_IS_EXPRESSION)
				n += (size_t)snprintf(text + n, sizeof(text) - n, "%c[%u]",
						      p.how == CFI_IS_EXPRESSION ? 'x' : 'e',
						      p.size);
			else if (p.how == CFI_REGISTER)
				n += (size_t)snprintf(text + n, sizeof(text) - n, "=%u%+" PRId32,
						      p.reg, p.offset);
			else if (p.how == CFI_UNDEFINED)
				n += (size_t)snprintf(text + n, sizeof(text) - n, "u");
			else
				n += (size_t)snprintf(text + n, sizeof(text) - n, "%c%+" PRId32,
						      how[p.how], p.offset);
		}
	}
	return text;
}

/* x86-64, code of 100 bytes; every CIE says CFA = sp + 8, the return address at CFA - 8. */
static int
compile_as(uint16_t machine, const uint8_t *initial, size_t nr_initial, const uint8_t *p, size_t n,
	   size_t *ret_first)
{
	const struct cfi_arch *arch = cfi_arch_of_machine(machine);
	uint8_t bytes[1024];
	struct cfi_section s = { .bytes = span_of(bytes, sizeof(bytes)),
				 .vaddr = VADDR,
				 .is_eh = true };
	struct cfi_cie cie = { .code_align = 1, .data_align = -8, .ra = arch->ra };
	struct cfi_fde fde = { .start = 0x400, .length = 100 };

	assert_true(n <= 512 && nr_initial <= 512);
	memcpy(bytes, initial, nr_initial);
	memcpy(bytes + 512, p, n);
	cie.instructions = span_of(bytes, nr_initial);
	fde.instructions = span_of(bytes + 512, n);
	*ret_first = rows.nr;
	return cfi_rows_add(&rows, arch, &s, &cie, &fde);
}

static const uint8_t x86_cie[] = { DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1 };

static void
expect(const uint8_t *p, size_t n, const char *text)
{
	size_t first;

	assert_int_equal(compile_as(EM_X86_64, x86_cie, sizeof(x86_cie), p, n, &first), 0);
	assert_string_equal(rows_text(first), text);
}

static void
expect_error(const uint8_t *p, size_t n, int error)
{
	const size_t before = rows.nr;
	size_t first;

	assert_int_equal(compile_as(EM_X86_64, x86_cie, sizeof(x86_cie), p, n, &first), error);
	assert_int_equal(rows.nr, before);
}

static void
test_prologue(void **state)
{
	expect(BYTES(DW_CFA_nop), "0:=7+8,16c-8");
	/* push rbp; mov rsp, rbp; ... leave; ret */
	expect(BYTES(DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16, DW_CFA_offset | 6, 2,
		     DW_CFA_advance_loc | 3, DW_CFA_def_cfa_register, 6, DW_CFA_advance_loc1, 90,
		     DW_CFA_restore | 6, DW_CFA_def_cfa, 7, 8),
	       "0:=7+8,16c-8 1:=7+16,6c-16,16c-8 4:=6+16,6c-16,16c-8 94:=7+8,16c-8");
}

static void
test_advance(void **state)
{
	expect(BYTES(DW_CFA_advance_loc2, 2, 0, DW_CFA_def_cfa_offset, 16, DW_CFA_advance_loc4, 5,
		     0, 0, 0, DW_CFA_def_cfa_offset, 24),
	       "0:=7+8,16c-8 2:=7+16,16c-8 7:=7+24,16c-8");
	/* set_loc, absolute */
	expect(BYTES(DW_CFA_set_loc, 0x20, 4, 0, 0, 0, 0, 0, 0, DW_CFA_def_cfa_offset, 16),
	       "0:=7+8,16c-8 32:=7+16,16c-8");
	expect_error(BYTES(DW_CFA_set_loc, 0xff, 3, 0, 0, 0, 0, 0, 0), -FMT_E_CORRUPT);
	/* Equal rows are one; what is behind the code is none. */
	expect(BYTES(DW_CFA_advance_loc | 9, DW_CFA_advance_loc | 9, DW_CFA_def_cfa_offset, 16,
		     DW_CFA_advance_loc1, 82, DW_CFA_def_cfa_offset, 24, DW_CFA_advance_loc1, 200),
	       "0:=7+8,16c-8 18:=7+16,16c-8");
}

static void
test_places(void **state)
{
	expect(BYTES(DW_CFA_offset_extended, 12, 2, DW_CFA_offset_extended_sf, 13, 0x7f,
		     DW_CFA_val_offset, 14, 1, DW_CFA_val_offset_sf, 15, 0x7e, DW_CFA_register, 3,
		     12, DW_CFA_undefined, 6, DW_CFA_GNU_negative_offset_extended, 0, 1,
		     DW_CFA_GNU_args_size, 0x80, 1),
	       "0:=7+8,0c+8,3=12+0,6u,12c-16,13c+8,14v-8,15v+16,16c-8");
	expect(BYTES(DW_CFA_undefined, 3, DW_CFA_same_value, 3), "0:=7+8,16c-8");
	expect(BYTES(DW_CFA_undefined, 16), "0:=7+8,16u");
	expect(BYTES(DW_CFA_undefined, 16, DW_CFA_restore_extended, 16), "0:=7+8,16c-8");
	/* Registers that are not followed: vector registers of any number. */
	expect(BYTES(DW_CFA_offset | 0x3f, 4, DW_CFA_offset_extended, 0xff, 0xff, 3, 4),
	       "0:=7+8,16c-8");
	expect(BYTES(DW_CFA_def_cfa_sf, 6, 0x7e), "0:=6+16,16c-8");
	expect(BYTES(DW_CFA_def_cfa_offset_sf, 0x7c), "0:=7+32,16c-8");
}

static void
test_expressions(void **state)
{
	expect(BYTES(DW_CFA_def_cfa_expression, 2, DW_OP_breg7, 8, DW_CFA_expression, 6, 2,
		     DW_OP_breg6, 0, DW_CFA_val_expression, 7, 3, DW_OP_breg7, 8, DW_OP_deref),
	       "0:x[2],6e[2],7x[3],16c-8");
	expect_error(BYTES(DW_CFA_def_cfa_expression, 3, DW_OP_breg7, 8), -FMT_E_CORRUPT);
	expect_error(BYTES(DW_CFA_def_cfa_expression, 2, DW_OP_breg7, 8, DW_CFA_def_cfa_offset, 8),
		     -FMT_E_CORRUPT);
}

static void
test_remembered(void **state)
{
	uint8_t many[64];

	expect(BYTES(DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16, DW_CFA_advance_loc | 1,
		     DW_CFA_remember_state, DW_CFA_def_cfa_offset, 8, DW_CFA_advance_loc | 1,
		     DW_CFA_restore_state),
	       "0:=7+8,16c-8 1:=7+16,16c-8 2:=7+8,16c-8 3:=7+16,16c-8");
	expect_error(BYTES(DW_CFA_restore_state), -FMT_E_CORRUPT);
	memset(many, DW_CFA_remember_state, sizeof(many));
	expect_error(many, sizeof(many), -FMT_E_TOO_BIG);
}

static void
test_damage(void **state)
{
	size_t first;

	expect_error(BYTES(DW_CFA_def_cfa, 7), -FMT_E_CORRUPT);
	expect_error(BYTES(DW_CFA_offset | 6), -FMT_E_CORRUPT);
	expect_error(BYTES(DW_CFA_offset | 6, 0x80, 0x80), -FMT_E_CORRUPT);
	expect_error(BYTES(DW_CFA_advance_loc4, 1, 2, 3), -FMT_E_CORRUPT);
	expect_error(BYTES(DW_CFA_def_cfa, 40, 8), -FMT_E_UNSUPPORTED);
	expect_error(BYTES(DW_CFA_def_cfa_offset, 0xff, 0xff, 0xff, 0xff, 0x7f), -FMT_E_CORRUPT);
	expect_error(BYTES(DW_CFA_MIPS_advance_loc8, 0, 0, 0, 0, 0, 0, 0, 0), -FMT_E_UNSUPPORTED);
	expect_error(BYTES(0x3f), -FMT_E_UNSUPPORTED);
	/* A CIE has no code to advance in. */
	assert_int_equal(compile_as(EM_X86_64, BYTES(DW_CFA_advance_loc | 1), BYTES(DW_CFA_nop),
				    &first),
			 -FMT_E_CORRUPT);
}

static void
test_aarch64(void **state)
{
	static const uint8_t cie[] = { DW_CFA_def_cfa, 31, 0 };
	size_t first;

	/* paciasp; stp x29, x30, [sp, -32]!; mov x29, sp; signed or not is nobody's concern */
	assert_int_equal(compile_as(EM_AARCH64, cie, sizeof(cie),
				    BYTES(DW_CFA_advance_loc | 4, DW_CFA_AARCH64_negate_ra_state,
					  DW_CFA_advance_loc | 4, DW_CFA_def_cfa_offset, 32,
					  DW_CFA_offset | 29, 4, DW_CFA_offset | 30, 3,
					  DW_CFA_advance_loc | 4, DW_CFA_def_cfa_register, 29),
				    &first),
			 0);
	assert_string_equal(rows_text(first),
			    "0:=31+0 8:=31+32,29c-32,30c-24 12:=29+32,29c-32,30c-24");
	/* There it is SPARC's register window. */
	expect_error(BYTES(DW_CFA_GNU_window_save), -FMT_E_UNSUPPORTED);
}

/* --- entries --- */

static size_t
put_cie(struct section *s, uint8_t version, const char *letters, const uint8_t *data, size_t n)
{
	size_t at = begin(s);

	put_number(s, 0, 4);
	put_number(s, version, 1);
	put(s, letters, strlen(letters) + 1);
	if (version == 4)
		put(s, BYTES(8, 0));
	put(s, BYTES(1, 0x78, 16));
	if (letters[0] == 'z')
		put_number(s, n, 1);
	put(s, data, n);
	put(s, x86_cie, sizeof(x86_cie));
	end(s, at);
	return at;
}

static void
put_fde(struct section *s, size_t cie, const uint8_t *addresses, size_t n, bool sized)
{
	size_t at = begin(s);

	put_number(s, s->len - cie, 4);
	put(s, addresses, n);
	if (sized)
		put_number(s, 0, 1);
	put(s, BYTES(DW_CFA_nop, DW_CFA_nop));
	end(s, at);
}

/* The first FDE of a section. */
static bool
first_fde(const struct cfi_section *s, struct cfi_cie *cie, struct cfi_fde *fde)
{
	struct cfi_entry e;
	size_t offset = 0;

	while (cfi_entry_next(s, &offset, &e) > 0)
		if (!e.is_cie)
			return cfi_entry_cie(s, e.cie, cie) && cfi_entry_fde(s, &e, cie, fde);
	return false;
}

static void
expect_code(uint8_t encoding, const uint8_t *addresses, size_t n, uint64_t start, uint64_t length)
{
	struct section s = { 0 };
	struct cfi_section w;
	struct cfi_cie cie;
	struct cfi_fde fde;

	put_cie(&s, 1, "zR", &encoding, 1);
	put_fde(&s, 0, addresses, n, true);
	w = whole(&s, true);
	assert_true(first_fde(&w, &cie, &fde));
	assert_int_equal(fde.length, length);
	if (encoding & 0x10) {
		size_t at = 0;
		struct cfi_entry e;

		cfi_entry_next(&w, &at, &e);
		start += VADDR + at + 8;
	}
	assert_int_equal(fde.start, start);
	assert_int_equal(fde.instructions.len, 2);
}

static void
test_encodings(void **state)
{
	expect_code(0x00, BYTES(1, 2, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0), 0x201, 9);
	expect_code(0x04, BYTES(1, 2, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0), 0x201, 9);
	expect_code(0x0c, BYTES(1, 2, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0), 0x201, 9);
	expect_code(0x01, BYTES(0x81, 1, 9), 0x81, 9);
	expect_code(0x02, BYTES(1, 0x80, 9, 0), 0x8001, 9);
	expect_code(0x03, BYTES(1, 2, 0, 0x80, 9, 0, 0, 0), 0x80000201, 9);
	expect_code(0x19, BYTES(0x7f, 9), (uint64_t)-1, 9);
	expect_code(0x1a, BYTES(0xfe, 0xff, 9, 0), (uint64_t)-2, 9);
	expect_code(0x1b, BYTES(0xfc, 0xff, 0xff, 0xff, 9, 0, 0, 0), (uint64_t)-4, 9);
}

/* Addresses of 32-bit code have 4 bytes, whether the encoding is given or left out. */
static void
test_narrow(void **state)
{
	static const uint8_t absolute = 0, addresses[] = { 1, 2, 0, 0x80, 9, 0, 0, 0 };

	for (int given = 0; given < 2; given++) {
		struct section s = { 0 };
		struct cfi_section w;
		struct cfi_cie cie;
		struct cfi_fde fde;

		put_cie(&s, 1, given ? "zR" : "z", &absolute, given ? 1 : 0);
		put_fde(&s, 0, addresses, sizeof(addresses), true);
		w = whole(&s, true);
		w.narrow = true;
		assert_true(first_fde(&w, &cie, &fde));
		assert_int_equal(fde.start, 0x80000201);
		assert_int_equal(fde.length, 9);
		assert_int_equal(fde.instructions.len, 2);
	}
}

static void
test_refused_encodings(void **state)
{
	static const uint8_t refused[] = { 0x05, 0x0f, 0x20, 0x30, 0x40, 0x50, 0x9b, 0xff };

	for (size_t i = 0; i < sizeof(refused); i++) {
		struct section s = { 0 };
		struct cfi_section w;
		struct cfi_cie cie;
		struct cfi_fde fde;

		put_cie(&s, 1, "zR", &refused[i], 1);
		put_fde(&s, 0, BYTES(0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0), true);
		w = whole(&s, true);
		assert_false(first_fde(&w, &cie, &fde));
	}
}

static void
expect_cie(uint8_t version, const char *letters, const uint8_t *data, size_t n, bool signal_frame)
{
	struct section s = { 0 };
	struct cfi_section w;
	struct cfi_cie cie;

	put_cie(&s, version, letters, data, n);
	w = whole(&s, true);
	assert_true(cfi_entry_cie(&w, 0, &cie));
	assert_int_equal(cie.signal_frame, signal_frame);
	assert_int_equal(cie.data_align, -8);
	assert_int_equal(cie.ra, 16);
	assert_int_equal(cie.sized, letters[0] == 'z');
	assert_memory_equal(cie.instructions.p, x86_cie, sizeof(x86_cie));
	assert_int_equal(cie.instructions.len, sizeof(x86_cie));
}

static void
test_cies(void **state)
{
	struct section s = { 0 };
	struct cfi_section w;
	struct cfi_cie cie;

	expect_cie(1, "", NULL, 0, false);
	expect_cie(3, "", NULL, 0, false);
	expect_cie(4, "", NULL, 0, false);
	expect_cie(1, "zPLR", BYTES(0x9b, 1, 2, 3, 4, 0x1b, 0x1b), false);
	expect_cie(1, "zPLR", BYTES(0xff, 0x1b, 0x1b), false);
	expect_cie(1, "zRS", BYTES(0x1b), true);
	expect_cie(1, "zRB", BYTES(0x1b), false);
	expect_cie(1, "S", NULL, 0, true);
	/* A letter that is not known, with a size to pass over it by. */
	expect_cie(1, "zR?", BYTES(0x1b, 1, 2, 3), false);
	put_cie(&s, 1, "eh", NULL, 0);
	w = whole(&s, true);
	assert_false(cfi_entry_cie(&w, 0, &cie));
	s.len = 0;
	put_cie(&s, 2, "", NULL, 0);
	w = whole(&s, true);
	assert_false(cfi_entry_cie(&w, 0, &cie));
	s.len = 0;
	put_cie(&s, 1, "zP", BYTES(0x0b, 1));
	w = whole(&s, true);
	assert_false(cfi_entry_cie(&w, 0, &cie));
}

/* .debug_frame counts CIEs from the section's beginning, and may have lengths of 64 bits. */
static void
test_debug_frame(void **state)
{
	for (int is64 = 0; is64 < 2; is64++) {
		const size_t word = is64 ? 8 : 4;
		struct section s = { 0 };
		struct cfi_section w;
		struct cfi_cie cie;
		struct cfi_fde fde;

		if (is64)
			put_number(&s, UINT32_MAX, 4);
		put_number(&s, word + 5 + sizeof(x86_cie), word);
		put_number(&s, UINT64_MAX, word);
		put(&s, BYTES(3, 0, 1, 0x78, 16));
		put(&s, x86_cie, sizeof(x86_cie));
		if (is64)
			put_number(&s, UINT32_MAX, 4);
		put_number(&s, word + 16, word);
		put_number(&s, 0, word);
		put_number(&s, 0x1234, 8);
		put_number(&s, 0x56, 8);
		w = whole(&s, false);
		assert_true(first_fde(&w, &cie, &fde));
		assert_int_equal(fde.start, 0x1234);
		assert_int_equal(fde.length, 0x56);
	}
}

/* Cut anywhere, a section is read up to there; no byte behind it is looked at. */
static void
test_cuts(void **state)
{
	struct section s = { 0 };

	put_cie(&s, 1, "zR", BYTES(0x1b));
	put_number(&s, 0, 4); /* a terminator in the middle */
	put_fde(&s, 0, BYTES(0, 0, 0, 0, 9, 0, 0, 0), true);
	for (size_t len = 0; len <= s.len; len++) {
		uint8_t *copy = malloc(len ? len : 1);
		struct cfi_section w = { .bytes = span_of(copy, len),
					 .vaddr = VADDR,
					 .is_eh = true };
		struct cfi_cie cie;
		struct cfi_fde fde;

		assert_non_null(copy);
		memcpy(copy, s.bytes, len);
		assert_int_equal(first_fde(&w, &cie, &fde), len == s.len);
		w.open = true;
		assert_false(first_fde(&w, &cie, &fde));
		free(copy);
	}
}

/* What a file may take is bounded by its size. */
static void
test_bounds(void **state)
{
	struct cfi_rows whole = rows;
	uint8_t many[512];

	for (size_t i = 0; i < sizeof(many); i += 4)
		memcpy(many + i,
		       (uint8_t[]){ DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset,
				    (uint8_t)(i & 127), 0 },
		       4);
	cfi_rows_init(&rows, 0);
	rows.rows_max = 20;
	expect_error(many, sizeof(many), -FMT_E_TOO_BIG);
	cfi_rows_done(&rows);
	cfi_rows_init(&rows, 0);
	rows.words_max = 20;
	expect_error(many, sizeof(many), -FMT_E_TOO_BIG);
	cfi_rows_done(&rows);
	rows = whole;
}

/* It is read as often as FDEs ask for it. */
static void
test_long_cies(void **state)
{
	char letters[4000] = "z";
	struct section s = { 0 };
	struct cfi_section w;
	struct cfi_cie cie;

	memset(letters + 1, 'B', 100);
	put_cie(&s, 1, letters, NULL, 0);
	w = whole(&s, true);
	assert_true(cfi_entry_cie(&w, 0, &cie));
	s.len = 0;
	memset(letters + 1, 'B', sizeof(letters) - 2);
	put_cie(&s, 1, letters, NULL, 0);
	w = whole(&s, true);
	assert_false(cfi_entry_cie(&w, 0, &cie));
}

static int
begin_rows(void **state)
{
	cfi_rows_init(&rows, 1 << 20);
	return 0;
}

static int
forget_rows(void **state)
{
	cfi_rows_done(&rows);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_prologue),   cmocka_unit_test(test_advance),
		cmocka_unit_test(test_places),	   cmocka_unit_test(test_expressions),
		cmocka_unit_test(test_remembered), cmocka_unit_test(test_damage),
		cmocka_unit_test(test_aarch64),	   cmocka_unit_test(test_encodings),
		cmocka_unit_test(test_narrow),	   cmocka_unit_test(test_refused_encodings),
		cmocka_unit_test(test_cies),	   cmocka_unit_test(test_debug_frame),
		cmocka_unit_test(test_cuts),	   cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_long_cies),
	};

	return cmocka_run_group_tests(tests, begin_rows, forget_rows);
}
