/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a signal handler returns to: the registers that a kernel saved, by its own structures; and where code of no call
 * frame information is found by its bytes.
 */
#include "symbolizer/unwind/signal_frame.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include <bsd/sys/endian.h>
#include <cmocka.h>
#include <elf.h>

#include "symbolizer/unwind/cfi.h"
#include "tests/lab/frame_image.h"

#define SP UINT64_C(0x7ffd0000)

static uint8_t bytes[1024];

static struct stack_copy
stack_of(bool narrow)
{
	return (struct stack_copy){ .bytes = span_of(bytes, sizeof(bytes)),
				    .base = SP,
				    .narrow = narrow };
}

/* Each word of the stack is its offset. */
static void
number_words(size_t word)
{
	for (size_t i = 0; i < sizeof(bytes); i += word)
		if (word == 8)
			le64enc(bytes + i, i);
		else
			le32enc(bytes + i, (uint32_t)i);
}

static void
test_narrow(void **state)
{
	/* As sigframe.h has it on the stack, behind the return address; and struct sigcontext_32. */
	static const uint8_t order[] = {
		44, 40, 36, 32, 28, 24, 20, 16
	}; /* ax, cx, dx, bx, sp, bp, si, di */
	struct stack_copy s = stack_of(true);
	struct cfi_registers r;
	uint64_t ip;

	number_words(4);
	for (size_t i = 0; i < 2; i++) {
		const struct signal_code *code = signal_code_at(EM_386, i);
		const bool rt = code->bytes[0] == 0xb8;
		/* sig, &info, &uc, info, uc: flags, link, stack of 12; or sig. */
		const uint64_t context = rt ? 12 + 128 + 4 + 4 + 12 : 4;

		for (uint64_t offset = 0; offset < code->len; offset++) {
			const bool popped = !rt && offset > 0;

			assert_true(signal_frame_registers(code, offset, SP + (popped ? 4 : 0), &s,
							   &r, &ip));
			assert_int_equal(ip, context + 56);
			for (size_t k = 0; k < sizeof(order); k++)
				assert_int_equal(r.value[k], context + order[k]);
			assert_int_equal(r.known, 0xff);
		}
	}
	assert_null(signal_code_at(EM_386, 2));
}

static void
test_aarch64(void **state)
{
	const struct signal_code *code = signal_code_at(EM_AARCH64, 0);
	/* struct rt_sigframe: siginfo, ucontext: two words, stack of 24, 128 bytes of masks, padding to 16; fault_address. */
	const uint64_t context = 128 + (8 + 8 + 24 + 128 + 8) + 8;
	struct stack_copy s = stack_of(false);
	struct cfi_registers r;
	uint64_t ip;

	number_words(8);
	assert_true(signal_frame_registers(code, 0, SP, &s, &r, &ip));
	for (size_t i = 0; i < 32; i++)
		assert_int_equal(r.value[i], context + 8 * i);
	assert_int_equal(ip, context + 8 * 32);
	s.bytes.len = context + 8 * 32;
	assert_false(signal_frame_registers(code, 0, SP, &s, &r, &ip));
	assert_null(signal_code_at(EM_AARCH64, 1));
	assert_null(signal_code_at(EM_RISCV, 0));
}

#ifdef __x86_64__
static void
test_x86_64(void **state)
{
	static const int order[] = { REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
				     REG_RBP, REG_RSP, REG_R8,	REG_R9,	 REG_R10, REG_R11,
				     REG_R12, REG_R13, REG_R14, REG_R15 };
	const struct signal_code *code = signal_code_at(EM_X86_64, 0);
	struct stack_copy s = stack_of(false);
	struct cfi_registers r;
	uint64_t ip;

	number_words(8);
	assert_true(signal_frame_registers(code, 7, SP, &s, &r, &ip));
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		assert_int_equal(r.value[i],
				 offsetof(ucontext_t, uc_mcontext.gregs) + 8 * (size_t)order[i]);
	assert_int_equal(ip, offsetof(ucontext_t, uc_mcontext.gregs) + 8 * REG_RIP);
}
#endif

static const struct signal_code *
signal_code_of(struct cfi *cfi, uint64_t vaddr, bool is_return, uint64_t *ret_offset)
{
	const struct signal_code *code;

	assert_int_equal(cfi_signal_code(cfi, vaddr, is_return, &code, ret_offset), 0);
	return code;
}

/*
 * In a file of code that has no call frame information, also over the end of what is looked at at once. opened: which
 * stays open, by a table whose one entry leads nowhere.
 */
static void
find_all(bool opened)
{
	static const int32_t nowhere[1][2] = { { (int32_t)FRAME_IMAGE_CODE + (1 << 19), 0x7fff } };
	static const uint64_t at[] = {
		0, 100, (64 << 10) - 4, (1 << 20) - 4, (1 << 20) + 8, (3 << 20) - 9
	};
	static const uint16_t machines[] = { EM_X86_64, EM_AARCH64 };
	const size_t size = 3 << 20;
	uint8_t *image = calloc(1, FRAME_IMAGE_HEAD + size + frame_image_table_bytes(1));

	for (size_t m = 0; m < 2; m++) {
		const struct signal_code *code = signal_code_at(machines[m], 0);
		struct elf_object *o;
		struct cfi *cfi;
		uint64_t offset;
		size_t all;
		Elf64_Phdr p;

		memset(image, 0, FRAME_IMAGE_HEAD + size);
		all = FRAME_IMAGE_HEAD + size;
		frame_image(image, machines[m], NULL, 0);
		memcpy(&p, image + sizeof(Elf64_Ehdr) + sizeof(p), sizeof(p));
		p.p_offset = FRAME_IMAGE_HEAD;
		p.p_filesz = p.p_memsz = size;
		memcpy(image + sizeof(Elf64_Ehdr) + sizeof(p), &p, sizeof(p));
		for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++)
			memcpy(image + FRAME_IMAGE_HEAD + at[i], code->bytes, code->len);
		if (opened)
			all = frame_image_table(image, all, nowhere, 1);
		assert_int_equal(elf_object_open_memory(image, all, &o), 0);
		assert_int_equal(
			opened ? cfi_open(o, SIZE_MAX, NULL, &cfi) : cfi_new(o, NULL, &cfi), 0);
		elf_object_close(o);
		for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
			const uint64_t start = FRAME_IMAGE_CODE + at[i];

			/* A return to its first byte: what is looked up is the byte before. */
			assert_ptr_equal(signal_code_of(cfi, start - 1, true, &offset), code);
			assert_int_equal(offset, 0);
			assert_ptr_equal(signal_code_of(cfi, start + 5, false, &offset), code);
			assert_int_equal(offset, 5);
			assert_null(signal_code_of(cfi, start + 4, true, &offset));
			assert_null(signal_code_of(cfi, start + code->len, false, &offset));
		}
		cfi_free(cfi);
	}
	free(image);
}

static void
test_found(void **state)
{
	find_all(false);
	find_all(true);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#ifdef __x86_64__
		cmocka_unit_test(test_x86_64),
#endif
		cmocka_unit_test(test_narrow),
		cmocka_unit_test(test_aarch64),
		cmocka_unit_test(test_found),
	};

	return cmocka_run_group_tests_name("signal_frame", tests, NULL, NULL);
}
