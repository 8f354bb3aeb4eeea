/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <bsd/string.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes/unit_name.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void
expect(const char *path, const char *unit)
{
	size_t len;
	const char *got = unit_name_of_cgroup(path, &len);

	if (len != strlen(unit) || memcmp(got, unit, len) != 0)
		fail_msg("%s: %.*s, and not %s", path, (int)len, got, unit);
}

static void
units(void **state)
{
	(void)state;
	expect("/system.slice/nginx.service", "nginx.service");
	expect("/system.slice/nginx.service/worker/1", "nginx.service");
	expect("/system.slice/system-getty.slice/getty@tty1.service", "getty@tty1.service");
	expect("/init.scope", "init.scope");
	expect("/user.slice/user-1000.slice/session-3.scope", "session-3.scope");
	expect("/system.slice/tmp.mount", "tmp.mount");
	/* A name that begins like a file of the kernel's is escaped. */
	expect("/system.slice/_cgroup.service", "cgroup.service");
	/* Only slices, or nothing. */
	expect("/", "-.slice");
	expect("", "-.slice");
	expect("/user.slice", "user.slice");
	expect("/user.slice/user-1000.slice/", "user-1000.slice");
	expect("//system.slice//ssh.service", "ssh.service");
}

static void
users_units(void **state)
{
	(void)state;
	expect("/user.slice/user-1000.slice/user@1000.service/app.slice/firefox.service",
	       "firefox.service");
	expect("/user.slice/user-1000.slice/user@1000.service/init.scope", "init.scope");
	expect("/user.slice/user-1000.slice/user@1000.service/a.slice/a-b.slice/x@y.service/z",
	       "x@y.service");
	/* The manager itself, and what is no unit below it. */
	expect("/user.slice/user-1000.slice/user@1000.service", "user@1000.service");
	expect("/user.slice/user-1000.slice/user@1000.service/app.slice", "user@1000.service");
	expect("/user.slice/user-1000.slice/user@1000.service/mine", "user@1000.service");
	/* Services of others may have groups that are called like units. */
	expect("/system.slice/nspawn@a.service/payload/system.slice/ssh.service",
	       "nspawn@a.service");
}

static void
others(void **state)
{
	char long_name[400];

	(void)state;
	expect("/system.slice/docker-" ID ".scope", "docker-" ID ".scope");
	expect("/docker/" ID, "/docker/" ID);
	expect("/kubepods/burstable/pod1/" ID, "/kubepods/burstable/pod1/" ID);
	expect("[unknown]", "[unknown]");
	expect("/a.slice/b", "/a.slice/b");
	/* A suffix is no name. */
	expect("/.service", "/.service");
	expect("/..", "/..");
	memset(long_name, 'x', sizeof(long_name));
	long_name[0] = '/';
	(void)strlcpy(long_name + sizeof(long_name) - 9, ".service", 9);
	expect(long_name, long_name);
}

static void
shorten(void **state)
{
	char out[128];

	(void)state;
	assert_true(unit_name_shorten("/system.slice/docker-" ID ".scope", out, sizeof(out)));
	assert_string_equal(out, "/system.slice/docker-0123456789ab.scope");
	assert_true(unit_name_shorten("cri-containerd-" ID ".scope", out, sizeof(out)));
	assert_string_equal(out, "cri-containerd-0123456789ab.scope");
	assert_true(unit_name_shorten("/docker/" ID "/a/" ID, out, sizeof(out)));
	assert_string_equal(out, "/docker/0123456789ab/a/0123456789ab");
	/* Longer, shorter, and in capitals: none of theirs. */
	assert_false(unit_name_shorten("/x/" ID "0", out, sizeof(out)));
	assert_string_equal(out, "/x/" ID "0");
	assert_false(unit_name_shorten(&(ID)[1], out, sizeof(out)));
	assert_string_equal(out, &(ID)[1]);
	assert_false(unit_name_shorten("/system.slice/nginx.service", out, sizeof(out)));
	assert_string_equal(out, "/system.slice/nginx.service");
}

static void
shorten_in_place(void **state)
{
	char path[] = "/" ID "/" ID ID ID "0/tail";

	(void)state;
	assert_true(unit_name_shorten(path, path, sizeof(path)));
	assert_string_equal(path, "/0123456789ab/" ID ID ID "0/tail");
}

/* Nothing is written behind the end. */
static void
shorten_small(void **state)
{
	char out[20];

	(void)state;
	for (size_t size = 1; size < 18; size++) {
		memset(out, '#', sizeof(out));
		unit_name_shorten("/d/" ID "/tail", out, size);
		assert_int_equal(strlen(out), size - 1);
		assert_memory_equal(out, "/d/0123456789ab/tail", size - 1);
		assert_int_equal(out[size], '#');
	}
	out[0] = '#';
	unit_name_shorten("/d", out, 0);
	assert_int_equal(out[0], '#');
}

static void
slices(void **state)
{
	static const char *const of[][2] = {
		{ "/system.slice/nginx.service/worker", "system.slice" },
		{ "/user.slice/user-1.slice/user@1.service/app.slice/x.service", "app.slice" },
		{ "/user.slice/_a.slice", "a.slice" },
		{ "/docker/0123", "-.slice" },
		{ "/", "-.slice" },
	};
	size_t len;

	(void)state;
	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		const char *got = unit_name_slice_of_cgroup(of[i][0], &len);

		assert_int_equal(len, strlen(of[i][1]));
		assert_memory_equal(got, of[i][1], len);
	}
}

static void
patterns(void **state)
{
	static const char *const of[][3] = {
		{ "nginx", ".service", "nginx.service" },
		{ "nginx.socket", ".service", "nginx.socket" },
		{ "php*", ".service", "php*" },
		{ "getty@", ".service", "getty@*.service" },
		{ "getty@.service", ".service", "getty@*.service" },
		{ "getty@1", ".service", "getty@1.service" },
		{ "0123456789ab", ".service", "*0123456789ab*" },
		{ "0123456789a", ".service", "0123456789a.service" },
		{ "/a/b", ".service", "/a/b" },
		{ "user", ".slice", "user.slice" },
		{ "user-*", ".slice", "user-*.slice" },
		{ "user.slice", ".slice", "user.slice" },
		{ "nginx.service", ".slice", "nginx.service.slice" },
		{ "-", ".slice", "-.slice" },
		{ "0123456789ab", ".slice", "0123456789ab.slice" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		char *got = unit_name_pattern(of[i][0], of[i][1]);

		assert_string_equal(got, of[i][2]);
		free(got);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(units),	 cmocka_unit_test(slices),
		cmocka_unit_test(patterns),	 cmocka_unit_test(users_units),
		cmocka_unit_test(others),	 cmocka_unit_test(shorten),
		cmocka_unit_test(shorten_small), cmocka_unit_test(shorten_in_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
