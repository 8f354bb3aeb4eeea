/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CPUs that a process may run on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sched.h>

#include "symbolizer/object/cpus_here.h"

static void
test_affinity(void **state)
{
	const int cpu = sched_getcpu();
	const size_t all = cpus_here(CPU_SETSIZE);
	cpu_set_t before, one;

	assert_true(all >= 1);
	assert_int_equal(cpus_here(1), 1);
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	assert_int_equal(all, CPU_COUNT(&before));
	CPU_ZERO(&one);
	CPU_SET((size_t)cpu, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	assert_int_equal(cpus_here(8), 1);
	assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
	assert_int_equal(cpus_here(CPU_SETSIZE), all);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_affinity),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
