/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <math.h>

#include "symbolizer/statistics/beta.h"

/* By scipy 1.10: scipy.special.betainc(a, b, x). */
static const struct {
	double a, b, x, share;
} known[] = {
	{ 2, 3, 0.4, 0.5248 },
	{ 0.5, 0.5, 0.1, 0.2048327646991335 },
	{ 10, 1, 0.9, 0.3486784401000001 },
	{ 250, 270, 0.5, 0.8099928274001978 },
	{ 10000, 10500, 0.49, 0.7352725623343861 },
	{ 3.5, 120.25, 0.01, 0.06860889074417453 },
	{ 1, 20, 0.5, 0.9999990463256836 },
	{ 1590, 1021, 0.5, 2.493849971924575e-29 },
};

static void
values_agree(void **state)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		assert_true(fabs(beta_share(known[i].a, known[i].b, known[i].x) / known[i].share -
				 1) < 1e-9);
	assert_true(beta_share(3, 4, 0) == 0 && beta_share(3, 4, 1) == 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_agree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
