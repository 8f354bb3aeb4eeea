/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bytes to instructions: of several machines, of none, and of enemies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <elf.h>

#include "format/bytes/fmt_error.h"
#include "symbolizer/code/disassembly.h"

static struct disassembly *
make(uint16_t machine, bool is64, bool intel, const void *bytes, size_t len)
{
	const struct disassembly_code code = { .bytes = span_of(bytes, len),
					       .address = 0x1000,
					       .machine = machine,
					       .is64 = is64,
					       .intel = intel };
	struct disassembly *d = NULL;

	assert_int_equal(disassembly_make(&code, &d), 0);
	return d;
}

/* How its text begins: versions of capstone differ in suffixes. */
static void
is_at(const struct disassembly *d, size_t i, uint64_t address, unsigned int size, uint64_t target,
      const char *text)
{
	const struct disassembly_instruction *got = disassembly_at(d, i);

	assert_int_equal(got->address, address);
	assert_int_equal(got->size, size);
	assert_int_equal(got->target, target);
	if (strncmp(got->text, text, strlen(text)) != 0)
		assert_string_equal(got->text, text);
}

static const uint8_t x86[] = {
	0x48, 0x89, 0xe5,	      /* mov */
	0x74, 0xfb,		      /* je to itself less 3 */
	0xe8, 0x00, 0x01, 0x00, 0x00, /* call */
	0xff, 0xd0,		      /* call by a register */
	0xc3,			      /* ret */
	0x0f,			      /* the first byte of something longer */
};

static void
as_att(void **state)
{
	struct disassembly *d = make(EM_X86_64, true, false, x86, sizeof(x86));

	assert_int_equal(disassembly_count(d), 6);
	is_at(d, 0, 0x1000, 3, 0, "mov");
	is_at(d, 1, 0x1003, 2, 0x1000, "je     0x1000");
	is_at(d, 2, 0x1005, 5, 0x110a, "call");
	is_at(d, 3, 0x100a, 2, 0, "call");
	is_at(d, 5, 0x100d, 1, 0, ".byte  0x0f");
	disassembly_free(d);
}

static void
as_intel(void **state)
{
	struct disassembly *d = make(EM_X86_64, true, true, x86, sizeof(x86));

	is_at(d, 0, 0x1000, 3, 0, "mov    rbp, rsp");
	is_at(d, 4, 0x100c, 1, 0, "ret");
	disassembly_free(d);
}

/* Whatever the host is. */
static void
of_other_machines(void **state)
{
	static const uint8_t arm[] = { 0x02, 0x00, 0x00, 0x94, 0xc0, 0x03, 0x5f, 0xd6, 0x60, 0x00 };
	static const uint8_t i386[] = { 0x40, 0xc3 };
	struct disassembly *d = make(EM_AARCH64, true, false, arm, sizeof(arm));

	assert_int_equal(disassembly_count(d), 4);
	is_at(d, 0, 0x1000, 4, 0x1008, "bl ");
	is_at(d, 1, 0x1004, 4, 0, "ret");
	is_at(d, 3, 0x1009, 1, 0, ".byte  0x00");
	disassembly_free(d);
	d = make(EM_386, false, true, i386, sizeof(i386));
	is_at(d, 0, 0x1000, 1, 0, "inc    eax");
	disassembly_free(d);
}

static void
of_unknown_machines(void **state)
{
	static const uint16_t unknown[] = { EM_NONE, EM_VAX, EM_386, UINT16_MAX };

	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++) {
		const struct disassembly_code code = { .bytes = span_of(x86, sizeof(x86)),
						       .machine = unknown[i],
						       .is64 = true };
		struct disassembly *d = NULL;

		assert_int_equal(disassembly_make(&code, &d), -FMT_E_UNSUPPORTED);
		assert_null(d);
	}
}

/* As many bytes as a function may have, of any value: each is in one instruction. */
static void
of_any_bytes(void **state)
{
	static const uint16_t all[] = { EM_X86_64, EM_AARCH64, EM_PPC64 };
	const size_t len = 300000;
	uint8_t *bytes = malloc(len);
	uint64_t x = 88172645463325252;

	assert_non_null(bytes);
	for (size_t i = 0; i < len; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		bytes[i] = (uint8_t)x;
	}
	for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++) {
		struct disassembly *d = make(all[k], true, false, bytes, len);
		uint64_t next = 0x1000;

		for (size_t i = 0; i < disassembly_count(d); i++) {
			assert_int_equal(disassembly_at(d, i)->address, next);
			assert_true(strlen(disassembly_at(d, i)->text) > 0);
			next += disassembly_at(d, i)->size;
		}
		assert_int_equal(next, 0x1000 + len);
		disassembly_free(d);
	}
	free(bytes);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_att),
		cmocka_unit_test(as_intel),
		cmocka_unit_test(of_other_machines),
		cmocka_unit_test(of_unknown_machines),
		cmocka_unit_test(of_any_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
