/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Instructions of x86: their lengths against capstone's, of all code of programs that are here; what they do to the
 * stack, of the forms that compilers and assemblers make.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <capstone/capstone.h>

#include "symbolizer/object/elf_bytes.h"
#include "symbolizer/unwind/x86_code.h"
#include "tests/lab/elf_lab.h"

/* Kinds that capstone names. */
static bool
same_flow(const struct x86_code *c, const cs_insn *i)
{
	const bool jump = i->id == X86_INS_JMP;

	switch (c->kind) {
	case X86_RETURN:
		return i->id == X86_INS_RET;
	case X86_CALL:
		return i->id == X86_INS_CALL;
	case X86_JUMP:
	case X86_JUMP_THROUGH:
	case X86_JUMP_AWAY:
		return jump;
	case X86_PUSH:
		return i->id == X86_INS_PUSH || i->id == X86_INS_PUSHFQ || i->id == X86_INS_PUSHFD;
	case X86_POP:
		return i->id == X86_INS_POP || i->id == X86_INS_POPFQ || i->id == X86_INS_POPFD;
	case X86_LEAVE:
		return i->id == X86_INS_LEAVE;
	case X86_HALT:
		return i->id == X86_INS_HLT;
	default:
		return !jump && i->id != X86_INS_RET && i->id != X86_INS_CALL &&
			i->id != X86_INS_PUSH && i->id != X86_INS_POP && i->id != X86_INS_LEAVE;
	}
}

/* What capstone does not know is passed over, byte by byte. */
static void
compare(const char *path, bool narrow)
{
	struct elf_object *o = elf_lab_open(path);
	struct elf_bytes text = { .p = NULL };
	uint64_t nr = 0, wrong = 0;
	csh handle;
	cs_insn *i;

	assert_int_equal(elf_bytes_of_section(o, ".text", &text), 0);
	assert_int_equal(cs_open(CS_ARCH_X86, narrow ? CS_MODE_32 : CS_MODE_64, &handle),
			 CS_ERR_OK);
	i = cs_malloc(handle);
	for (size_t at = 0; at < text.len;) {
		const uint8_t *p = text.p + at;
		size_t left = text.len - at;
		uint64_t address = text.vaddr + at;
		struct x86_code c = { .len = 0 };
		bool good;

		if (!cs_disasm_iter(handle, &p, &left, &address, i)) {
			at++;
			continue;
		}
		good = x86_code_read(span_of(text.p + at, text.len - at), text.vaddr + at, narrow,
				     &c);
		nr++;
		if ((!good || c.len != i->size || !same_flow(&c, i)) && wrong++ < 20)
			fprintf(stderr, "# %s: %" PRIx64 " %s %s: %u bytes, here %u, kind %d\n",
				path, text.vaddr + at, i->mnemonic, i->op_str, i->size, c.len,
				(int)c.kind);
		at += i->size;
	}
	fprintf(stderr, "# %s: %" PRIu64 " instructions, %" PRIu64 " otherwise\n", path, nr, wrong);
	cs_free(i, 1);
	cs_close(&handle);
	free(text.p);
	elf_object_close(o);
	assert_true(nr > 100);
	assert_true(wrong * 10000 <= nr);
}

static void
test_programs(void **state)
{
	compare("/proc/self/exe", false);
}

static void
test_vectors(void **state)
{
	static const char source[] =
		"double f(double *a, const double *b, int n) { double s = 0; for (int i = 0; i < n; i++)"
		" { a[i] = a[i] * b[i] + 3; s += a[i] > b[n - i] ? b[i] : 1 / a[i]; } return s; }\n"
		"int main(void) { double a[64] = { 1 }, b[64] = { 2 }; return (int)f(a, b, 63); }\n";

	compare(lab_build("avx2", source, 0, "-O3 -ffast-math -mavx2 -mfma"), false);
	compare(lab_build("mmx", source, 0, "-O3 -mfpmath=387"), false);
}

static struct x86_code
code_of(const char *bytes, size_t len, bool narrow)
{
	struct x86_code c = { .len = 0 };

	assert_true(x86_code_read(span_of(bytes, len), 0x1000, narrow, &c));
	assert_int_equal(c.len, len);
	return c;
}
#define CODE(bytes) code_of(bytes, sizeof(bytes) - 1, false)
#define NARROW(bytes) code_of(bytes, sizeof(bytes) - 1, true)

static void
expect(struct x86_code c, enum x86_kind kind, unsigned reg, unsigned base, int64_t value)
{
	assert_int_equal(c.kind, kind);
	assert_int_equal(c.reg, reg);
	assert_int_equal(c.base, base);
	assert_int_equal(c.value, value);
}

static void
test_stack(void **state)
{
	expect(CODE("\x48\x83\xec\x18"), X86_ADD, X86_SP, X86_SP, -0x18);
	expect(CODE("\x48\x81\xc4\x88\x79\0\0"), X86_ADD, X86_SP, X86_SP, 0x7988);
	expect(CODE("\x48\x83\xe4\xf0"), X86_AND, X86_SP, X86_SP, -16);
	expect(CODE("\x48\x89\xe5"), X86_MOVE, X86_FP, X86_SP, 0);
	expect(CODE("\x49\x8d\x62\xf8"), X86_MOVE, X86_SP, 10, -8);
	expect(CODE("\x48\x8d\x64\x24\x10"), X86_MOVE, X86_SP, X86_SP, 16);
	expect(CODE("\x48\x8b\x5c\x24\x08"), X86_LOAD, 3, X86_SP, 8);
	expect(CODE("\x41\x5f"), X86_POP, 15, X86_NO_REGISTER, 0);
	expect(NARROW("\x8d\x65\xf4"), X86_MOVE, X86_SP, X86_FP, -12);
	expect(NARROW("\xc2\x04\0"), X86_RETURN, X86_NO_REGISTER, X86_NO_REGISTER, 4);
	/* vmovups %zmm0,0x40(%rsp); vcmppd $1,%zmm1,%zmm2,%k1: capstone 4 does not know them all. */
	assert_int_equal(CODE("\x62\xf1\x7c\x48\x11\x44\x24\x01").kind, X86_OTHER);
	assert_int_equal(CODE("\x62\xf1\xed\x48\xc2\xc9\x01").kind, X86_OTHER);
	assert_int_equal(CODE("\x48\x29\xc4").kind, X86_LOSE);
	assert_int_equal(CODE("\x48\x01\xdc").kind, X86_LOSE);
	assert_int_equal(CODE("\x48\x87\xe0").kind, X86_LOSE);
	assert_int_equal(CODE("\x48\x39\xdc").kind, X86_OTHER);
	assert_int_equal(CODE("\xff\x25\x10\0\0\0").kind, X86_JUMP_THROUGH);
	assert_int_equal(CODE("\xff\xe0").kind, X86_JUMP_AWAY);
	assert_int_equal(CODE("\x74\xfe").target, 0x1000);
	assert_int_equal(CODE("\xe8\xfb\xff\xff\xff").target, 0x1000);
}

/* Bytes that end early, or are no instruction, are refused; none is read behind them. */
static void
test_damaged(void **state)
{
	struct x86_code c;
	unsigned seed = 1;

	assert_false(x86_code_read(span_of("\x48\x81\xc4\x88", 4), 0, false, &c));
	assert_false(x86_code_read(span_of("", 0), 0, false, &c));
	assert_false(x86_code_read(span_of("fffffffffffffffff\x90", 18), 0, false, &c));
	for (int i = 0; i < 200000; i++) {
		uint8_t *p = malloc(1 + i % 17);

		for (int k = 0; k < 1 + i % 17; k++)
			p[k] = (uint8_t)((seed = seed * 1103515245 + 12345) >> 16);
		if (x86_code_read(span_of(p, 1 + i % 17), 0, i & 1, &c))
			assert_true(c.len >= 1 && c.len <= 15 && c.len <= 1 + i % 17);
		x86_code_ends_with_call(span_of(p, 1 + i % 17));
		free(p);
	}
}

static void
test_calls(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		bool call;
	} t[] = {
		{ "\xe8\x01\x02\x03\x04", 5, true },
		{ "\x90\xff\xd0", 3, true },
		{ "\x41\xff\xd1", 3, true },
		{ "\xff\x15\1\2\3\4", 6, true },
		{ "\xff\x50\x18", 3, true },
		{ "\xff\x14\x24", 3, true },
		{ "\xff\x94\x24\x80\0\0\0", 7, true },
		{ "\xff\x54\x24\x08", 4, true },
		{ "\x90\x90\x90\x90\x90\x90\x90", 7, false },
		{ "\xe9\x01\x02\x03\x04", 5, false },
		{ "\xff\xe0", 2, false },
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		assert_int_equal(x86_code_ends_with_call(span_of(t[i].bytes, t[i].len)), t[i].call);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_programs), cmocka_unit_test(test_vectors),
		cmocka_unit_test(test_stack),	 cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
