/* SPDX-License-Identifier: GPL-2.0-or-later */
/* In which order chores are done. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <ctype.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "daemon/process/chores.h"

#include "daemon/process/watchdog.h"
#include "recorder/host/host.h"

#define CHORES 32
#define PARTS 3 /* of a chore with a capital name but H */

struct named {
	struct chore chore;
	char name;
	unsigned int parts;
};

static struct chores *chores;
static int wake_fd, hold[2], entered[2];
static bool stepped; /* each is held, and tells that it has begun */
static struct named all[CHORES];
static size_t nr, nr_ran, nr_done;
static char ran[CHORES + 1];

static void
run(struct chore *one)
{
	ran[nr_ran++] = ((struct named *)one)->name;
}

static void
run_part(struct chore *one)
{
	run(one);
	one->again = ++((struct named *)one)->parts < PARTS;
}

static void
run_held(struct chore *one)
{
	char c;

	assert_int_equal(read(hold[0], &c, 1), 1);
	run(one);
}

static void
run_stepped(struct chore *one)
{
	assert_int_equal(write(entered[1], &((struct named *)one)->name, 1), 1);
	run_held(one);
}

static void
run_part_held(struct chore *one)
{
	run_stepped(one);
	one->again = ++((struct named *)one)->parts < PARTS;
}

/* One with Z for a name is put off once. */
static uint64_t put_off_by_ns, due_ns;
static _Atomic bool is_put_off;

static void
run_put_off(struct chore *one)
{
	run(one);
	if (((struct named *)one)->parts++) {
		assert_true(host_now_ns() >= due_ns);
		return;
	}
	due_ns = host_now_ns() + put_off_by_ns;
	one->again = true;
	one->again_ns = due_ns;
	is_put_off = true;
}

static void
done(struct chore *one)
{
	(void)one;
	nr_done++;
}

static int
setup(void **state)
{
	(void)state;
	nr = nr_ran = nr_done = 0;
	memset(ran, 0, sizeof(ran));
	wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	stepped = false;
	return pipe(hold) | pipe(entered) | chores_new(wake_fd, &chores);
}

static int
teardown(void **state)
{
	(void)state;
	chores_close(chores, NULL, NULL);
	return close(wake_fd) | close(hold[0]) | close(hold[1]) | close(entered[0]) |
		close(entered[1]);
}

/* uid -1: the daemon's own. */
static void
add(char name, uid_t uid)
{
	struct named *one = &all[nr++];

	*one = (struct named){ .chore = { .run = run, .done = done }, .name = name };
	if (name == 'H')
		one->chore.run = run_held;
	else if (stepped)
		one->chore.run = run_stepped;
	if (name != 'H' && isupper(name))
		one->chore.run = stepped ? run_part_held : run_part;
	if (name == 'Z')
		one->chore.run = run_put_off;
	one->chore.for_client = uid != (uid_t)-1;
	one->chore.uid = uid;
	chores_add(chores, &one->chore);
}

/* What is asked for while the first one is held: each character by whom it is named after. */
static void
assert_order(const char *asked, const char *expected)
{
	struct pollfd p = { .fd = wake_fd, .events = POLLIN };

	add('H', (uid_t)-1);
	for (const char *c = asked; *c; c++)
		add(*c, *c == '*' ? (uid_t)-1 : (uid_t)tolower(*c));
	assert_int_equal(write(hold[1], "", 1), 1);
	while (nr_done < nr) {
		assert_int_equal(poll(&p, 1, 10000), 1);
		chores_dispatch(chores);
	}
	assert_string_equal(ran + 1, expected);
}

static void
test_turns(void **state)
{
	(void)state;
	assert_order("aaaaaaaab", "abaaaaaaa");
}

static void
test_three_users(void **state)
{
	(void)state;
	assert_order("aaaabbbccc", "abcabcabca");
}

/* What is done in parts holds up nobody but the user who asked, whose chores stay in their order. */
static void
test_parts(void **state)
{
	(void)state;
	assert_order("Aabcb*", "*AbcbAAa");
}

/* What is not to be done yet keeps no other waiting, not even of its user. */
static void
test_put_off(void **state)
{
	(void)state;
	put_off_by_ns = 200 * UINT64_C(1000000);
	assert_order("Zzbz*", "*ZbzzZ");
}

/* To wait for that is no sign that the thread hangs. The daemon ends before it is due. */
static void
test_put_off_for_long(void **state)
{
	bool alive = false;

	(void)state;
	put_off_by_ns = 3600 * UINT64_C(1000000000);
	is_put_off = false;
	add('Z', 'z');
	for (int i = 0; !is_put_off && i < 60000; i++)
		usleep(1000);
	assert_true(is_put_off);
	/* As soon as it has been put back. */
	for (uint64_t i = 1; !alive && i < 60000; i++) {
		const uint64_t ns = i * 4 * WATCHDOG_STUCK_NS;

		alive = chores_alive(chores, ns) &&
			chores_alive(chores, ns + 2 * WATCHDOG_STUCK_NS);
		usleep(1000);
	}
	assert_true(alive);
	assert_true(chores_close(chores, NULL, NULL));
	chores = NULL;
	assert_int_equal(nr_done, 1);
	assert_true(all[0].chore.dropped);
}

/* Each part is progress; one that hangs is none. */
static void
test_parts_move(void **state)
{
	const uint64_t step_ns = WATCHDOG_STUCK_NS + 1;
	char c;

	(void)state;
	stepped = true;
	add('A', 'a');
	assert_int_equal(read(entered[0], &c, 1), 1);
	assert_true(chores_alive(chores, step_ns));
	for (uint64_t i = 2; i <= PARTS; i++) {
		assert_int_equal(write(hold[1], "", 1), 1);
		assert_int_equal(read(entered[0], &c, 1), 1);
		assert_true(chores_alive(chores, i * step_ns));
	}
	assert_false(chores_alive(chores, (PARTS + 1) * step_ns));
	assert_int_equal(write(hold[1], "", 1), 1);
}

static bool
let_one_go(void *arg)
{
	(void)arg;
	return write(hold[1], "", 1) == 1;
}

/* The daemon ends while the first part is done: there is no next one. */
static void
test_parts_are_dropped(void **state)
{
	char c;

	(void)state;
	stepped = true;
	add('A', 'a');
	assert_int_equal(read(entered[0], &c, 1), 1);
	assert_true(chores_close(chores, let_one_go, NULL));
	chores = NULL;
	assert_int_equal(nr_done, 1);
	assert_int_equal(all[0].parts, 1);
	assert_true(all[0].chore.dropped);
}

static void
test_own_come_first(void **state)
{
	(void)state;
	assert_order("aab*a*", "**abaa");
}

/* Who comes later has the next turn, as everybody has, and not the ones that it missed. */
static void
test_nothing_is_saved_up(void **state)
{
	struct pollfd p = { .fd = wake_fd, .events = POLLIN };

	(void)state;
	add('a', 'a');
	add('a', 'a');
	add('a', 'a');
	while (nr_done < nr) {
		assert_int_equal(poll(&p, 1, 10000), 1);
		chores_dispatch(chores);
	}
	memset(ran, 0, sizeof(ran));
	nr_ran = 0;
	assert_order("abbab", "abbab");
}

/* Two who ask again while the next one is served do not keep a third one's second call waiting. */
static void
test_nobody_waits_for_ever(void **state)
{
	char now, before = 'H';
	unsigned int calls_of_c = 0;

	(void)state;
	stepped = true;
	add('H', (uid_t)-1);
	for (const char *c = "abcc"; *c; c++)
		add(*c, (uid_t)*c);
	assert_int_equal(write(hold[1], "", 1), 1);
	for (int i = 0; i < 12; i++) {
		assert_int_equal(read(entered[0], &now, 1), 1);
		if (before == 'a' || before == 'b')
			add(before, (uid_t)before);
		calls_of_c += now == 'c';
		before = now;
		assert_int_equal(write(hold[1], "", 1), 1);
	}
	assert_int_equal(calls_of_c, 2);
	/* Those that are left are not held. */
	assert_int_equal(write(hold[1], "  ", 2), 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_turns, setup, teardown),
		cmocka_unit_test_setup_teardown(test_three_users, setup, teardown),
		cmocka_unit_test_setup_teardown(test_parts, setup, teardown),
		cmocka_unit_test_setup_teardown(test_put_off, setup, teardown),
		cmocka_unit_test_setup_teardown(test_put_off_for_long, setup, teardown),
		cmocka_unit_test_setup_teardown(test_parts_move, setup, teardown),
		cmocka_unit_test_setup_teardown(test_parts_are_dropped, setup, teardown),
		cmocka_unit_test_setup_teardown(test_own_come_first, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nothing_is_saved_up, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nobody_waits_for_ever, setup, teardown),
	};

	return cmocka_run_group_tests_name("chores", tests, NULL, NULL);
}
