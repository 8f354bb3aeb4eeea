/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Walks over stacks made by hand: each rule, each way without one, and each reason to stop. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dwarf.h>
#include <linux/perf_event.h>

#include "format/bytes/fmt_error.h"
#include "symbolizer/unwind/unwind.h"
#include "tests/lab/frame_image.h"

#define BASE UINT64_C(0x7ffd00000000)
#define LOADED UINT64_C(0x555500000000) /* where the code is, in the process */
#define AT(n) (LOADED + (n))
#define JIT UINT64_C(0x666600000000) /* code without a file */
#define VSYSCALL UINT64_C(0xffffffffff600000)
#define FUNCTION_BYTES 0x100 /* function i is at i times this */
#define BYTES(...) ((const uint8_t[]){ __VA_ARGS__ }), sizeof((const uint8_t[]){ __VA_ARGS__ })

static struct {
	uint8_t bytes[4096];
	size_t len;
	size_t cie;
} frames;
static struct cfi *cfi;
static struct unwinder *unwinder;
static uint64_t stack[512];
static struct unwind_sample sample;
static const struct unwind_frame *walked;
static size_t nr_walked;

/* --- a file --- */

static void
put(const void *bytes, size_t n)
{
	assert_true(frames.len + n <= sizeof(frames.bytes));
	memcpy(frames.bytes + frames.len, bytes, n);
	frames.len += n;
}

static void
entry(uint32_t id, const void *head, size_t nr_head, const uint8_t *instructions, size_t n)
{
	const uint32_t len = (uint32_t)(4 + nr_head + n);

	put(&len, 4);
	put(&id, 4);
	put(head, nr_head);
	put(instructions, n);
}

/* A CIE for the functions that follow; x86-64: CFA = rsp + 8, aarch64: CFA = sp. */
static void
cie(uint16_t machine, bool signal_frame)
{
	static const uint8_t x86[] = { DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1 };
	static const uint8_t arm[] = { DW_CFA_def_cfa, 31, 0 };
	uint8_t head[] = { 1, 'S', 0, 1, 0x78, machine == EM_X86_64 ? 16 : 30 };

	frames.cie = frames.len;
	if (!signal_frame)
		memmove(head + 1, head + 2, sizeof(head) - 2);
	if (machine == EM_X86_64)
		entry(0, head, sizeof(head) - !signal_frame, x86, sizeof(x86));
	else
		entry(0, head, sizeof(head) - !signal_frame, arm, sizeof(arm));
}

static void
function(uint64_t number, const uint8_t *instructions, size_t n)
{
	const uint64_t code[2] = { FRAME_IMAGE_CODE + number * FUNCTION_BYTES, FUNCTION_BYTES };

	entry((uint32_t)(frames.len + 4 - frames.cie), code, sizeof(code), instructions, n);
}

static void
load(uint16_t machine)
{
	uint8_t image[FRAME_IMAGE_HEAD + sizeof(frames.bytes)];
	struct elf_object *o;
	uint32_t end = 0;

	/* It knows rules by their cfi. */
	unwinder_free(unwinder);
	unwinder = unwinder_new();
	assert_non_null(unwinder);
	put(&end, 4);
	assert_int_equal(elf_object_open_memory(
				 image, frame_image(image, machine, frames.bytes, frames.len), &o),
			 0);
	assert_int_equal(cfi_new(o, NULL, &cfi), 0);
	elf_object_close(o);
	assert_int_equal(cfi_arch(cfi)->machine, machine);
	sample = (struct unwind_sample){ .arch = cfi_arch(cfi) };
}

static int
begin(void **state)
{
	memset(&frames, 0, sizeof(frames));
	memset(stack, 0, sizeof(stack));
	return 0;
}

static int
end(void **state)
{
	cfi_free(cfi);
	cfi = NULL;
	unwinder_free(unwinder);
	unwinder = NULL;
	return 0;
}

/* --- a sample --- */

static bool
find(void *arg, uint64_t ip, struct unwind_code *ret)
{
	if (ip == VSYSCALL) {
		*ret = (struct unwind_code){ .vaddr = ip, .frameless = true };
		return true;
	}
	*ret = (struct unwind_code){ .cfi = cfi, .vaddr = ip - LOADED + FRAME_IMAGE_CODE };
	if (ip - JIT < 0x1000) {
		ret->cfi = NULL;
		return true;
	}
	return ip - LOADED < FRAME_IMAGE_CODE_BYTES;
}

static void
set(unsigned number, uint64_t value)
{
	cfi_register_set(&sample.registers, number, value);
}

static int
walk(uint64_t ip, size_t words)
{
	int stop;

	sample.ip = ip;
	set(sample.arch->sp, BASE);
	sample.stack = (struct stack_copy){ .bytes = span_of(stack, words * 8), .base = BASE };
	stop = unwind(unwinder, &sample, find, NULL, &walked, &nr_walked);
	assert_true(nr_walked >= 1 && walked[0].ip == ip && !walked[0].is_return);
	return stop;
}

static void
expect(size_t nr, const uint64_t *ips)
{
	assert_int_equal(nr_walked, nr);
	for (size_t i = 0; i < nr; i++)
		if (walked[i].ip != ips[i])
			fail_msg("frame %zu is %#llx and not %#llx", i,
				 (unsigned long long)walked[i].ip, (unsigned long long)ips[i]);
}
#define EXPECT(...)                                                                                \
	expect(sizeof((uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t), (uint64_t[]){ __VA_ARGS__ })

/* --- x86-64 --- */

/* 0: nothing on the stack; 1: 16 bytes of locals; 2: by rbp; 3: outermost; 4: of no file. */
static void
ordinary(void)
{
	cie(EM_X86_64, false);
	function(0, BYTES(DW_CFA_nop));
	function(1, BYTES(DW_CFA_def_cfa_offset, 24));
	function(2, BYTES(DW_CFA_def_cfa, 6, 16, DW_CFA_offset | 6, 2));
	function(3, BYTES(DW_CFA_undefined, 16));
	load(EM_X86_64);
}

static void
test_rules(void **state)
{
	ordinary();
	stack[0] = AT(0x110);	  /* from 0 into 1 */
	stack[3] = AT(0x210);	  /* from 1 into 2, whose frame is at 8 */
	stack[8] = BASE + 14 * 8; /* rbp of its caller, which is 2 again */
	stack[9] = AT(0x220);
	stack[14] = 0x1234;
	stack[15] = AT(0x310);
	set(6, BASE + 8 * 8);
	assert_int_equal(walk(AT(0x10), 16), UNWIND_END);
	EXPECT(AT(0x10), AT(0x110), AT(0x210), AT(0x220), AT(0x310));
	assert_true(walked[1].is_return && walked[4].is_return);
	/* A return address of 0 is the end as well. */
	stack[15] = 0;
	assert_int_equal(walk(AT(0x10), 16), UNWIND_END);
	EXPECT(AT(0x10), AT(0x110), AT(0x210), AT(0x220));
}

/* The caller is on top of the stack. The frame pointer is the caller's, and leads to the one after. */
static void
test_frameless(void **state)
{
	ordinary();
	stack[0] = AT(0x110);
	stack[3] = AT(0x310);
	stack[4] = 0;
	stack[5] = AT(0x320);
	set(6, BASE + 4 * 8);
	assert_int_equal(walk(VSYSCALL, 8), UNWIND_END);
	EXPECT(VSYSCALL, AT(0x110), AT(0x310));
}

/* A call as the last instruction of a function returns to where the next one begins. */
static void
test_call_at_end(void **state)
{
	ordinary();
	stack[0] = AT(0x200); /* of function 1 still */
	stack[3] = AT(0x310);
	assert_int_equal(walk(AT(0x10), 8), UNWIND_END);
	EXPECT(AT(0x10), AT(0x200), AT(0x310));
}

static void
test_cut(void **state)
{
	ordinary();
	stack[0] = AT(0x110);
	stack[3] = AT(0x210);
	set(6, BASE + 8 * 8);
	assert_int_equal(walk(AT(0x10), 3), UNWIND_CUT);
	EXPECT(AT(0x10), AT(0x110));
	assert_int_equal(walk(AT(0x10), 9), UNWIND_CUT);
	EXPECT(AT(0x10), AT(0x110), AT(0x210));
	assert_int_equal(walk(AT(0x10), 0), UNWIND_CUT);
	EXPECT(AT(0x10));
	/* More was asked for than the kernel copied: to ask for more does not help. */
	sample.is_short = true;
	assert_int_equal(walk(AT(0x10), 9), UNWIND_SHORT);
	sample.is_short = false;
}

static void
test_no_map(void **state)
{
	ordinary();
	stack[0] = 0x1234;
	assert_int_equal(walk(AT(0x10), 8), UNWIND_NO_MAP);
	EXPECT(AT(0x10));
	assert_int_equal(walk(0x99, 8), UNWIND_NO_MAP);
	EXPECT(0x99);
}

/* The stack pointer does not go down, nor stay where it is but for a leaf. */
static void
test_bad(void **state)
{
	ordinary();
	stack[0] = AT(0x210);
	set(6, BASE - 64);
	assert_int_equal(walk(AT(0x10), 8), UNWIND_BAD_CFI);
	EXPECT(AT(0x10), AT(0x210));
}

static void
test_damaged(void **state)
{
	cie(EM_X86_64, false);
	function(0, BYTES(DW_CFA_restore_state));
	function(3, BYTES(DW_CFA_undefined, 16));
	load(EM_X86_64);
	/* As code without rules: just called. */
	stack[0] = AT(0x310);
	assert_int_equal(walk(AT(0x10), 8), UNWIND_END);
	EXPECT(AT(0x10), AT(0x310));
	stack[0] = 0;
	assert_int_equal(walk(AT(0x10), 8), UNWIND_BAD_CFI);
	EXPECT(AT(0x10));
}

static void
test_frame_pointers(void **state)
{
	ordinary();
	/* JIT code with frame records at 4 and 8, called by 1; its frame pointer is any number. */
	stack[4] = BASE + 8 * 8;
	stack[5] = JIT + 0x20;
	stack[8] = 0x7777;
	stack[9] = AT(0x110);
	stack[12] = AT(0x310);
	set(6, BASE + 4 * 8);
	assert_int_equal(walk(JIT + 0x10, 16), UNWIND_END);
	EXPECT(JIT + 0x10, JIT + 0x20, AT(0x110), AT(0x310));
	/* The last record has a 0 for the next, and leads to the outermost function. */
	stack[8] = 0;
	stack[9] = JIT + 0x30;
	assert_int_equal(walk(JIT + 0x10, 16), UNWIND_END);
	EXPECT(JIT + 0x10, JIT + 0x20, JIT + 0x30);
	/* Records end with zeros, or past what was copied. */
	stack[8] = stack[9] = 0;
	assert_int_equal(walk(JIT + 0x10, 16), UNWIND_END);
	EXPECT(JIT + 0x10, JIT + 0x20);
	assert_int_equal(walk(JIT + 0x10, 8), UNWIND_CUT);
	EXPECT(JIT + 0x10, JIT + 0x20);
	/* Not aligned, and not on the stack: the return address is where the call left it. */
	stack[0] = AT(0x310);
	set(6, BASE + 4 * 8 + 1);
	assert_int_equal(walk(JIT + 0x10, 16), UNWIND_END);
	EXPECT(JIT + 0x10, AT(0x310));
	set(6, BASE + (1 << 24));
	assert_int_equal(walk(JIT + 0x10, 16), UNWIND_END);
	stack[0] = 5;
	assert_int_equal(walk(JIT + 0x10, 16), UNWIND_NO_CFI);
	EXPECT(JIT + 0x10);
}

/* Where a program is started has no caller, even where no rule says so. */
static void
test_entry(void **state)
{
	ordinary();
	stack[0] = AT(0xe20);
	assert_int_equal(walk(AT(0x10), 8), UNWIND_END);
	EXPECT(AT(0x10), AT(0xe20));
	stack[0] = AT(0xe60);
	assert_int_equal(walk(AT(0x10), 8), UNWIND_NO_CFI);
}

/* A handler was called by the trampoline 5, which the kernel put between. */
static void
test_signal(void **state)
{
	ordinary();
	cfi_free(cfi);
	frames.len -= 4;
	cie(EM_X86_64, true);
	/* CFA = *(rsp + 32); rip and rbx beside it. */
	function(5,
		 BYTES(DW_CFA_def_cfa_expression, 3, DW_OP_breg7, 32, DW_OP_deref,
		       DW_CFA_expression, 16, 2, DW_OP_breg7, 40, DW_CFA_expression, 3, 2,
		       DW_OP_breg7, 48));
	load(EM_X86_64);
	stack[0] = AT(0x500); /* from 0 to the trampoline's first byte */
	stack[5] = BASE + 20 * 8;
	stack[6] = AT(0x100); /* interrupted at 1's first byte: not what is before it */
	stack[22] = AT(0x310);
	stack[23] = AT(0x310);
	assert_int_equal(walk(AT(0x10), 32), UNWIND_NO_CFI); /* by 0x4ff */
	EXPECT(AT(0x10), AT(0x500));
	frames.len -= 4;
	function(4,
		 BYTES(DW_CFA_def_cfa_expression, 3, DW_OP_breg7, 32, DW_OP_deref,
		       DW_CFA_expression, 16, 2, DW_OP_breg7, 40));
	cfi_free(cfi);
	load(EM_X86_64);
	stack[0] = AT(0x410);
	assert_int_equal(walk(AT(0x10), 32), UNWIND_END);
	EXPECT(AT(0x10), AT(0x410), AT(0x100), AT(0x310));
	assert_true(walked[1].is_return && !walked[2].is_return && walked[3].is_return);
	/* Interrupted on another stack, which was not copied. */
	stack[5] = BASE - 4096;
	assert_int_equal(walk(AT(0x10), 32), UNWIND_CUT);
	EXPECT(AT(0x10), AT(0x410), AT(0x100));
}

/* Pushed by assembler whose rule knows nothing of it; what is no address of code stays what the rule finds. */
static void
test_pushed(void **state)
{
	ordinary();
	stack[0] = 12345;
	stack[1] = AT(0x310);
	assert_int_equal(walk(AT(0x10), 8), UNWIND_END);
	EXPECT(AT(0x10), AT(0x310));
	stack[0] = 0;
	assert_int_equal(walk(AT(0x10), 8), UNWIND_END);
	EXPECT(AT(0x10), AT(0x310));
	stack[0] = 12345;
	stack[1] = 6789;
	assert_int_equal(walk(AT(0x10), 8), UNWIND_NO_MAP);
	EXPECT(AT(0x10));
}

/* PLT: CFA = rsp + 8 + (rip & 15 >= 11 ? 8 : 0). */
static void
test_plt(void **state)
{
	cie(EM_X86_64, false);
	function(0,
		 BYTES(DW_CFA_def_cfa_expression, 11, DW_OP_breg7, 8, DW_OP_breg16, 0, DW_OP_lit15,
		       DW_OP_and, DW_OP_lit11, DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus));
	function(3, BYTES(DW_CFA_undefined, 16));
	load(EM_X86_64);
	stack[0] = AT(0x310);
	assert_int_equal(walk(AT(0x16), 8), UNWIND_END);
	EXPECT(AT(0x16), AT(0x310));
	stack[0] = 7;
	stack[1] = AT(0x320);
	assert_int_equal(walk(AT(0x1b), 8), UNWIND_END);
	EXPECT(AT(0x1b), AT(0x320));
}

/* Expressions that never end, and those that many frames have, take what one walk may and no more. */
static void
test_steps(void **state)
{
	uint8_t slow[5 + 200];

	cie(EM_X86_64, false);
	function(0, BYTES(DW_CFA_def_cfa_expression, 3, DW_OP_skip, 0xfd, 0xff));
	/* CFA = rsp + 8, after 200 steps that do nothing. */
	memset(slow, DW_OP_nop, sizeof(slow));
	memcpy(slow, (uint8_t[]){ DW_CFA_def_cfa_expression, 0x80 | 202 % 128, 1, DW_OP_breg7, 8 },
	       5);
	function(1, slow, sizeof(slow));
	load(EM_X86_64);
	assert_int_equal(walk(AT(0x10), 8), UNWIND_BAD_CFI);
	EXPECT(AT(0x10));
	for (size_t i = 0; i < 512; i++)
		stack[i] = AT(0x110);
	assert_int_equal(walk(AT(0x110), 512), UNWIND_BAD_CFI);
	assert_true(nr_walked > 100 && nr_walked < 200);
}

/* A popped register has its value again, though its rule still points below the stack pointer. */
static void
test_popped(void **state)
{
	cie(EM_X86_64, false);
	function(0, BYTES(DW_CFA_offset | 6, 2));
	function(2, BYTES(DW_CFA_def_cfa, 6, 16, DW_CFA_offset | 6, 2));
	function(3, BYTES(DW_CFA_undefined, 16));
	load(EM_X86_64);
	stack[0] = AT(0x210);
	stack[5] = AT(0x310);
	set(6, BASE + 4 * 8);
	assert_int_equal(walk(AT(0x10), 8), UNWIND_END);
	EXPECT(AT(0x10), AT(0x210), AT(0x310));
}

static void
test_limit(void **state)
{
	ordinary();
	for (size_t i = 0; i < 512; i++)
		stack[i] = AT(0x10);
	assert_int_equal(walk(AT(0x10), 512), UNWIND_CUT);
	assert_int_equal(nr_walked, 513);
}

static void
test_too_many(void **state)
{
	const size_t words = UNWIND_FRAMES_MAX + 10;
	uint64_t *many = calloc(words, 8);

	ordinary();
	for (size_t i = 0; i < words; i++)
		many[i] = AT(0x10);
	set(7, BASE);
	sample.ip = AT(0x10);
	sample.stack = (struct stack_copy){ .bytes = span_of(many, words * 8), .base = BASE };
	assert_int_equal(unwind(unwinder, &sample, find, NULL, &walked, &nr_walked), UNWIND_LIMIT);
	assert_int_equal(nr_walked, UNWIND_FRAMES_MAX);
	free(many);
}

/* --- aarch64 --- */

static void
arm(void)
{
	cie(EM_AARCH64, false);
	function(0, BYTES(DW_CFA_nop)); /* a leaf */
	function(1, BYTES(DW_CFA_def_cfa_offset, 32, DW_CFA_offset | 29, 4, DW_CFA_offset | 30, 3));
	function(2,
		 BYTES(DW_CFA_AARCH64_negate_ra_state, DW_CFA_def_cfa, 29, 16, DW_CFA_offset | 29,
		       2, DW_CFA_offset | 30, 1));
	function(3, BYTES(DW_CFA_undefined, 30));
	load(EM_AARCH64);
}

static void
test_aarch64(void **state)
{
	const uint64_t signature = UINT64_C(0x12ab) << 48;

	arm();
	/* The leaf has its return address in x30; 1 its caller's x29 at 0; 2's frame record is at 8. */
	set(30, AT(0x110));
	stack[0] = BASE + 8 * 8;
	stack[1] = AT(0x210);
	stack[8] = 0;
	stack[9] = AT(0x310) | signature;
	assert_int_equal(walk(AT(0x10), 16), UNWIND_END);
	EXPECT(AT(0x10), AT(0x110), AT(0x210), AT(0x310));
	/* Of a caller x30 is not known: 0 is no leaf there. */
	stack[0] = 3;
	stack[1] = AT(0x20);
	assert_int_equal(walk(AT(0x10), 16), UNWIND_BAD_CFI);
	EXPECT(AT(0x10), AT(0x110), AT(0x20));
}

static void
test_aarch64_holes(void **state)
{
	arm();
	set(29, BASE + 4 * 8);
	set(30, AT(0x310));
	stack[4] = BASE + 8 * 8;
	stack[5] = JIT + 0x20;
	stack[8] = 0;
	stack[9] = 0;
	assert_int_equal(walk(JIT + 0x10, 16), UNWIND_END);
	EXPECT(JIT + 0x10, JIT + 0x20);
	set(29, 3);
	assert_int_equal(walk(JIT + 0x10, 16), UNWIND_END);
	EXPECT(JIT + 0x10, AT(0x310));
}

/* --- what perf records --- */

static void
test_sample(void **state)
{
	/* Of perf's order ax bx cx dx si di bp sp ip flags: all but cx, then r8. */
	const uint64_t words[] = { 100, 101, 103, 104, 105, 106, 107, 108, 116 };
	struct perf_sample s = {
		.regs_user = { .abi = PERF_SAMPLE_REGS_ABI_64,
			       .mask = 0x1fb | 1 << 16,
			       .words = span_of(words, sizeof(words)) },
		.stack_user = span_of(stack, 64),
		.stack_user_dyn_size = 40,
	};
	struct unwind_sample u;

	assert_true(unwind_sample_of(cfi_arch_of_name("x86_64"), &s, &u));
	assert_int_equal(u.ip, 108);
	assert_int_equal(u.stack.base, 107);
	assert_int_equal(u.stack.bytes.len, 40);
	assert_true(u.is_short);
	assert_int_equal(u.registers.known, 1 | 1 << 1 | 1 << 3 | 0xf << 4 | 1 << 8);
	assert_int_equal(u.registers.value[1], 103); /* rdx */
	assert_int_equal(u.registers.value[3], 101); /* rbx */
	assert_int_equal(u.registers.value[8], 116);
	s.regs_user.abi = PERF_SAMPLE_REGS_ABI_32;
	assert_false(unwind_sample_of(cfi_arch_of_name("x86_64"), &s, &u));
	s.regs_user.abi = PERF_SAMPLE_REGS_ABI_64;
	s.regs_user.mask = 0x7f;
	assert_false(unwind_sample_of(cfi_arch_of_name("x86_64"), &s, &u));
}

static void
test_narrow_sample(void **state)
{
	/* ax bx cx dx si di bp sp ip. */
	const uint64_t words[] = { 100, 101, 102, 103, 104, 105, 106, 107, 108 };
	const struct perf_sample s = {
		.regs_user = { .abi = PERF_SAMPLE_REGS_ABI_32,
			       .mask = 0x1ff,
			       .words = span_of(words, sizeof(words)) },
		.stack_user = span_of(stack, 64),
		.stack_user_dyn_size = 12,
	};
	const struct cfi_arch *arch = cfi_arch_narrow(cfi_arch_of_name("x86_64"));
	struct unwind_sample u;
	uint64_t word;

	memcpy(stack, (const uint32_t[]){ 1, 2, 3, 4 }, 16);
	assert_true(unwind_sample_of(arch, &s, &u));
	assert_ptr_equal(cfi_arch_narrow(arch), arch);
	assert_null(cfi_arch_narrow(cfi_arch_of_name("aarch64")));
	assert_int_equal(u.ip, 108);
	assert_int_equal(u.registers.known, 0xff);
	assert_int_equal(u.registers.value[1], 102); /* ecx */
	assert_int_equal(u.registers.value[4], 107); /* esp */
	assert_int_equal(u.registers.value[5], 106); /* ebp */
	assert_true(stack_copy_word(&u.stack, 107 + 8, &word));
	assert_int_equal(word, 3);
	assert_false(stack_copy_word(&u.stack, 107 + 9, &word));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_rules),     TEST(test_call_at_end),	 TEST(test_cut),
		TEST(test_frameless), TEST(test_no_map),	 TEST(test_bad),
		TEST(test_damaged),   TEST(test_signal),	 TEST(test_pushed),
		TEST(test_plt),	      TEST(test_frame_pointers), TEST(test_entry),
		TEST(test_popped),    TEST(test_steps),		 TEST(test_limit),
		TEST(test_too_many),  TEST(test_aarch64),	 TEST(test_aarch64_holes),
		TEST(test_sample),    TEST(test_narrow_sample),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
