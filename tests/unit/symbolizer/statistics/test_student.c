/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>

#include "symbolizer/statistics/student.h"

/* Two-sided, from the tables of textbooks (NIST/SEMATECH e-Handbook, 1.3.6.7.2). */
static const struct {
	double df, p, t;
} known[] = {
	{ 1, 0.10, 6.314 },   { 1, 0.05, 12.706 }, { 1, 0.002, 318.309 }, { 2, 0.05, 4.303 },
	{ 5, 0.01, 4.032 },   { 7, 0.05, 2.365 },  { 10, 0.05, 2.228 },	  { 10, 0.002, 4.144 },
	{ 30, 0.01, 2.750 },  { 30, 0.20, 1.310 }, { 100, 0.05, 1.984 },  { 1e6, 0.05, 1.960 },
	{ 1e6, 0.01, 2.576 },
};

static void
tables_agree(void **state)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		const double t = student_t(known[i].p, known[i].df);

		assert_true(fabs(t - known[i].t) < 6e-4);
		assert_true(fabs(student_p(known[i].t, known[i].df) - known[i].p) <
			    1e-3 * known[i].p + 2e-5);
	}
}

/* df 1 and 2 have closed forms, also far out. */
static void
closed_forms(void **state)
{
	for (double t = 0.001; t < 1e9; t *= 3) {
		const double cauchy = 2 / M_PI * atan2(1, t);
		const double two = 2 / ((2 + t * t) * (1 + t / sqrt(2 + t * t)));

		assert_true(fabs(student_p(t, 1) / cauchy - 1) < 1e-8);
		assert_true(fabs(student_p(t, 2) / two - 1) < 1e-8);
		assert_true(student_p(-t, 2) == student_p(t, 2));
	}
	assert_true(student_p(0, 3) == 1);
	assert_true(student_p(INFINITY, 3) == 0);
}

/* Degrees of freedom that are not whole lie between those that are. */
static void
between(void **state)
{
	for (double df = 1; df < 60; df += 0.25)
		assert_true(student_p(3, df) > student_p(3, df + 0.25));
	for (double p = 0.5; p > 1e-9; p /= 3)
		assert_true(fabs(student_p(student_t(p, 12.5), 12.5) / p - 1) < 1e-8);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_agree),
		cmocka_unit_test(closed_forms),
		cmocka_unit_test(between),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
