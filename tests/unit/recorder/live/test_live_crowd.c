/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Turns of users, against a clock of the test's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "format/bytes/time_text.h"
#include "recorder/live/live_crowd.h"

#define START UINT64_C(1000000000000)

/* How many turns of this many a user gets. */
static unsigned int
turns(struct live_crowd *c, uint32_t uid, unsigned int wanted, uint64_t now_ns)
{
	unsigned int had = 0;

	for (unsigned int i = 0; i < wanted; i++)
		had += live_crowd_turn(c, uid, now_ns);
	return had;
}

static void
test_each_user(void **state)
{
	struct live_crowd c = { 0 };

	/* Root and an unknown user are counted as any other. */
	assert_int_equal(turns(&c, 1000, 100000, START), LIVE_CROWD_EACH);
	assert_int_equal(turns(&c, 0, 100, START), LIVE_CROWD_EACH);
	assert_int_equal(turns(&c, UINT32_MAX, 100, START), LIVE_CROWD_EACH);
	assert_int_equal(turns(&c, 1000, 1, START + SECOND_NS - 1), 0);
	assert_int_equal(turns(&c, 1000, 100, START + SECOND_NS), LIVE_CROWD_EACH);
}

static void
test_many_users(void **state)
{
	struct live_crowd c = { 0 };

	for (uint32_t uid = 0; uid < 100; uid++)
		assert_int_equal(turns(&c, uid, 1, START), uid < LIVE_CROWD_USERS);
	/* Those that have a slot keep it. */
	assert_int_equal(turns(&c, 0, 100, START), LIVE_CROWD_EACH - 1);
	assert_int_equal(turns(&c, 99, 1, START + SECOND_NS), 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_user),
		cmocka_unit_test(test_many_users),
	};

	return cmocka_run_group_tests_name("live_crowd", tests, NULL, NULL);
}
