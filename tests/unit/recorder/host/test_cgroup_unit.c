/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Units of systemd by name, in a tree of groups as systemd makes it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recorder/host/cgroup.h"
#include "recorder/host/cgroup_unit.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define U1 "/user.slice/user-1000.slice/user@1000.service"
#define U2 "/user.slice/user-1001.slice/user@1001.service"

static char root[256];

/* Parents first. */
static const char *const groups[] = {
	"/system.slice",
	"/system.slice/nginx.service",
	"/system.slice/nginx.service/worker",
	"/system.slice/postgresql@15-main.service",
	"/system.slice/dbus.service",
	"/system.slice/_cgroup.service",
	"/system.slice/docker-" ID ".scope",
	"/system.slice/docker-" ID ".scope/system.slice",
	"/system.slice/docker-" ID ".scope/system.slice/cron.service",
	"/system.slice/system-getty.slice",
	"/system.slice/system-getty.slice/getty@tty1.service",
	"/system.slice/system-getty.slice/getty@tty2.service",
	"/user.slice",
	"/user.slice/user-1000.slice",
	U1,
	U1 "/app.slice",
	U1 "/app.slice/dbus.service",
	U1 "/app.slice/firefox.service",
	U1 "/session.slice",
	U1 "/session.slice/e\033[31m\xffvil",
	U1 "/session.slice/e\033[31m\xffvil/odd.service",
	"/user.slice/user-1001.slice",
	U2,
	U2 "/app.slice",
	U2 "/app.slice/dbus.service",
	U2 "/app.slice/mako.service",
	U2 "/app.slice/twin.service",
	U1 "/app.slice/twin.service",
};

#define GROUPS (sizeof(groups) / sizeof(groups[0]))

static int
setup(void **state)
{
	char mounted[200], path[1024];

	(void)state;
	if (cgroup_root(NULL, mounted, sizeof(mounted)) < 0)
		return 0;
	snprintf(root, sizeof(root), "%s/spoor-units.%d", mounted, (int)getpid());
	if (mkdir(root, 0755) < 0) {
		root[0] = '\0';
		return 0;
	}
	for (size_t i = 0; i < GROUPS; i++) {
		snprintf(path, sizeof(path), "%s%s", root, groups[i]);
		if (mkdir(path, 0755) < 0)
			return -1;
	}
	return 0;
}

static int
teardown(void **state)
{
	char path[1024];

	(void)state;
	for (size_t i = GROUPS; *root && i-- > 0;) {
		snprintf(path, sizeof(path), "%s%s", root, groups[i]);
		rmdir(path);
	}
	return *root ? rmdir(root) : 0;
}

static void
need_tree(void)
{
	if (*root)
		return;
	print_message("skipped: no control group can be made\n");
	skip();
}

static void
found(const char *name, const char *type, const char *wanted, const char *wanted_words)
{
	char path[1024], words[CGROUP_UNIT_WORDS];
	int r = cgroup_unit_find(root, name, type, path, sizeof(path), words);

	if (r < 0)
		fail_msg("%s: %d, %s", name, r, words);
	assert_string_equal(path, wanted);
	assert_string_equal(words, wanted_words);
}

static void
refused(const char *name, const char *type, int error, const char *wanted)
{
	char path[1024] = "as it was", words[CGROUP_UNIT_WORDS];

	assert_int_equal(cgroup_unit_find(root, name, type, path, sizeof(path), words), error);
	assert_string_equal(words, wanted);
	assert_string_equal(path, "as it was");
}

static void
services(void **state)
{
	(void)state;
	need_tree();
	found("nginx", ".service", "/system.slice/nginx.service", "");
	found("nginx.service", ".service", "/system.slice/nginx.service", "");
	found("getty@tty1", ".service", "/system.slice/system-getty.slice/getty@tty1.service", "");
	found("post*", ".service", "/system.slice/postgresql@15-main.service", "");
	found("postgresql@", ".service", "/system.slice/postgresql@15-main.service", "");
	found("cgroup", ".service", "/system.slice/_cgroup.service", "");
	found("0123456789ab", ".service", "/system.slice/docker-" ID ".scope", "");
	/* Of a user, and of a container that has a systemd. */
	found("firefox", ".service", U1 "/app.slice/firefox.service", "");
	found("cron", ".service", "/system.slice/docker-" ID ".scope/system.slice/cron.service",
	      "");
	found("odd", ".service", U1 "/session.slice/e\033[31m\xffvil/odd.service", "");
	/* The host's own goes before those of users, which are told. */
	found("dbus", ".service", "/system.slice/dbus.service",
	      "/system.slice/dbus.service, and not " U1 "/app.slice/dbus.service and " U2
	      "/app.slice/dbus.service");
	/* A path is one. */
	found("/a/b", ".service", "/a/b", "");
}

static void
slices(void **state)
{
	(void)state;
	need_tree();
	/* What is below one of that name belongs to it. */
	found("system", ".slice", "/system.slice", "");
	found("user-1000", ".slice", "/user.slice/user-1000.slice", "");
	found("user-*1", ".slice", "/user.slice/user-1001.slice", "");
	found("-", ".slice", "/", "");
	refused("nginx.service", ".slice", -ENOENT,
		"no control group is of nginx.service.slice: it does not run here");
}

static void
none(void **state)
{
	(void)state;
	need_tree();
	refused("ngnix", ".service", -ENOENT,
		"no control group is of ngnix.service: it does not run here; did you mean "
		"nginx.service?");
	refused("sql", ".service", -ENOENT,
		"no control group is of sql.service: it does not run here; did you mean "
		"postgresql@15-main.service?");
	refused("systme", ".slice", -ENOENT,
		"no control group is of systme.slice: it does not run here; did you mean "
		"system.slice?");
	refused("apache2", ".service", -ENOENT,
		"no control group is of apache2.service: it does not run here");
	refused("a\033b", ".service", -ENOENT,
		"no control group is of a?b.service: it does not run here");
	refused("", ".service", -EINVAL, "a unit has a name");
	refused("a,b", ".service", -EINVAL,
		"one unit alone: events of several control groups are -G A,B");
}

static void
several(void **state)
{
	(void)state;
	need_tree();
	refused("getty@", ".service", -ENOTUNIQ,
		"several are called getty@*.service: "
		"/system.slice/system-getty.slice/getty@tty1.service and "
		"/system.slice/system-getty.slice/getty@tty2.service; --cgroup takes one of them");
	refused("twin", ".service", -ENOTUNIQ,
		"several are called twin.service: " U1 "/app.slice/twin.service and " U2
		"/app.slice/twin.service; --cgroup takes one of them");
}

static void
hinted(int error, const char *argument, const char *wanted)
{
	char words[CGROUP_UNIT_WORDS];

	cgroup_unit_hint(root, error, argument, words);
	assert_string_equal(words, wanted);
}

static void
hints(void **state)
{
	(void)state;
	need_tree();
	hinted(-ENOENT, "nginx",
	       "; that of the unit is /system.slice/nginx.service (--unit nginx)");
	hinted(-ENOENT, "/system.slice/nginx",
	       "; that of the unit is /system.slice/nginx.service (--unit nginx)");
	hinted(-ENOENT, "user-1001",
	       "; that of the slice is /user.slice/user-1001.slice (--slice user-1001)");
	hinted(-ENOENT, "wroker", "; did you mean /system.slice/nginx.service/worker?");
	hinted(-ENOENT, "nobody", "");
	hinted(-ENOENT, "*", "");
	hinted(-ENOENT, "", "");
	hinted(-ENOTUNIQ, "twin.service",
	       ": " U1 "/app.slice/twin.service and " U2 "/app.slice/twin.service");
	hinted(-EACCES, "nginx", "");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(services), cmocka_unit_test(slices), cmocka_unit_test(none),
		cmocka_unit_test(several),  cmocka_unit_test(hints),
	};

	return cmocka_run_group_tests_name("cgroup_unit", tests, setup, teardown);
}
