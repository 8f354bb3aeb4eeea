/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The watchdog's ping over a real notify socket, and what it takes for one.
 */
#include "daemon/process/watchdog.h"

#include <bsd/string.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#define SECOND_NS UINT64_C(1000000000)

static void
test_counter(void **state)
{
	struct watchdog_counter c = { 0 };
	uint64_t now = 5 * SECOND_NS;

	/* Moves each second. */
	for (uint64_t i = 0; i < 100; i++, now += SECOND_NS)
		assert_true(watchdog_moves(&c, i, now));
	/* Stands still. */
	for (uint64_t i = 1; i < 15; i++, now += SECOND_NS)
		assert_true(watchdog_moves(&c, 99, now));
	for (int i = 0; i < 100; i++, now += SECOND_NS)
		assert_false(watchdog_moves(&c, 99, now));
	/* And goes on. */
	assert_true(watchdog_moves(&c, 100, now));
}

static void
test_counter_at_zero(void **state)
{
	struct watchdog_counter c = { 0 };

	assert_true(watchdog_moves(&c, 0, SECOND_NS));
	assert_false(watchdog_moves(&c, 0, SECOND_NS + WATCHDOG_STUCK_NS));
}

static unsigned int
pings(int fd)
{
	unsigned int nr = 0;
	char text[64];
	ssize_t n;

	while ((n = recv(fd, text, sizeof(text) - 1, MSG_DONTWAIT)) > 0) {
		text[n] = '\0';
		nr += strstr(text, "WATCHDOG=1") != NULL;
	}
	return nr;
}

static void
test_pings(void **state)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	char dir[] = "/tmp/spoor-watchdog.XXXXXX", pid[24];
	struct watchdog w;
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	assert_non_null(mkdtemp(dir));
	snprintf(name.sun_path, sizeof(name.sun_path), "%s/notify", dir);
	assert_return_code(bind(fd, (struct sockaddr *)&name, sizeof(name)), 0);
	snprintf(pid, sizeof(pid), "%d", getpid());
	setenv("NOTIFY_SOCKET", name.sun_path, 1);
	setenv("WATCHDOG_USEC", "30000000", 1);
	setenv("WATCHDOG_PID", pid, 1);

	watchdog_init(&w);
	assert_true(w.interval_ns > 0 && w.interval_ns <= 15 * SECOND_NS);
	for (uint64_t s = 100; s < 160; s++)
		watchdog_tick(&w, true, s * SECOND_NS);
	assert_uint_in_range(pings(fd), 4, 10);
	for (uint64_t s = 160; s < 220; s++)
		watchdog_tick(&w, false, s * SECOND_NS);
	assert_int_equal(pings(fd), 0);
	watchdog_tick(&w, true, 220 * SECOND_NS);
	assert_int_equal(pings(fd), 1);

	unlink(name.sun_path);
	rmdir(dir);
	close(fd);
}

static void
test_nobody_listens(void **state)
{
	struct watchdog w;

	unsetenv("WATCHDOG_USEC");
	watchdog_init(&w);
	assert_int_equal(w.interval_ns, 0);
	watchdog_tick(&w, true, SECOND_NS);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counter),
		cmocka_unit_test(test_counter_at_zero),
		cmocka_unit_test(test_pings),
		cmocka_unit_test(test_nobody_listens),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
