/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Call frame information of code made at run time: what it takes of memory when its rows are made. */
#include "symbolizer/profile/made_cfi.h"

#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <elf.h>

#include "format/bytes/fair_part.h"
#include "format/bytes/fmt_error.h"

#define CODE UINT64_C(0x10000)
#define CODE_SIZE UINT64_C(512)
#define PART (MADE_CFI_BYTES_MAX / FAIR_PART)

/* The .eh_frame of one piece of code. */
struct frame {
	uint8_t bytes[8192];
	size_t len;
};

static void
put(struct frame *f, const void *bytes, size_t len)
{
	assert_true(f->len + len <= sizeof(f->bytes));
	memcpy(f->bytes + f->len, bytes, len);
	f->len += len;
}

static void
put_number(struct frame *f, uint32_t v, size_t len)
{
	put(f, &v, len);
}

static void
entry_end(struct frame *f, size_t at)
{
	const uint32_t len = (uint32_t)(f->len - at - 4);

	memcpy(f->bytes + at, &len, 4);
}

/* Begins with a CIE that names so many registers, and an FDE whose length is still to be written. */
static size_t
begin(struct frame *f, unsigned registers)
{
	size_t at;

	f->len = 0;
	put_number(f, 0, 4);
	put_number(f, 0, 4);
	/* Data counts in -8, addresses have 4 bytes and are relative; CFA = rsp + 8. */
	put(f, "\x01zR\0\x01\x78\x10\x01\x1b\x0c\x07\x08\x90\x01", 14);
	for (unsigned i = 0; i < registers; i++) {
		put_number(f, 0x80 | i, 1);
		put_number(f, 2, 1);
	}
	entry_end(f, 0);
	at = f->len;
	put_number(f, 0, 4);
	put_number(f, (uint32_t)f->len, 4);
	/* Made code has its frames behind it. */
	put_number(f, (uint32_t) - (CODE_SIZE + f->len), 4);
	put_number(f, (uint32_t)CODE_SIZE, 4);
	put_number(f, 0, 1);
	return at;
}

/* After each byte of code, so many of them, the CFA is elsewhere. */
static void
put_rows(struct frame *f, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		put_number(f, 0x41, 1);
		put_number(f, 0x800e | (3 + i) % 128 << 8, 2);
		put_number(f, (3 + i) / 128 + 1, 1);
	}
}

static struct jit_frames
piece(const struct frame *f, uintptr_t process, uint32_t order)
{
	return (struct jit_frames){ .table = (const struct jit_table *)process,
				    .order = order,
				    .start = CODE,
				    .size = CODE_SIZE,
				    .eh_frame = span_of(f->bytes, f->len) };
}

/* Goes to the last place of a piece, in a walk of its own. What was found there; -1: nothing is known of it. */
static int
walk(struct made_cfi *m, struct unwinder *u, const struct jit_frames *p)
{
	struct cfi *cfi;
	uint32_t rule;
	int found = -1;

	assert_int_equal(made_cfi_piece(m, cfi_arch_of_machine(EM_X86_64), p, &cfi), 0);
	if (cfi)
		found = cfi_find(cfi, CODE + CODE_SIZE - 1, &rule);
	assert_int_equal(made_cfi_settle(m, u), 0);
	return found;
}

/* Memory that is really in use. */
static size_t
in_use(void)
{
	const struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

/* It is counted as it is after each walk, and 8 processes take no more than the bound. */
static void
many(const struct frame *f, int want)
{
	struct made_cfi *m = made_cfi_new(NULL, NULL);
	struct unwinder *u = unwinder_new();
	const size_t before = in_use();
	size_t most = 0, used = 0, left = MADE_CFI_BYTES_MAX;

	for (uintptr_t process = 1; process <= 8; process++) {
		const size_t others = made_cfi_bytes(m);

		for (uint32_t i = 0; i < 7200; i++) {
			const struct jit_frames p = piece(f, process, i);
			const int found = walk(m, u, &p);

			if (i == 0)
				assert_int_equal(found, want);
			most = made_cfi_bytes(m) > most ? made_cfi_bytes(m) : most;
			/* A piece is let in, and then what was there before it goes. */
			assert_true(made_cfi_bytes(m) - others <= left / FAIR_PART + (64 << 10));
		}
		left = MADE_CFI_BYTES_MAX - made_cfi_bytes(m);
	}
	used = in_use() - before;
	print_message("# %zu KiB at most, %zu KiB, in use: %zu KiB\n", most >> 10,
		      made_cfi_bytes(m) >> 10, used >> 10);
	assert_true(most <= MADE_CFI_BYTES_MAX);
#if !defined(__SANITIZE_ADDRESS__)
	/* Beside it there is the list of pieces. */
	assert_true(used < made_cfi_bytes(m) + made_cfi_bytes(m) / 8 + (8 << 20));
#endif
	made_cfi_free(m);
	unwinder_free(u);
}

static void
test_many(void **state)
{
	struct frame f;
	size_t at;

	(void)state;
	at = begin(&f, 4);
	put_rows(&f, 120);
	entry_end(&f, at);
	many(&f, 1);
}

/* Each row names all registers: that many words one piece does not get. */
static void
test_wide(void **state)
{
	struct frame f;
	size_t at;

	(void)state;
	at = begin(&f, 32);
	f.bytes[23] = 0x80; /* rsp is not one of them */
	put_rows(&f, 247);
	entry_end(&f, at);
	many(&f, -FMT_E_TOO_BIG);
}

/* What a function has that saves all registers one by one, and takes them back. */
static void
test_usual(void **state)
{
	static const uint8_t saved[] = { 6, 15, 14, 13, 12, 3 };
	struct made_cfi *m = made_cfi_new(NULL, NULL);
	struct unwinder *u = unwinder_new();
	struct jit_frames p;
	struct frame f;
	size_t at;

	(void)state;
	at = begin(&f, 0);
	for (uint32_t i = 0; i < sizeof(saved); i++) {
		put_number(&f, 0x42, 1);
		put_number(&f, 0x0e | (16 + 8 * i) << 8, 2);
		put_number(&f, 0x80 | saved[i], 1);
		put_number(&f, 2 + i, 1);
	}
	put_number(&f, 0x44, 1);
	put_number(&f, 0x800e, 2);
	put_number(&f, 2, 1);
	for (uint32_t i = 0; i <= sizeof(saved); i++) {
		put_number(&f, 0x42, 1);
		put_number(&f, 0x0e | (56 - 8 * i) << 8, 2);
	}
	entry_end(&f, at);
	p = piece(&f, 1, 0);
	assert_int_equal(walk(m, u, &p), 1);
	made_cfi_free(m);
	unwinder_free(u);
}

/* What was used last stays, and what was freed is not read again. */
static void
test_least_used(void **state)
{
	struct made_cfi *m = made_cfi_new(NULL, NULL);
	struct unwinder *u = unwinder_new();
	struct jit_frames first, second, p;
	struct frame f;
	size_t at;

	(void)state;
	at = begin(&f, 4);
	put_rows(&f, 500);
	entry_end(&f, at);
	first = piece(&f, 1, 0);
	second = piece(&f, 1, 1);
	assert_int_equal(walk(m, u, &first), 1);
	assert_int_equal(walk(m, u, &second), 1);
	for (uint32_t i = 2; i < 8000; i++) {
		p = piece(&f, 1, i);
		walk(m, u, &p);
		assert_int_equal(walk(m, u, &first), 1);
		assert_true(made_cfi_bytes(m) <= PART);
	}
	assert_int_equal(walk(m, u, &p), 1);
	assert_int_equal(walk(m, u, &second), -1);
	/* Another process has its own. */
	p = piece(&f, 2, 0);
	assert_int_equal(walk(m, u, &p), 1);
	made_cfi_free(m);
	unwinder_free(u);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_wide),
		cmocka_unit_test(test_usual),
		cmocka_unit_test(test_least_used),
	};

	return cmocka_run_group_tests_name("made_cfi", tests, NULL, NULL);
}
