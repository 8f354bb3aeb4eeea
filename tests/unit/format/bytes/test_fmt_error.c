/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/bytes/fmt_error.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static void
test_texts(void **state)
{
	for (int e = 0; e < FMT_E_MAX; e++) {
		assert_non_null(fmt_error_text(e));
		assert_ptr_equal(fmt_error_text(e), fmt_error_text(-e));
	}
	assert_string_equal(fmt_error_text(-FMT_E_EMPTY), "empty file");
	assert_string_equal(fmt_error_text(FMT_E_MAX), "unknown error");
	assert_string_equal(fmt_error_text(-FMT_E_MAX), "unknown error");
	assert_string_equal(fmt_error_text(INT_MAX), "unknown error");
	assert_string_equal(fmt_error_text(INT_MIN), "unknown error");
}

static void
test_fail(void **state)
{
	struct fmt_where w;

	memset(&w, 0xff, sizeof(w));
	errno = ENOSPC;
	assert_int_equal(fmt_fail(&w, FMT_E_CORRUPT, 0x1a40, "record of %d bytes", 12),
			 -FMT_E_CORRUPT);
	assert_int_equal(w.offset, 0x1a40);
	assert_int_equal(w.saved_errno, 0);
	assert_string_equal(w.detail, "record of 12 bytes");
	assert_int_equal(fmt_fail(&w, FMT_E_IO, 1, "%s", ""), -FMT_E_IO);
	assert_int_equal(w.saved_errno, ENOSPC);
	assert_int_equal(errno, ENOSPC);
	assert_string_equal(w.detail, "");
	assert_int_equal(fmt_fail(NULL, FMT_E_NOMEM, 1, "x"), -FMT_E_NOMEM);
}

static void
test_long_detail_is_cut(void **state)
{
	struct fmt_where w;

	fmt_fail(&w, FMT_E_CORRUPT, 0, "%0500d", 1);
	assert_int_equal(strlen(w.detail), sizeof(w.detail) - 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_fail),
		cmocka_unit_test(test_long_detail_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
