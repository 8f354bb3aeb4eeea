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

/* The CPU's own call stack takes the place of what the kernel found of the user, and of nothing else. */
static void
test_calls_of_the_cpu(void **state)
{
	const uint64_t chain[] = { PERF_CONTEXT_KERNEL, KERNEL, KERNEL + 64,
				   PERF_CONTEXT_USER,	0x1008, 0xbad };
	const uint64_t entries[] = { 0x2004, 0x1000, 1, 0x3004, 0x2000, 1 };
	const struct event_attr attr = { .branch_sample_type = PERF_SAMPLE_BRANCH_CALL_STACK };
	const struct event_attr others = { .branch_sample_type = PERF_SAMPLE_BRANCH_ANY_CALL };
	struct perf_record r = { .type = REC_SAMPLE,
				 .misc = PERF_RECORD_MISC_KERNEL,
				 .attr = &attr };
	const struct callchain_address kernel[] = {
		{ CALLCHAIN_KERNEL, false, KERNEL, 0 }, { CALLCHAIN_KERNEL, true, KERNEL + 64, 0 },
		{ CALLCHAIN_USER, false, 0x1000, 0 },	{ CALLCHAIN_USER, false, 0x2004, 0 },
		{ CALLCHAIN_USER, false, 0x3004, 0 },
	};
	const struct callchain_address in_user[] = {
		{ CALLCHAIN_USER, false, 0x1008, 0 },
		{ CALLCHAIN_USER, false, 0x2004, 0 },
		{ CALLCHAIN_USER, false, 0x3004, 0 },
	};
	struct callchain_words w;

	r.sample = (struct perf_sample){ .have = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN |
						 PERF_SAMPLE_BRANCH_STACK,
					 .ip = KERNEL,
					 .callchain = span_of(chain, sizeof(chain)) };
	r.sample.branch.nr = 2;
	r.sample.branch.entries = span_of(entries, sizeof(entries));
	callchain_of_record(&r, &w);
	expect(&w, 5, kernel);
	/* A thread of the kernel has no user's part. */
	r.sample.callchain.len = 3 * 8;
	callchain_of_record(&r, &w);
	expect(&w, 2, kernel);
	r.misc = PERF_RECORD_MISC_USER;
	r.sample.ip = 0x1008;
	r.sample.callchain = span_of(&chain[3], 3 * 8);
	callchain_of_record(&r, &w);
	expect(&w, 3, in_user);
	r.sample.callchain.len = 0;
	callchain_of_record(&r, &w);
	expect(&w, 3, in_user);
	/* Branches of another kind say nothing of callers. */
	r.attr = &others;
	callchain_of_record(&r, &w);
	expect(&w, 1, in_user);
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
		cmocka_unit_test(test_calls_of_the_cpu),
		cmocka_unit_test(test_has_user),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
