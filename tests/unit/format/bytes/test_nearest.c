/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <bsd/string.h>
#include <string.h>

#include "format/bytes/nearest.h"

static void
distances(void **state)
{
	(void)state;
	assert_int_equal(nearest_distance("nginx", "nginx", 3), 0);
	assert_int_equal(nearest_distance("NGINX", "nginx", 3), 0);
	assert_int_equal(nearest_distance("ngnix", "nginx", 3), 1);
	assert_int_equal(nearest_distance("ngix", "nginx", 3), 1);
	assert_int_equal(nearest_distance("nginxx", "nginx", 3), 1); /* it is in it */
	assert_int_equal(nearest_distance("nhinz", "nginx", 3), 2);
	assert_int_equal(nearest_distance("malloc", "__libc_malloc", 3), 1);
	assert_int_equal(nearest_distance("kitten", "sitting", 3), 3);
	assert_int_equal(nearest_distance("kitten", "sitting", 2), 3);
	assert_int_equal(nearest_distance("bash", "python3", 2), 3);
	assert_int_equal(nearest_distance("", "ab", 3), 2);
	assert_int_equal(nearest_distance("ab", "", 3), 2);
	/* Two letters are in everything. */
	assert_true(nearest_distance("cc", "gcc-12-wrapper", 3) > 3);
}

/* Each is its own distance away both ways, and one operation is one. */
static void
operations(void **state)
{
	static const char *const words[] = { "systemd", "spoord", "kworker", "python3", "a" };
	char changed[16];

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		for (size_t k = 0; words[i][k]; k++) {
			(void)strlcpy(changed, words[i], sizeof(changed));
			changed[k] = '#';
			assert_int_equal(nearest_distance(changed, words[i], 3), 1);
			assert_int_equal(nearest_distance(words[i], changed, 3), 1);
		}
}

static void
long_names(void **state)
{
	char name[1000];

	(void)state;
	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(nearest_distance("xyz", name, 5), 6);
	assert_int_equal(nearest_distance("xxx", name, 5), 1);
	memcpy(name, "needle", 6);
	assert_int_equal(nearest_distance("needle", name, 5), 1);
	name[64] = '\0';
	assert_int_equal(nearest_distance(name + 1, name, 5), 1);
}

static const char *
best(const char *typed, const char *const *names)
{
	struct nearest n;

	nearest_init(&n, typed);
	for (; *names; names++)
		nearest_offer(&n, *names);
	return n.best ? n.best : "none";
}

static void
best_of_names(void **state)
{
	static const char *const names[] = { "all-cpus", "cpu",	      "call-graph", "freq",
					     "max-size", "max-stack", NULL };

	(void)state;
	assert_string_equal(best("callgraph", names), "call-graph");
	assert_string_equal(best("frequency", names), "freq");
	/* In two of them: the one that is not much longer. */
	assert_string_equal(best("cpus", names), "cpu");
	assert_string_equal(best("max-stakc", names), "max-stack");
	assert_string_equal(best("kallsyms", names), "none");
	assert_string_equal(best("", names), "none");
	assert_string_equal(best("x", names), "none");
	assert_string_equal(best("m", names), "max-size");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(distances),
		cmocka_unit_test(operations),
		cmocka_unit_test(long_names),
		cmocka_unit_test(best_of_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
