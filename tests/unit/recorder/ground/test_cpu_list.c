/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/ground/cpu_list.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const struct {
	const char *text, *want; /* want NULL: refused with err */
	int err;
} rows[] = {
	{ "0", "0", 0 },
	{ "0\n", "0", 0 },
	{ "0-3", "0 1 2 3", 0 },
	{ "0-1,7", "0 1 7", 0 },
	{ "7,0-1", "0 1 7", 0 },
	{ "1,1,1-2", "1 2", 0 },
	{ "63-65", "63 64 65", 0 },
	{ "65535", "65535", 0 },
	{ "65536", NULL, -ERANGE },
	{ "0-99999999999999999999", NULL, -ERANGE },
	{ "", NULL, -EINVAL },
	{ "\n", NULL, -EINVAL },
	{ "3-1", NULL, -EINVAL },
	{ "1-", NULL, -EINVAL },
	{ "-1", NULL, -EINVAL },
	{ "1,", NULL, -EINVAL },
	{ ",1", NULL, -EINVAL },
	{ "1 2", NULL, -EINVAL },
	{ "a", NULL, -EINVAL },
	{ "1-2-3", NULL, -EINVAL },
};

static void
test_parse(void **state)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct cpu_list l = { 0 };
		char got[256] = "";
		size_t n = 0;

		assert_int_equal(cpu_list_parse(rows[i].text, &l), rows[i].err);
		for (size_t k = 0; k < l.nr; k++) {
			n += (size_t)snprintf(got + n, sizeof(got) - n, "%s%u", k ? " " : "",
					      l.cpus[k]);
			assert_true(cpu_list_has(&l, l.cpus[k]));
		}
		assert_string_equal(got, rows[i].want ? rows[i].want : "");
		assert_false(cpu_list_has(&l, 40));
		cpu_list_done(&l);
	}
}

static void
test_online(void **state)
{
	struct cpu_list l;

	assert_int_equal(cpu_list_read("online", &l), 0);
	assert_true(l.nr > 0);
	cpu_list_done(&l);
	assert_int_equal(cpu_list_read("no such file", &l), -ENOENT);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_online),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
