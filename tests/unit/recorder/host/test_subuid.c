/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whose subordinate a user is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "recorder/host/subuid.h"

static char path[64];

static void
put(const char *text)
{
	FILE *f;

	/* Another file, whatever the clock says. */
	unlink(path);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static void
test_ranges(void **state)
{
	(void)state;
	put("alice:100000:65536\n1001:165536:65536\n"
	    "# a comment\n\nnonsense:::\nbob:4294967290:100\nnobody:300000:0\ncarol:200000:x\n"
	    "dave:10:5\neve:400000:1\nfrank:500000:2\n");
	assert_int_equal(subuid_first(0), 0);
	assert_int_equal(subuid_first(1001), 1001);
	assert_int_equal(subuid_first(99999), 99999);
	assert_int_equal(subuid_first(100000), 100000);
	assert_int_equal(subuid_first(165535), 100000);
	assert_int_equal(subuid_first(165536), 165536);
	assert_int_equal(subuid_first(231071), 165536);
	assert_int_equal(subuid_first(231072), 231072);
	assert_int_equal(subuid_first(14), 10);
	assert_int_equal(subuid_first(15), 15);
	assert_int_equal(subuid_first(300000), 300000);
	assert_int_equal(subuid_first(400000), 400000);
	assert_int_equal(subuid_first(400001), 400001);
	assert_int_equal(subuid_first(500001), 500000);
	assert_int_equal(subuid_first(4294967295u), 4294967295u);
}

/* Who has a range is found in /etc/passwd, or is a number; nobody is root's subordinate. */
static void
test_owners(void **state)
{
	char text[256];
	const struct passwd *daemon = getpwnam("daemon");

	(void)state;
	assert_non_null(daemon);
	(void)snprintf(text, sizeof(text),
		       "%s:100000:65536\n1001:165536:65536\nroot:300000:10\n%s:500000:10\n"
		       "no-such-user-%0100d:600000:10\nno-such-user:700000:10\n",
		       daemon->pw_name, daemon->pw_name, 0);
	put(text);
	assert_int_equal(subuid_owner(0), 0);
	assert_int_equal(subuid_owner(1001), 1001);
	assert_int_equal(subuid_owner(99999), 99999);
	assert_int_equal(subuid_owner(100000), daemon->pw_uid);
	assert_int_equal(subuid_owner(165535), daemon->pw_uid);
	assert_int_equal(subuid_owner(500009), daemon->pw_uid);
	assert_int_equal(subuid_owner(165536), 1001);
	assert_int_equal(subuid_owner(231072), 231072);
	assert_int_equal(subuid_owner(300005), 300005);
	assert_int_equal(subuid_owner(600005), 600000);
	assert_int_equal(subuid_owner(700005), 700000);
	put("bob:0:100000\n");
	assert_int_equal(subuid_owner(0), 0);
	unlink(path);
}

static void
test_followed(void **state)
{
	(void)state;
	put("alice:100000:10\n");
	assert_int_equal(subuid_first(100005), 100000);
	put("alice:100002:10000\n");
	assert_int_equal(subuid_first(100005), 100002);
	unlink(path);
	assert_int_equal(subuid_first(100005), 100005);
	put("alice:100000:10\n");
	assert_int_equal(subuid_first(100005), 100000);
	unlink(path);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_owners),
		cmocka_unit_test(test_followed),
	};

	snprintf(path, sizeof(path), "/tmp/spoor-subuid-%d", (int)getpid());
	subuid_path(path);
	return cmocka_run_group_tests_name("subuid", tests, NULL, NULL);
}
