/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cpu_budget: who takes what, and since when it is more than the budget, second by second. */
#include "daemon/stream/cpu_use.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define SECOND_NS UINT64_C(1000000000)
#define PERCENT_NS (SECOND_NS / 100) /* of a second */
#define BUDGET 1000		     /* 1 % */

static struct cpu_use_reading now;

/* So many seconds, in each of which each part takes percent of a CPU, and the whole as much besides. */
static void
run(struct cpu_use *u, unsigned int seconds, unsigned int percent)
{
	while (seconds--) {
		now.now_ns += SECOND_NS;
		now.cpu_ns += percent * PERCENT_NS;
		for (int i = 0; i < CPU_USE_REST; i++) {
			now.parts_ns[i] += percent * PERCENT_NS;
			now.cpu_ns += percent * PERCENT_NS;
		}
		cpu_use_take(u, &now, BUDGET);
	}
}

static void
begin(struct cpu_use *u)
{
	*u = (struct cpu_use){ .windows = 0 };
	now = (struct cpu_use_reading){ .now_ns = 1000 * SECOND_NS };
}

static void
test_parts(void **state)
{
	struct cpu_use u;

	begin(&u);
	run(&u, 20, 2);
	assert_float_equal(u.percent, 2 * CPU_USE_PARTS, 1e-6);
	for (int i = 0; i < CPU_USE_PARTS; i++)
		assert_float_equal(u.parts[i], 2, 1e-6);
	/* A session that ended badly took its counts along. */
	now.parts_ns[CPU_USE_SAMPLES] = 0;
	run(&u, 6, 0);
	assert_float_equal(u.parts[CPU_USE_SAMPLES], 0, 1e-6);
	assert_in_range(u.parts[CPU_USE_REST], 0, 100);
}

static void
test_over(void **state)
{
	struct cpu_use u;
	uint64_t since_ns;

	begin(&u);
	/* The start, and one burst, are no habit. */
	run(&u, 6, 50);
	assert_false(u.exceeded);
	run(&u, 60, 0);
	run(&u, 5, 50);
	assert_false(u.exceeded);
	run(&u, 60, 0);
	assert_false(u.exceeded);
	since_ns = now.now_ns;
	run(&u, 15, 50);
	assert_true(u.exceeded);
	assert_in_range(u.over_ns, since_ns - CPU_USE_WINDOW_NS, since_ns + CPU_USE_WINDOW_NS);
	/* Nor is one lull its end, nor does it begin anew behind one. */
	since_ns = u.over_ns;
	run(&u, 5, 0);
	assert_true(u.exceeded);
	run(&u, 15, 50);
	assert_int_equal(u.over_ns, since_ns);
	run(&u, 15, 0);
	assert_false(u.exceeded);
	/* Another budget is judged anew, none at once. */
	run(&u, 20, 50);
	assert_true(u.exceeded);
	cpu_use_forget(&u);
	assert_false(u.exceeded);
	run(&u, 20, 50);
	assert_true(u.exceeded);
	now.now_ns += CPU_USE_WINDOW_NS;
	cpu_use_take(&u, &now, 0);
	assert_false(u.exceeded);
}

static void
test_users(void **state)
{
	struct cpu_use u;

	begin(&u);
	run(&u, 10, 0);
	now.users[0] = (struct capture_cpu){ 1000, 10 * PERCENT_NS };
	now.users[1] = (struct capture_cpu){ 0, 20 * PERCENT_NS };
	run(&u, 5, 0);
	assert_int_equal(u.users[0].uid, 1000);
	assert_float_equal(u.users[0].percent, 2, 1e-6);
	assert_float_equal(u.users[1].percent, 4, 1e-6);
	assert_float_equal(u.users[2].percent, 0, 1e-6);
	now.users[0].ns += 5 * PERCENT_NS;
	run(&u, 5, 0);
	assert_float_equal(u.users[0].percent, 1, 1e-6);
	assert_float_equal(u.users[1].percent, 0, 1e-6);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_over),
		cmocka_unit_test(test_users),
	};

	return cmocka_run_group_tests_name("cpu_use", tests, NULL, NULL);
}
