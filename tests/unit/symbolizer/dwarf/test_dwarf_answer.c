/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a worker says, and what is believed of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "format/bytes/buf.h"
#include "format/bytes/fmt_error.h"
#include "symbolizer/dwarf/dwarf_answer.h"

#define ADDRESSES 3
#define LACKING 17

/* Frames as text, one a line: "job.address function file line". */
static char told[65536];

static int
tell(void *arg, size_t job, size_t i, const struct dwarf_frame *frames, size_t nr, bool partial)
{
	assert_true(i < ADDRESSES);
	assert_true((nr > 0 || partial) && nr <= DWARF_FRAMES_MAX);
	if (partial)
		snprintf(told + strlen(told), sizeof(told) - strlen(told), "%zu.%zu partial\n", job,
			 i);
	for (size_t k = 0; k < nr; k++)
		snprintf(told + strlen(told), sizeof(told) - strlen(told), "%zu.%zu %s %s %u\n",
			 job, i, frames[k].function ? frames[k].function : "-",
			 frames[k].file ? frames[k].file : "-", frames[k].line);
	return arg ? *(int *)arg : 0;
}

static enum dwarf_outcome
read_answer(const void *bytes, size_t len)
{
	struct dwarf_job job = { .n = ADDRESSES };
	uint8_t *copy = malloc(len ? len : 1);

	assert_non_null(copy);
	memcpy(copy, bytes, len);
	told[0] = '\0';
	assert_int_equal(dwarf_answer_read(span_of(copy, len), &job, 5, tell, NULL), 0);
	free(copy);
	return job.outcome;
}

static struct buf
write_answer(int error)
{
	static const char f[] = "f", g[] = "", h[] = "h.c";
	const struct dwarf_frame frames[] = { { f, h, 7 }, { g, h, 8 }, { NULL, NULL, 0 } };
	struct dwarf_answer *a;
	struct buf b;
	ssize_t n;
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	a = dwarf_answer_new(ends[1]);
	assert_non_null(a);
	assert_int_equal(dwarf_answer_add(a, 2, frames, 3, false), 0);
	assert_int_equal(dwarf_answer_add(a, 0, frames + 1, 1, true), 0);
	dwarf_answer_end(a, error, LACKING);
	close(ends[1]);
	buf_init(&b);
	assert_non_null(buf_reserve(&b, 4096));
	n = read(ends[0], b.p, 4096);
	assert_true(n > 0);
	b.len = (size_t)n;
	close(ends[0]);
	return b;
}

static void
test_there_and_back(void **state)
{
	struct buf b = write_answer(0);
	struct dwarf_job job = { .n = ADDRESSES };
	int stop = -FMT_E_NOMEM;

	(void)state;
	assert_int_equal(read_answer(b.p, b.len), DWARF_DONE);
	assert_string_equal(told, "5.2 f h.c 7\n5.2  h.c 8\n5.2 - - 0\n5.0 partial\n5.0  h.c 8\n");
	assert_int_equal(dwarf_answer_read(buf_span(&b), &job, 0, tell, &stop), -FMT_E_NOMEM);
	assert_int_equal(job.lacking, LACKING);
	buf_done(&b);
}

static void
test_errors(void **state)
{
	static const struct {
		int error;
		enum dwarf_outcome outcome;
	} cases[] = { { -FMT_E_EMPTY, DWARF_NONE },
		      { -FMT_E_CORRUPT, DWARF_DAMAGED },
		      { -FMT_E_DECOMPRESS, DWARF_DAMAGED },
		      { -FMT_E_TOO_BIG, DWARF_DAMAGED },
		      { -FMT_E_NOMEM, DWARF_FAILED } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct buf b = write_answer(cases[i].error);

		assert_int_equal(read_answer(b.p, b.len), cases[i].outcome);
		assert_string_equal(told, "");
		buf_done(&b);
	}
}

static void
test_cut(void **state)
{
	struct buf b = write_answer(0);

	(void)state;
	for (size_t len = 0; len < b.len; len++) {
		assert_int_equal(read_answer(b.p, len), DWARF_CRASHED);
		assert_string_equal(told, "");
	}
	buf_u8(&b, 0);
	assert_int_equal(read_answer(b.p, b.len), DWARF_CRASHED);
	assert_string_equal(told, "");
	buf_done(&b);
}

static void
test_changed(void **state)
{
	struct buf b = write_answer(0);

	(void)state;
	for (size_t i = 0; i < b.len; i++)
		for (unsigned int v = 0; v < 256; v++) {
			const uint8_t was = b.p[i];

			b.p[i] = (uint8_t)v;
			if (read_answer(b.p, b.len) != DWARF_DONE)
				assert_string_equal(told, "");
			b.p[i] = was;
		}
	buf_done(&b);
}

/* Numbers that cannot be, each in an answer that is right else. */
static void
test_wrong(void **state)
{
	static const uint32_t wrong[][8] = {
		{ 'A', ADDRESSES, 1, 0, 0, 0, 'E', 0 }, /* an address that was not asked for */
		{ 'A', 0, 1, 1, 0, 0, 'E', 0 },		/* a string that did not come yet */
		{ 'A', 0, 1, 0, 1, 0, 'E', 0 },
		{ 'A', 0, 1, UINT32_MAX, 0, 0, 'E', 0 },
		{ 'A', 0, 0, 'E', 0, 'E', 0, 0 }, /* no frame */
		{ 'P', ADDRESSES, 0, 'E', 0, 0, 0, 0 },
		{ 'A', 0, DWARF_FRAMES_MAX + 1, 0, 0, 0, 'E', 0 },
		{ 'A', 0, UINT32_MAX, 0, 0, 0, 'E', 0 },
		{ 'S', UINT32_MAX, 0, 0, 0, 0, 'E', 0 },
		{ 'S', 4, 0, 'E', 0, 'E', 0, 0 }, /* a NUL within */
		{ 'X', 0, 0, 0, 0, 0, 'E', 0 },
		{ 'E', 0, 'E', 0, 'E', 0, 'E', 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(read_answer(wrong[i], sizeof(wrong[i])), DWARF_CRASHED);
		assert_string_equal(told, "");
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_there_and_back),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_changed),
		cmocka_unit_test(test_wrong),
	};

	return cmocka_run_group_tests_name("dwarf_answer", tests, NULL, NULL);
}
