/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What expressions compute, with words of 8 bytes and of 4. */
#include "symbolizer/unwind/cfi_expression.h"

#include <dwarf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define NONE UINT64_MAX
#define STACK 0x7ff0

/* Of a program over a stack of 0x01, 0x02, ... at 0x7ff0; register 5 is 0x7ff8. NONE: it has no value. */
static uint64_t
value_of(const uint8_t *program, size_t size, bool narrow)
{
	static const uint8_t bytes[16] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 };
	struct stack_copy stack = { .bytes = span_of(bytes, sizeof(bytes)),
				    .base = STACK,
				    .narrow = narrow };
	struct cfi_registers registers = { .known = 0 };
	unsigned steps = 100;
	uint64_t v;

	cfi_register_set(&registers, 5, STACK + 8);
	return cfi_expression_value(span_of(program, size), &registers, &stack, NULL, &steps, &v)
		? v
		: NONE;
}

#define VALUE(narrow, ...)                                                                         \
	value_of((const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }), narrow)

/* An address of the file has as many bytes as the file's addresses; what follows is read after it. */
static void
test_address(void **state)
{
	(void)state;
	assert_int_equal(VALUE(false, DW_OP_addr, 1, 2, 3, 4, 5, 6, 7, 8), 0x0807060504030201);
	assert_int_equal(VALUE(false, DW_OP_addr, 1, 2, 3, 4), NONE);
	assert_int_equal(VALUE(true, DW_OP_addr, 1, 2, 3, 0x84), 0x84030201);
	assert_int_equal(VALUE(true, DW_OP_addr, 1, 2, 3, 4, DW_OP_lit1, DW_OP_plus), 0x04030202);
	assert_int_equal(VALUE(true, DW_OP_addr, 0xf0, 0x7f, 0, 0, DW_OP_deref), 0x04030201);
	assert_int_equal(VALUE(true, DW_OP_addr, 1, 2, 3), NONE);
}

/* Words wrap around where they end; signs are theirs. */
static void
test_words(void **state)
{
	(void)state;
	assert_int_equal(VALUE(false, DW_OP_lit0, DW_OP_lit1, DW_OP_minus), UINT64_MAX);
	assert_int_equal(VALUE(true, DW_OP_lit0, DW_OP_lit1, DW_OP_minus), UINT32_MAX);
	/* The stack at -16 + 0x8000, which 32 bits cannot tell from 0x7ff0. */
	assert_int_equal(VALUE(true, DW_OP_const4u, 0, 0x80, 0, 0, DW_OP_const1s, 0xf0, DW_OP_plus,
			       DW_OP_deref),
			 0x04030201);
	assert_int_equal(VALUE(true, DW_OP_breg5, 4, DW_OP_deref), 0x100f0e0d);
	assert_int_equal(VALUE(false, DW_OP_breg5, 0, DW_OP_deref), 0x100f0e0d0c0b0a09);
	assert_int_equal(VALUE(true, DW_OP_const1s, 0xff, DW_OP_lit0, DW_OP_lt), 1);
	assert_int_equal(VALUE(true, DW_OP_const1s, 0xfe, DW_OP_abs), 2);
	assert_int_equal(VALUE(true, DW_OP_const1s, 0xf8, DW_OP_lit2, DW_OP_div), 0xfffffffc);
	assert_int_equal(VALUE(true, DW_OP_const1s, 0xf8, DW_OP_lit1, DW_OP_shra), 0xfffffffc);
	assert_int_equal(VALUE(true, DW_OP_const1s, 0xf8, DW_OP_lit1, DW_OP_shr), 0x7ffffffc);
	assert_int_equal(VALUE(true, DW_OP_lit1, DW_OP_const1u, 32, DW_OP_shl), 0);
}

/* A step costs what a number may be long, and a loop has many of them. */
static void
test_long_numbers(void **state)
{
	uint8_t program[70];

	(void)state;
	for (size_t n = 1; n < sizeof(program); n++) {
		memset(program, 0x80, n);
		program[0] = DW_OP_constu;
		program[n] = 0;
		assert_int_equal(value_of(program, n + 1, false), n <= 64 ? 0 : NONE);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_address),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_long_numbers),
	};

	return cmocka_run_group_tests_name("cfi_expression", tests, NULL, NULL);
}
