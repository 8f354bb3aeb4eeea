/* SPDX-License-Identifier: GPL-2.0-or-later */
/* member_flood: turns of users: what is saved up, what comes a second, whose it is, and users without end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "daemon/control/call_meter.h"

#define S UINT64_C(1000000000)

/* Turns of whoever asks again as soon as he may, until a time. */
static unsigned int
turns_until(struct call_meter *m, uid_t uid, uint64_t *now_ns, uint64_t until_ns)
{
	unsigned int n = 0;

	while (*now_ns < until_ns) {
		const uint64_t ns = call_meter_take(m, uid, *now_ns);

		n += ns == 0;
		*now_ns += ns;
	}
	return n;
}

static void
test_one_user(void **state)
{
	struct call_meter m = { 0 };
	uint64_t now_ns = 5 * S;
	unsigned int n;

	(void)state;
	for (n = 0; call_meter_take(&m, 1000, now_ns) == 0; n++)
		;
	assert_int_equal(n, CALL_METER_SAVED);
	n = turns_until(&m, 1000, &now_ns, 15 * S);
	assert_in_range(n, 10 * CALL_METER_A_SECOND - 1, 10 * CALL_METER_A_SECOND + 1);
	/* Saved up again, and no more. */
	now_ns += 3600 * S;
	for (n = 0; call_meter_take(&m, 1000, now_ns) == 0; n++)
		;
	assert_int_equal(n, CALL_METER_SAVED);
}

static void
test_charge(void **state)
{
	struct call_meter m = { 0 };
	uint64_t now_ns = 5 * S, ns;
	unsigned int n = 0;

	(void)state;
	for (; call_meter_take(&m, 1000, now_ns) == 0; n++)
		call_meter_charge(&m, 1000, CALL_METER_WORK, now_ns);
	assert_int_equal(n, CALL_METER_SAVED / (1 + CALL_METER_WORK));
	call_meter_charge(&m, 1000, CALL_METER_A_SECOND, now_ns);
	ns = call_meter_take(&m, 1000, now_ns);
	assert_in_range(ns, S, S + S / CALL_METER_A_SECOND);
	assert_int_equal(call_meter_take(&m, 1000, now_ns + ns), 0);
}

/* Another has all of his own; users without end have what all have, and no more. */
static void
test_many_users(void **state)
{
	struct call_meter m = { 0 };
	uint64_t now_ns = 5 * S;
	unsigned int n = 0;
	uid_t uid = 100000;

	(void)state;
	while (call_meter_take(&m, 1000, now_ns) == 0)
		;
	while (call_meter_take(&m, 1001, now_ns) == 0)
		n++;
	assert_int_equal(n, CALL_METER_SAVED);
	now_ns += 3600 * S;
	for (n = 0; call_meter_take(&m, uid, now_ns) == 0; n++)
		uid++;
	assert_in_range(n, CALL_METER_ALL * CALL_METER_SAVED - 4,
			CALL_METER_ALL * CALL_METER_SAVED + 4);
	for (n = 0; now_ns < 3700 * S; n++) {
		uint64_t ns = call_meter_take(&m, ++uid, now_ns);

		now_ns += ns;
		n -= ns != 0;
	}
	assert_in_range(n, 94 * CALL_METER_ALL * CALL_METER_A_SECOND,
			96 * CALL_METER_ALL * CALL_METER_A_SECOND);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_user),
		cmocka_unit_test(test_charge),
		cmocka_unit_test(test_many_users),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("call_meter", tests, NULL, NULL);
}
