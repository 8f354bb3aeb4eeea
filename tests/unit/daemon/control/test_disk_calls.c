/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How many calls may wait for a disk that answers nobody. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "daemon/control/control.h"
#include "daemon/control/disk_calls.h"
#include "daemon/process/chores.h"

static int hold[2];
static unsigned int answered;

static void
run_held(struct chore *one)
{
	char c;

	(void)one;
	assert_int_equal(read(hold[0], &c, 1), 1);
}

static void
done(struct chore *one)
{
	(void)one;
}

static void
answer(void *arg, void *client, const char *error, json_t *parameters)
{
	(void)arg;
	assert_null(client);
	assert_non_null(error);
	json_decref(parameters);
	answered++;
}

/* One that the thread gets to before it is told that the daemon ends. */
static void
refuse(struct method_call *call)
{
	method_call_fail(call, -EIO, "");
}

/* Of so many calls by a user, how many may wait? */
static unsigned int
ask(struct disk_calls *d, uid_t uid, unsigned int calls)
{
	struct control_context context = { .config = NULL };
	unsigned int taken = 0;

	for (unsigned int i = 0; i < calls; i++) {
		struct method_call call = { .context = &context, .uid = uid, .run = refuse };
		struct varlink_call message = { .message = json_object() };
		int r = disk_calls_add(d, &call, &message);

		if (r == 0)
			assert_null(message.message);
		else
			assert_int_equal(r, -EBUSY);
		taken += r == 0;
		json_decref(message.message);
	}
	return taken;
}

/* Users have a limit each and one together; root has one beside them, and takes nobody's room. */
static void
test_room(void **state)
{
	struct chore held = { .run = run_held, .done = done };
	int wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	struct chores *chores;
	struct disk_calls *d;

	(void)state;
	assert_int_equal(pipe(hold), 0);
	assert_int_equal(chores_new(wake_fd, &chores), 0);
	d = disk_calls_new(chores, answer, NULL);
	assert_non_null(d);
	chores_add(chores, &held);
	assert_int_equal(ask(d, 0, 100), 100);
	for (uid_t uid = 1; uid <= 4; uid++)
		assert_int_equal(ask(d, uid, 65), 64);
	assert_int_equal(ask(d, 5, 1), 0);
	assert_int_equal(ask(d, 0, 157), 156);
	disk_calls_leave(d, NULL);
	assert_int_equal(write(hold[1], "", 1), 1);
	/* All are answered, be they dropped or run. */
	chores_close(chores, NULL, NULL);
	assert_int_equal(answered, 512);
	disk_calls_free(d);
	close(wake_fd);
	close(hold[0]);
	close(hold[1]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_room),
	};

	return cmocka_run_group_tests_name("disk_calls", tests, NULL, NULL);
}
