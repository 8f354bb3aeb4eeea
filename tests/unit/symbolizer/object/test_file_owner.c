/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whose files name whose programs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <unistd.h>

#include "symbolizer/object/file_owner.h"

static struct stat
file(uid_t uid, mode_t mode)
{
	return (struct stat){ .st_uid = uid, .st_mode = S_IFREG | mode };
}

static bool
may_name(struct stat st, struct stat other)
{
	return file_owner_may_name(&st, &other);
}

static void
test_names(void **state)
{
	const uid_t user = geteuid() + 1000, other = user + 1;

	(void)state;
	assert_true(may_name(file(0, 0644), file(0, 0755)));
	assert_true(may_name(file(0, 0644), file(user, 0755)));
	assert_true(may_name(file(geteuid(), 0644), file(user, 0755)));
	assert_true(may_name(file(user, 0644), file(user, 0755)));
	assert_false(may_name(file(user, 0644), file(other, 0755)));
	assert_false(may_name(file(user, 0644), file(0, 0755)));
	/* Anybody may have written it. */
	assert_false(may_name(file(0, 0666), file(user, 0755)));
	assert_false(may_name(file(0, 0666), file(0, 0755)));
	assert_false(may_name(file(user, 0666), file(user, 0755)));
	/* The program, too. */
	assert_true(may_name(file(user, 0666), file(user, 0777)));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
