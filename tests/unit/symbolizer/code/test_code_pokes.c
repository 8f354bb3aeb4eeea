/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What stood where when: held against code that is written to byte by byte. */
#include "symbolizer/code/code_pokes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "tests/lab/synthetic.h"

#define TEXT UINT64_C(0xffffffff81000000)
#define CODE 64 /* bytes */
#define TIMES 40

static struct synthetic s;

static void
poke_at(uint64_t time_ns, uint64_t address, struct span old, struct span new)
{
	s.now = time_ns;
	synthetic_poke(&s, address, old, new);
}

static struct code_pokes *
read_pokes(uint64_t shift_ns)
{
	struct code_pokes *p = code_pokes_new();

	synthetic_read(&s);
	assert_non_null(p);
	assert_int_equal(code_pokes_read(p, s.stream, shift_ns), 0);
	assert_int_equal(code_pokes_left_out(p), 0);
	return p;
}

static struct span
bytes(const char *text)
{
	return span_of((const uint8_t *)text, strlen(text));
}

/* Whenever the image was taken, and whichever time is asked for: all bytes are those of that time. */
static void
any_image_any_time(void **state)
{
	uint8_t code[TIMES][CODE], got[CODE];
	uint64_t times[TIMES];
	struct code_pokes *p;

	(void)state;
	srand(7);
	synthetic_begin(&s, 0);
	for (size_t i = 0; i < CODE; i++)
		code[0][i] = (uint8_t)i;
	for (size_t t = 1; t < TIMES; t++) {
		const size_t at = (size_t)rand() % CODE, rest = CODE - at,
			     most = rest < 8 ? rest : 8;
		const size_t len = 1 + (size_t)rand() % most;

		memcpy(code[t], code[t - 1], CODE);
		for (size_t i = 0; i < len; i++)
			code[t][at + i] = (uint8_t)rand();
		poke_at(1000 * t, TEXT + at, span_of(code[t - 1] + at, len),
			span_of(code[t] + at, len));
		times[t] = s.now;
	}
	times[0] = 1;
	p = read_pokes(0);
	for (size_t image = 0; image < TIMES; image++)
		for (size_t t = 0; t < TIMES; t++) {
			memcpy(got, code[image], CODE);
			code_pokes_apply(p, times[t], TEXT, got, CODE);
			assert_memory_equal(got, code[t], CODE);
			/* A part of it, as a function is one. */
			memcpy(got, code[image], CODE);
			code_pokes_apply(p, times[t], TEXT + 10, got + 10, 20);
			assert_memory_equal(got + 10, code[t] + 10, 20);
			assert_memory_equal(got, code[image], 10);
			assert_memory_equal(got + 30, code[image] + 30, CODE - 30);
		}
	code_pokes_free(p);
	synthetic_end(&s);
}

/* Code that is made at run time has no old bytes, and none when it is gone. */
static void
other_lengths(void **state)
{
	struct code_pokes *p;
	uint8_t got[] = "........";

	(void)state;
	synthetic_begin(&s, 0);
	poke_at(1000, TEXT, bytes(""), bytes("made"));
	poke_at(2000, TEXT, bytes("made"), bytes(""));
	poke_at(3000, TEXT + 6, bytes("xy"), bytes("zz"));
	p = read_pokes(100);
	code_pokes_apply(p, 1, TEXT, got, 8);
	assert_memory_equal(got, "made..xy", 8);
	memcpy(got, "........", 8);
	code_pokes_apply(p, s.now + 100, TEXT, got, 8);
	assert_memory_equal(got, "made..zz", 8);
	code_pokes_free(p);
	synthetic_end(&s);
}

static void
counts(void **state)
{
	uint32_t times[8] = { 0 };
	struct code_pokes *p;
	uint64_t second;

	(void)state;
	synthetic_begin(&s, 0);
	poke_at(1000, TEXT - 2, bytes("1234"), bytes("5678"));
	poke_at(2000, TEXT + 1, bytes("6"), bytes("7"));
	second = s.now;
	poke_at(3000, TEXT + 8, bytes("1"), bytes("2"));
	poke_at(4000, TEXT + 7, bytes("12"), bytes("34"));
	p = read_pokes(0);
	assert_int_equal(code_pokes_count(p, 0, UINT64_MAX, TEXT, 8, times), 3);
	assert_int_equal(times[0], 1);
	assert_int_equal(times[1], 2);
	assert_int_equal(times[2], 0);
	assert_int_equal(times[7], 1);
	/* After one time, up to the other. */
	assert_int_equal(code_pokes_count(p, second, UINT64_MAX, TEXT, 8, NULL), 1);
	assert_int_equal(code_pokes_count(p, second - 1, second, TEXT, 8, NULL), 1);
	assert_int_equal(code_pokes_count(p, 0, second - 1, TEXT, 8, NULL), 1);
	code_pokes_free(p);
	synthetic_end(&s);
}

/* At both ends of all addresses. */
static void
far_addresses(void **state)
{
	const uint64_t top = UINT64_MAX - 3;
	struct code_pokes *p;
	uint8_t got[] = "....";

	(void)state;
	synthetic_begin(&s, 0);
	poke_at(1000, top + 2, bytes("1234"), bytes("abcd"));
	poke_at(2000, 0, bytes("5678"), bytes("efgh"));
	p = read_pokes(0);
	code_pokes_apply(p, UINT64_MAX, top, got, 4);
	assert_memory_equal(got, "..ab", 4);
	assert_int_equal(code_pokes_count(p, 0, UINT64_MAX, top, 4, NULL), 1);
	memcpy(got, "....", 4);
	code_pokes_apply(p, 1, 2, got, 4);
	assert_memory_equal(got, "78..", 4);
	code_pokes_free(p);
	synthetic_end(&s);
}

/* A hundred thousand functions cost what is written there, not all that was written: a walk over all takes minutes. */
static void
many_functions(void **state)
{
	struct code_pokes *p;
	uint8_t got[4] = "...";
	clock_t begin;

	(void)state;
	synthetic_begin(&s, 0);
	for (uint64_t i = 0; i < 200000; i++)
		poke_at(1000 + i, i % 2 ? TEXT : TEXT + 64 * i, bytes("a"), bytes("b"));
	p = read_pokes(0);
	begin = clock();
	for (uint64_t i = 0; i < 100000; i++) {
		assert_int_equal(code_pokes_count(p, 0, UINT64_MAX, TEXT, 4, NULL), 100001);
		assert_int_equal(code_pokes_count(p, 0, UINT64_MAX, TEXT + 128 * (i + 1), 4, NULL),
				 i + 1 < 100000);
		assert_int_equal(code_pokes_apply(p, 1, TEXT, got, 4), 0);
		assert_memory_equal(got, "a..", 4);
	}
	assert_true((clock() - begin) / CLOCKS_PER_SEC < 10);
	code_pokes_free(p);
	synthetic_end(&s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_image_any_time),
		cmocka_unit_test(other_lengths),
		cmocka_unit_test(counts),
		cmocka_unit_test(far_addresses),
		cmocka_unit_test(many_functions),
	};

	return cmocka_run_group_tests_name("code_pokes", tests, NULL, NULL);
}
