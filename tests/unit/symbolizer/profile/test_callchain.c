/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A sample's addresses, when its user part was unwound from a copy of the stack. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <linux/perf_event.h>

#include "symbolizer/profile/callchain.h"

#define KERNEL UINT64_C(0xffffffff81000000)

static const struct unwind_frame user[] = { { 0x1000, false }, { 0x2000, true }, { 0x3000, true } };

static void
expect(const struct callchain_words *w, size_t nr, const struct callchain_address *wanted)
{
	struct callchain_address a;
	struct callchain c;

	callchain_begin(&c, w, &a);
	for (size_t i = 0; i < nr; i++) {
		assert_int_equal(a.mode, wanted[i].mode);
		assert_int_equal(a.is_return, wanted[i].is_return);
		assert_int_equal(a.ip, wanted[i].ip);
		assert_int_equal(callchain_next(&c, &a), i + 1 < nr);
	}
	assert_false(callchain_next(&c, &a));
}

static void
test_user_sampled(void **state)
{
	const struct callchain_words w = { .misc = PERF_RECORD_MISC_USER,
					   .has_ip = true,
					   .ip = 0x1000,
					   .user = user,
					   .nr_user = 3 };
	const struct callchain_address wanted[] = {
		{ CALLCHAIN_USER, false, 0x1000, 0 },
		{ CALLCHAIN_USER, true, 0x2000, 0 },
		{ CALLCHAIN_USER, true, 0x3000, 0 },
	};

	assert_false(callchain_has_user(&w));
	expect(&w, 3, wanted);
}

/* Where the user entered the kernel is a place of its own, and no return address. */
static void
test_kernel_sampled(void **state)
{
	const uint64_t words[] = { PERF_CONTEXT_KERNEL, KERNEL, KERNEL + 64 };
	const struct callchain_words w = { .misc = PERF_RECORD_MISC_KERNEL,
					   .has_ip = true,
					   .ip = KERNEL,
					   .nr = 3,
					   .words = span_of(words, sizeof(words)),
					   .user = user,
					   .nr_user = 2 };
	const struct callchain_address wanted[] = {
		{ CALLCHAIN_KERNEL, false, KERNEL, 0 },
		{ CALLCHAIN_KERNEL, true, KERNEL + 64, 0 },
		{ CALLCHAIN_USER, false, 0x1000, 0 },
		{ CALLCHAIN_USER, true, 0x2000, 0 },
	};

	assert_false(callchain_has_user(&w));
	expect(&w, 4, wanted);
}

/* Frame pointers were followed when it was taken: there is nothing to be unwound. */
static void
test_has_user(void **state)
{
	const uint64_t words[] = { PERF_CONTEXT_KERNEL, KERNEL, PERF_CONTEXT_USER, 0x1000 };
	struct callchain_words w = { .nr = 4, .words = span_of(words, sizeof(words)) };

	assert_true(callchain_has_user(&w));
	w.nr = 3; /* a marker and no address */
	assert_false(callchain_has_user(&w));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_user_sampled),
		cmocka_unit_test(test_kernel_sampled),
		cmocka_unit_test(test_has_user),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
