/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "format/bytes/time_text.h"
#include "symbolizer/unwinder/user_time.h"

/* CPU time of a user whose walks take that long each, as often as he may, in so many seconds. */
static uint64_t
takes(struct user_time *t, uint32_t uid, uint64_t walk_ns, uint64_t from_s, uint64_t seconds,
      enum user_time_left needs)
{
	const uint64_t end_ns = (from_s + seconds) * SECOND_NS;
	uint64_t now_ns = from_s * SECOND_NS, sum_ns = 0;

	while (now_ns < end_ns) {
		if (user_time_left(t, uid, now_ns) >= needs) {
			user_time_spend(t, uid, walk_ns);
			sum_ns += walk_ns;
			now_ns += walk_ns;
		} else {
			now_ns += SECOND_NS / 1000;
		}
	}
	return sum_ns;
}

/* After what is free a tenth of a CPU is left to a user, and to another one and root all that they had. */
static void
check_a_tenth(enum user_time_left needs, uint64_t free_ns)
{
	struct user_time t = { 0 };
	const uint64_t walk_ns = SECOND_NS / 10, slack_ns = 2 * walk_ns + free_ns / 5;
	const uint64_t tenth_ns = 10 * SECOND_NS; /* of 100 seconds */

	assert_in_range(takes(&t, 1000, walk_ns, 10, 100, needs), free_ns + tenth_ns - slack_ns,
			free_ns + tenth_ns + slack_ns);
	assert_in_range(takes(&t, 1000, walk_ns, 110, 100, needs), tenth_ns - slack_ns,
			tenth_ns + slack_ns);
	assert_true(user_time_left(&t, 1000, 210 * SECOND_NS) < USER_TIME_BESIDE);
	assert_int_equal(user_time_left(&t, 1001, 210 * SECOND_NS), USER_TIME_BESIDE);
	assert_in_range(takes(&t, 0, walk_ns, 210, 10, USER_TIME_BESIDE), 10 * SECOND_NS,
			11 * SECOND_NS);
	/* What is not used is not saved up. */
	assert_in_range(takes(&t, 1000, walk_ns, 100000, 10, needs), free_ns,
			free_ns + SECOND_NS + slack_ns);
}

static void
test_a_tenth(void **state)
{
	check_a_tenth(USER_TIME_ALONE, USER_TIME_BURST_NS);
	check_a_tenth(USER_TIME_BESIDE, USER_TIME_BESIDE_NS);
}

/* Usual walks cost nothing, however many there are. */
static void
test_usual_walks(void **state)
{
	struct user_time t = { 0 };

	assert_in_range(takes(&t, 1000, USER_TIME_WALK_NS, 10, 20, USER_TIME_BESIDE),
			20 * SECOND_NS, 21 * SECOND_NS);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_tenth),
		cmocka_unit_test(test_usual_walks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
