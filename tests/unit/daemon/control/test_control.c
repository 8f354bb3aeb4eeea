/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <netinet/in.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>

#include <cmocka.h>

#include "daemon/control/client.h"
#include "daemon/control/control.h"
#include "daemon/process/chores.h"
#include "tests/lab/fake_streams.h"
#include "tests/lab/need_root.h"

#define S UINT64_C(1000000000)

static struct control *control;
static struct control_context context;
static struct chores *chores;
static int wake_fd; /* of the chores */
static char path[108];
static uint64_t now; /* what the control socket takes for the time */

static int
setup(void **state)
{
	char text[256] = "";

	fake_reset();
	now = 100 * S;
	snprintf(path, sizeof(path), "/tmp/spoor-test-%d.socket", (int)getpid());
	wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (chores_new(wake_fd, &chores) < 0)
		return -1;
	fake.chores = chores;
	context = (struct control_context){ .config = fake_config(path), .reload = fake_reload };
	if (control_open(&context, -1, &control, text, sizeof(text)) < 0) {
		print_error("%s\n", text);
		return -1;
	}
	return 0;
}

static int
teardown(void **state)
{
	chores_close(chores, NULL, NULL);
	control_close(control);
	control = NULL;
	close(wake_fd);
	fake_reset();
	return access(path, F_OK) == 0 ? -1 : 0;
}

static int
connect_to(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	assert_true(fd >= 0);
	(void)strlcpy(address.sun_path, path, sizeof(address.sun_path));
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

/* One round of what the main loop does. */
static void
dispatch(void)
{
	control_dispatch(control, now);
	(void)fake_begin();
	control_reloaded(control, fake.reloads, fake.error, "the fake fails");
}

/* Rounds until there is nothing more to do but for the chores. */
static void
turn_control(void)
{
	struct pollfd p = { .fd = control_fd(control), .events = POLLIN };

	for (int i = 0; i < 100000 && poll(&p, 1, 0) > 0; i++)
		dispatch();
	assert_int_equal(poll(&p, 1, 0), 0);
}

static bool chores_idle;

static void
nothing(struct chore *one)
{
	(void)one;
}

static void
on_idle(struct chore *one)
{
	(void)one;
	chores_idle = true;
}

/* Waits until all that has been asked for is done. */
static void
turn_chores(void)
{
	/* Behind all that were asked for: those of clients, who have this uid, come last. */
	struct chore last = { .run = nothing, .done = on_idle, .for_client = true, .uid = getuid() };
	struct pollfd p = { .fd = wake_fd, .events = POLLIN };
	uint64_t n;

	chores_idle = false;
	chores_add(chores, &last);
	while (!chores_idle) {
		assert_int_equal(poll(&p, 1, 20000), 1);
		assert_int_equal(read(wake_fd, &n, sizeof(n)), sizeof(n));
		chores_dispatch(chores);
	}
}

/* Both, until neither has anything to do. */
static void
turn(void)
{
	struct pollfd p = { .fd = control_fd(control), .events = POLLIN };

	do {
		turn_control();
		turn_chores();
	} while (poll(&p, 1, 0) > 0);
}

static void
say_bytes(int fd, const void *p, size_t n)
{
	assert_int_equal(send(fd, p, n, MSG_NOSIGNAL), n);
}

/* With its NUL. */
static void
say(int fd, const char *text)
{
	say_bytes(fd, text, strlen(text) + 1);
}

/* The next reply, or NULL when there is none yet; the connection is still there. */
static json_t *
hear(int fd)
{
	static char text[CLIENT_OUT_BYTES + 1];
	size_t n = 0;
	ssize_t r;

	while ((r = recv(fd, text + n, 1, 0)) == 1 && text[n] != '\0')
		n++;
	assert_true(r == 1 || (r < 0 && errno == EAGAIN && n == 0));
	if (r == 1) {
		json_t *j = json_loads(text, JSON_REJECT_DUPLICATES, NULL);

		assert_non_null(j);
		return j;
	}
	return NULL;
}

static bool
is_closed(int fd)
{
	ssize_t n = -1;
	char c;

	turn();
	/* A thread closes it. */
	for (int i = 0; i < 50 && n < 0; i++) {
		while ((n = recv(fd, &c, 1, MSG_DONTWAIT)) > 0)
			;
		if (n == 0 || errno != EAGAIN)
			return n == 0 || errno == ECONNRESET;
		usleep(10000);
	}
	return false;
}

/* Is there a reply now, good and final? */
static bool
is_answered(int fd)
{
	json_t *j = hear(fd);
	bool good = j && !json_object_get(j, "error") && !json_object_get(j, "continues");

	json_decref(j);
	return good;
}

static bool
is_refused(int fd, const char *error)
{
	json_t *j = hear(fd);
	const char *got = json_string_value(json_object_get(j, "error"));
	bool is = got && strcmp(got, error) == 0;

	json_decref(j);
	return is;
}

static bool
continues(int fd)
{
	json_t *j = hear(fd);
	bool is = json_is_true(json_object_get(j, "continues"));

	json_decref(j);
	return is;
}

static size_t
descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	size_t n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

/* What clients passed is closed by threads of its own. */
static void
assert_descriptors(size_t wanted)
{
	for (int i = 0; i < 500 && descriptors() != wanted; i++)
		usleep(10000);
	assert_int_equal(descriptors(), wanted);
}

/* How many there are when the threads of what was before have ended. */
static size_t
descriptors_at_rest(void)
{
	size_t n = descriptors(), before;
	int same = 0;

	while (same < 10) {
		usleep(10000);
		before = n;
		n = descriptors();
		same = n == before ? same + 1 : 0;
	}
	return n;
}

#define STATUS "{\"method\":\"io.spoor.Recorder.GetStatus\"}"
#define SYNC "{\"method\":\"io.spoor.Recorder.Sync\"}"
#define MONITOR "{\"method\":\"io.spoor.Recorder.Monitor\",\"more\":true}"
#define CAPTURE "{\"method\":\"io.spoor.Recorder.Capture\"}"
#define CAPTURE_MORE "{\"method\":\"io.spoor.Recorder.Capture\",\"more\":true}"

/* --- calls ------------------------------------------------------------------------------- */

static void
calls_are_answered_in_order(void **state)
{
	static const char two[] = STATUS "\0" SYNC "\0"
					 "{\"method\":\"io.spoor.Recorder.Nothing\"}";
	int fd = connect_to(), other = connect_to();

	say_bytes(fd, two, sizeof(two));
	say(other, STATUS);
	turn();
	assert_true(is_answered(fd));
	assert_true(is_answered(fd));
	assert_true(is_refused(fd, VARLINK_METHOD_NOT_FOUND));
	assert_null(hear(fd));
	assert_true(is_answered(other));
	close(fd);
	close(other);
}

static void
calls_come_in_pieces(void **state)
{
	int fd = connect_to();

	for (size_t i = 0; i < sizeof(STATUS); i++) {
		assert_null(hear(fd));
		say_bytes(fd, &STATUS[i], 1);
		turn();
	}
	assert_true(is_answered(fd));
	close(fd);
}

static void
oneway_calls_are_not_answered(void **state)
{
	int fd = connect_to();

	say(fd, "{\"method\":\"io.spoor.Recorder.Sync\",\"oneway\":true}");
	say(fd, "{\"method\":\"io.spoor.Recorder.Nothing\",\"oneway\":true}");
	turn();
	assert_null(hear(fd));
	assert_int_equal(fake.syncs, 1);
	/* Also of a client that did not stay. */
	say(fd, "{\"method\":\"io.spoor.Recorder.Rotate\",\"oneway\":true}");
	close(fd);
	turn();
	assert_int_equal(fake.rotations, 1);
}

static void
what_is_no_call_ends_the_connection(void **state)
{
	static const char *const bad[] = { "",
					   "{",
					   "[]",
					   "{}",
					   "{\"method\":1}",
					   "\xff",
					   "{\"method\":\"a.B\",\"method\":\"a.B\"}" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		int fd = connect_to();

		say(fd, STATUS);
		say(fd, bad[i]);
		say(fd, SYNC);
		turn();
		assert_true(is_answered(fd));
		assert_true(is_closed(fd));
		close(fd);
	}
	assert_int_equal(fake.syncs, 0);
}

static void
long_calls_end_the_connection(void **state)
{
	static char text[VARLINK_MESSAGE_BYTES + 1];
	int fd = connect_to();

	memset(text, ' ', sizeof(text));
	memcpy(text, STATUS, strlen(STATUS));
	text[VARLINK_MESSAGE_BYTES - 1] = '\0';
	say_bytes(fd, text, VARLINK_MESSAGE_BYTES);
	turn();
	assert_true(is_answered(fd));
	text[VARLINK_MESSAGE_BYTES - 1] = ' ';
	text[VARLINK_MESSAGE_BYTES] = '\0';
	say_bytes(fd, text, sizeof(text));
	assert_true(is_closed(fd));
	close(fd);
}

static void
half_closed_clients_get_their_answer(void **state)
{
	int fd = connect_to();

	say(fd, STATUS);
	say(fd, CAPTURE);
	shutdown(fd, SHUT_WR);
	turn();
	assert_true(is_answered(fd));
	assert_null(hear(fd));
	fake_end(1, NULL);
	turn();
	assert_true(is_answered(fd));
	assert_true(is_closed(fd));
	close(fd);
	/* A piece of a call will never be a whole one. */
	fd = connect_to();
	say_bytes(fd, STATUS, 10);
	shutdown(fd, SHUT_WR);
	assert_true(is_closed(fd));
	close(fd);
}

/* --- waiting ----------------------------------------------------------------------------- */

static void
captures_are_waited_for(void **state)
{
	int fd = connect_to();

	say(fd, CAPTURE);
	say(fd, STATUS);
	turn();
	assert_null(hear(fd));
	now += 50 * S;
	control_tick(control, now);
	assert_null(hear(fd));
	fake_end(1, NULL);
	turn();
	assert_true(is_answered(fd));
	assert_true(is_answered(fd));

	say(fd, CAPTURE_MORE);
	turn();
	assert_true(continues(fd));
	control_tick(control, now += S);
	assert_true(continues(fd));
	fake_end(2, "no space");
	assert_true(is_refused(fd, "io.spoor.Recorder.Failed"));
	say(fd, STATUS);
	turn();
	assert_true(is_answered(fd));
	close(fd);
	turn();
}

static void
who_leaves_stops_what_has_no_end(void **state)
{
	int fd = connect_to();

	say(fd, CAPTURE_MORE);
	turn();
	close(fd);
	turn();
	assert_true(fake.captures[0].stopped);
	fake_end(1, NULL);
	turn();

	fd = connect_to();
	say(fd, "{\"method\":\"io.spoor.Recorder.Capture\",\"parameters\":{\"duration_s\":9}}");
	turn();
	close(fd);
	turn();
	assert_false(fake.captures[0].stopped);
	fake_end(2, NULL);
	turn();

	/* Also when nobody waits for it. */
	fd = connect_to();
	say(fd, "{\"method\":\"io.spoor.Recorder.Capture\",\"oneway\":true}");
	turn();
	assert_int_equal(fake.captures[0].id, 3);
	assert_null(hear(fd));
	close(fd);
	turn();
	assert_true(fake.captures[0].stopped);
	fake_end(3, NULL);
}

static void
monitors_tell_every_interval(void **state)
{
	int fd = connect_to();

	say(fd,
	    "{\"method\":\"io.spoor.Recorder.Monitor\",\"more\":true,"
	    "\"parameters\":{\"interval_s\":2}}");
	turn();
	assert_true(continues(fd));
	for (int i = 0; i < 50; i++) {
		control_tick(control, now += S);
		assert_null(hear(fd));
		control_tick(control, now += S);
		assert_true(continues(fd));
	}
	close(fd);
	turn();
}

static void
descriptors_come_along(void **state)
{
	static const char text[] = "{\"method\":\"io.spoor.Recorder.Capture\",\"more\":true,"
				   "\"parameters\":{\"file_descriptor\":0}}";
	int file = open("/tmp", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	size_t before = descriptors_at_rest();
	int fds[3] = { file, file, file };
	union {
		struct cmsghdr h;
		char room[CMSG_SPACE(sizeof(fds))];
	} c = { .h = { .cmsg_level = SOL_SOCKET,
		       .cmsg_type = SCM_RIGHTS,
		       .cmsg_len = CMSG_LEN(sizeof(fds)) } };
	struct iovec part = { (void *)(uintptr_t)text, sizeof(text) };
	struct msghdr m = { .msg_iov = &part,
			    .msg_iovlen = 1,
			    .msg_control = c.room,
			    .msg_controllen = sizeof(c.room) };
	int fd = connect_to();

	memcpy(CMSG_DATA(&c.h), fds, sizeof(fds));
	assert_int_equal(sendmsg(fd, &m, 0), sizeof(text));
	turn();
	assert_true(continues(fd));
	assert_true(fake.captures[0].out_fd >= 0);
	assert_descriptors(before + 3);
	fake_end(1, NULL);
	assert_true(is_answered(fd));
	assert_descriptors(before + 2);

	/* With a call that does not ask for it, and with half a call. */
	part = (struct iovec){ (void *)(uintptr_t)STATUS, sizeof(STATUS) };
	assert_int_equal(sendmsg(fd, &m, 0), sizeof(STATUS));
	turn();
	assert_true(is_answered(fd));
	assert_descriptors(before + 2);
	part.iov_len = 5;
	assert_int_equal(sendmsg(fd, &m, 0), 5);
	turn();
	assert_descriptors(before + 3);
	close(fd);
	turn();
	assert_descriptors(before);
	close(file);
}

/* --- the disk ---------------------------------------------------------------------------- */

static int sync_begun; /* readable when one has */

/* From here on syncs wait until a byte is written to what this returns. */
static int
hold_syncs(void)
{
	int hold[2], begun[2];

	assert_int_equal(pipe(hold), 0);
	assert_int_equal(pipe(begun), 0);
	fake.held = hold[0];
	fake.begun = begun[1];
	sync_begun = begun[0];
	return hold[1];
}

static void
await_sync(void)
{
	char c;

	assert_int_equal(read(sync_begun, &c, 1), 1);
}

static void
let_syncs_go(int release)
{
	close(release);
	close(fake.held);
	close(fake.begun);
	close(sync_begun);
}

static void
a_disk_keeps_nobody_else_waiting(void **state)
{
	int fd = connect_to(), other = connect_to(), release;

	release = hold_syncs();
	say(fd, SYNC);
	say(fd, STATUS);
	turn_control();
	await_sync();
	for (int i = 0; i < 3; i++) {
		say(other, STATUS);
		turn_control();
		assert_true(is_answered(other));
	}
	say(other, "{\"method\":\"io.spoor.Recorder.List\"}");
	turn_control();
	control_tick(control, now += 100 * S);
	turn_control();
	/* Each has to wait, and is not dropped for it. */
	assert_null(hear(fd));
	assert_null(hear(other));
	assert_int_equal(write(release, "", 1), 1);
	turn();
	assert_true(is_answered(fd));
	assert_true(is_answered(fd));
	assert_true(is_answered(other));
	close(fd);
	close(other);
	turn();
	let_syncs_go(release);
}

static void
reloads_are_answered_when_they_are_over(void **state)
{
	static const char reload[] = "{\"method\":\"io.spoor.Recorder.Reload\"}";
	int fd = connect_to(), other = connect_to();

	need_root("may reload");
	say(fd, reload);
	control_dispatch(control, now);
	control_dispatch(control, now);
	assert_int_equal(fake.reloads, 1);
	say(other, reload);
	control_dispatch(control, now);
	assert_int_equal(fake.reloads, 2);
	assert_null(hear(fd));
	control_reloaded(control, 1, 0, "");
	assert_true(is_answered(fd));
	assert_null(hear(other));
	control_reloaded(control, 2, -EINVAL, "spoord.conf:1: what is that");
	assert_true(is_refused(other, "io.spoor.Recorder.Failed"));
	close(fd);
	close(other);
	turn();
}

static void
who_waits_for_a_disk_may_leave(void **state)
{
	int fd = connect_to(), release;

	release = hold_syncs();
	say(fd, SYNC);
	turn_control();
	await_sync();
	say(fd, SYNC);
	close(fd);
	turn_control();
	/* What a flood of such clients may leave is bounded: the rest is told so. */
	for (int i = 0; i < 300; i++) {
		fd = connect_to();
		say(fd, "{\"method\":\"io.spoor.Recorder.List\"}");
		turn_control();
		if (i < 299)
			close(fd);
	}
	assert_true(is_refused(fd, "io.spoor.Recorder.Failed"));
	close(fd);
	assert_int_equal(write(release, "", 1), 1);
	turn();
	assert_int_equal(fake.syncs, 1);
	let_syncs_go(release);
}

static bool
let_one_go(void *arg)
{
	return write(*(int *)arg, "", 1) == 1;
}

static void
who_waits_is_told_when_the_daemon_ends(void **state)
{
	int fd = connect_to(), other = connect_to(), release;

	release = hold_syncs();
	say(fd, SYNC);
	turn_control();
	await_sync();
	say(other, SYNC);
	turn_control();
	control_leave(control);
	assert_int_equal(access(path, F_OK), -1);
	assert_true(chores_close(chores, let_one_go, &release));
	assert_true(is_answered(fd));
	assert_int_equal(fake.syncs, 1);
	assert_true(is_refused(other, "io.spoor.Recorder.Failed"));
	assert_int_equal(chores_new(wake_fd, &chores), 0);
	close(fd);
	close(other);
	let_syncs_go(release);
}

/* A TCP socket that lingers: its last close(2) waits for a peer that does not read. */
static int
slow_to_close(int peer[2])
{
	const struct linger linger = { .l_onoff = 1, .l_linger = 3 };
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	static const char bytes[1 << 16];
	socklen_t n = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	peer[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(peer[0], (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(listen(peer[0], 1), 0);
	assert_int_equal(getsockname(peer[0], (struct sockaddr *)&a, &n), 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	peer[1] = accept(peer[0], NULL, NULL);
	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)), 0);
	while (send(fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		;
	return fd;
}

static void
a_descriptor_that_hangs_hangs_nobody(void **state)
{
	size_t before = descriptors_at_rest();
	int peer[2], slow = slow_to_close(peer), fd = connect_to();
	union {
		struct cmsghdr h;
		char room[CMSG_SPACE(sizeof(int))];
	} c = { .h = { .cmsg_level = SOL_SOCKET,
		       .cmsg_type = SCM_RIGHTS,
		       .cmsg_len = CMSG_LEN(sizeof(int)) } };
	struct iovec part = { (void *)(uintptr_t)STATUS, sizeof(STATUS) };
	struct msghdr m = { .msg_iov = &part,
			    .msg_iovlen = 1,
			    .msg_control = c.room,
			    .msg_controllen = sizeof(c.room) };
	struct timespec from, to;

	memcpy(CMSG_DATA(&c.h), &slow, sizeof(slow));
	assert_int_equal(sendmsg(fd, &m, 0), sizeof(STATUS));
	/* In flight there is one more reference: this is not the last close. */
	close(slow);
	clock_gettime(CLOCK_MONOTONIC, &from);
	turn();
	clock_gettime(CLOCK_MONOTONIC, &to);
	assert_true(is_answered(fd));
	assert_true(to.tv_sec - from.tv_sec < 2);
	close(fd);
	turn();
	close(peer[0]);
	close(peer[1]);
	assert_descriptors(before);
}

#define SLOW 24

/* A message with the call and all of the descriptors, which then are in flight alone. */
static void
say_with(int fd, const char *text, size_t n, int *fds, size_t nr)
{
	union {
		struct cmsghdr h;
		char room[CMSG_SPACE(SLOW * sizeof(int))];
	} c = { .h = { .cmsg_level = SOL_SOCKET,
		       .cmsg_type = SCM_RIGHTS,
		       .cmsg_len = CMSG_LEN(nr * sizeof(int)) } };
	struct iovec part = { (void *)(uintptr_t)text, n };
	struct msghdr m = { .msg_iov = &part,
			    .msg_iovlen = 1,
			    .msg_control = c.room,
			    .msg_controllen = CMSG_SPACE(nr * sizeof(int)) };

	memcpy(CMSG_DATA(&c.h), fds, nr * sizeof(int));
	assert_int_equal(sendmsg(fd, &m, 0), (ssize_t)n);
	for (size_t i = 0; i < nr; i++)
		close(fds[i]);
}

/* More in a message than are wanted, and more in messages that are never read. */
static void
many_descriptors_that_hang_hang_nobody(void **state)
{
	size_t before = descriptors_at_rest();
	int peers[3 * SLOW][2], slow[3 * SLOW], fds[3], other;
	struct timespec from, to;

	for (int i = 0; i < 3 * SLOW; i++)
		slow[i] = slow_to_close(peers[i]);
	for (int i = 0; i < 3; i++)
		fds[i] = connect_to();
	clock_gettime(CLOCK_MONOTONIC, &from);
	say_with(fds[0], STATUS, sizeof(STATUS), slow, SLOW);
	/* No call: the connection is closed with what comes behind it in it. */
	say_bytes(fds[1], "no call", 8);
	for (int i = 0; i < 3; i++)
		say_bytes(fds[1], "{\"no\":\"call\"}", 14);
	say_with(fds[1], STATUS, sizeof(STATUS), slow + SLOW, SLOW);
	say_with(fds[2], STATUS, sizeof(STATUS), slow + 2 * SLOW, SLOW);
	turn();
	assert_true(is_answered(fds[0]));
	assert_true(is_closed(fds[1]));
	assert_true(is_answered(fds[2]));
	other = connect_to();
	say(other, STATUS);
	turn();
	assert_true(is_answered(other));
	for (int i = 0; i < 3; i++)
		close(fds[i]);
	close(other);
	turn();
	clock_gettime(CLOCK_MONOTONIC, &to);
	assert_true(to.tv_sec - from.tv_sec < 2);
	for (int i = 0; i < 3 * SLOW; i++) {
		close(peers[i][0]);
		close(peers[i][1]);
	}
	assert_descriptors(before);
}

/* --- limits ------------------------------------------------------------------------------ */

static void
silent_and_slow_clients_are_dropped(void **state)
{
	int idle = connect_to(), slow = connect_to(), busy = connect_to(), deaf = connect_to();

	say(busy, MONITOR);
	turn();
	for (int i = 0; i < 29; i++) {
		say_bytes(slow, "{", 1);
		turn();
		control_tick(control, now += S);
	}
	say(deaf, STATUS);
	turn();
	assert_true(is_answered(deaf));
	/* Both are 30 s old: the one was silent, the other has not finished. */
	control_tick(control, now += S);
	assert_true(is_closed(idle));
	assert_true(is_closed(slow));
	assert_false(is_closed(deaf));
	control_tick(control, now += 28 * S);
	assert_false(is_closed(deaf));
	control_tick(control, now += S);
	assert_true(is_closed(deaf));
	assert_true(continues(busy));
	close(idle);
	close(slow);
	close(busy);
	close(deaf);
}

static void
who_does_not_read_is_dropped(void **state)
{
	struct pollfd p = { .fd = control_fd(control), .events = POLLIN };
	int fd = connect_to(), other = connect_to();

	fake.files = 2000;
	/* As many calls as go in; nothing is read. */
	while (send(fd, "{\"method\":\"io.spoor.Recorder.List\"}", 36, MSG_NOSIGNAL) == 36)
		dispatch();
	turn();
	assert_int_equal(poll(&p, 1, 0), 0);
	say(other, STATUS);
	turn();
	assert_true(is_answered(other));
	control_tick(control, now += 31 * S);
	turn();
	/* A thread closes it. */
	for (int i = 0; i < 500 && send(fd, "x", 1, MSG_NOSIGNAL) < 0 && errno == EAGAIN; i++)
		usleep(10000);
	assert_int_equal(send(fd, "x", 1, MSG_NOSIGNAL), -1);
	assert_int_equal(errno, EPIPE);
	close(fd);
	close(other);
}

static void
connections_are_counted(void **state)
{
	size_t max = context.config->max_clients + 8; /* this test being root, or not */
	size_t before = descriptors_at_rest(), closed = 0;
	int fds[32];

	for (size_t i = 0; i < 32; i++) {
		fds[i] = connect_to();
		turn();
	}
	for (size_t i = 0; i < 32; i++)
		closed += is_closed(fds[i]);
	assert_true(closed == 32 - max || closed == 32 - (max - 8));
	for (size_t i = 0; i < 32; i++)
		close(fds[i]);
	turn();
	assert_descriptors(before);
}

/* Runs as uid, gid and groups; the child's exit status. */
static int
as_user(uid_t uid, gid_t gid, size_t nr, const gid_t *groups, const char *call, const char *error)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		int fd;

		if (setgroups(nr, groups) < 0 || setresgid(gid, gid, gid) < 0 ||
		    setresuid(uid, uid, uid) < 0)
			_exit(3);
		fd = connect_to();
		say(fd, call);
		for (int i = 0; i < 200; i++) {
			struct pollfd p = { .fd = fd, .events = POLLIN };

			if (poll(&p, 1, 50) > 0)
				_exit(error ? !is_refused(fd, error) : !is_answered(fd));
		}
		_exit(2);
	}
	while (waitpid(pid, &status, WNOHANG) == 0) {
		dispatch();
		chores_dispatch(chores);
		usleep(1000);
	}
	turn();
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* In a child, as a member: as many connections as it gets stay open until it is killed. */
static pid_t
hoard(uid_t uid, gid_t gid)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	if (setgroups(0, NULL) < 0 || setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0)
		_exit(3);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)strlcpy(address.sun_path, path, sizeof(address.sun_path));
	for (int i = 0; i < 20; i++) {
		int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

		if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
			_exit(4);
	}
	for (;;)
		pause();
}

static void
one_user_does_not_get_all_connections(void **state)
{
	const struct group *g = getgrnam(context.config->control_group);
	int fds[8], status;
	pid_t pid;

	if (geteuid() != 0 || !g) {
		print_message("skipped: only root can be other users, of a group that there is\n");
		skip();
	}
	assert_int_equal(chmod(path, 0666), 0);
	pid = hoard(70001, g->gr_gid);
	for (int i = 0; i < 100; i++) {
		dispatch();
		usleep(2000);
	}
	assert_int_equal(as_user(70002, g->gr_gid, 0, NULL, STATUS, NULL), 0);
	/* Nor do these take what is root's. */
	for (int i = 0; i < 8; i++)
		fds[i] = connect_to();
	turn();
	for (int i = 0; i < 8; i++) {
		say(fds[i], STATUS);
		turn();
		assert_true(is_answered(fds[i]));
		close(fds[i]);
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	turn();
}

static void
floods_leave_nothing(void **state)
{
	static const char *const lines[] = { STATUS, SYNC, MONITOR, "{", "[[[[[[[[[[", "{}" };
	size_t before = descriptors_at_rest();

	for (int i = 0; i < 3000; i++) {
		const char *line = lines[i % 6];
		int fd = connect_to();

		say_bytes(fd, line, strlen(line) + (i % 7 != 0));
		if (i % 3)
			dispatch();
		if (i % 2)
			shutdown(fd, SHUT_WR);
		close(fd);
		if (i % 5 == 0)
			turn();
	}
	turn();
	assert_descriptors(before);
}

/* --- the socket -------------------------------------------------------------------------- */

static void
a_stale_socket_is_replaced(void **state)
{
	char text[256] = "";
	struct control *second;
	struct stat st;
	int fd;

	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(control_open(&context, -1, &second, text, sizeof(text)), -EADDRINUSE);
	assert_non_null(strstr(text, "another spoord"));
	assert_int_equal(access(path, F_OK), 0);
	control_close(control);

	/* What a daemon that was killed leaves. */
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	{
		struct sockaddr_un address = { .sun_family = AF_UNIX };

		(void)strlcpy(address.sun_path, path, sizeof(address.sun_path));
		assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	}
	close(fd);
	assert_int_equal(control_open(&context, -1, &control, text, sizeof(text)), 0);
	close(connect_to());
	turn();
	control_close(control);
	control = NULL;

	/* What is no socket stays. */
	fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	close(fd);
	assert_true(control_open(&context, -1, &control, text, sizeof(text)) < 0);
	assert_non_null(strstr(text, "File exists, and is no socket: remove it"));
	assert_int_equal(stat(path, &st), 0);
	assert_true(S_ISREG(st.st_mode));
	unlink(path);
}

static void
where_no_socket_can_be_is_told(void **state)
{
	char *was = context.config->control_socket, nowhere[] = "/nonexistent/socket", text[256];
	struct config *config = (struct config *)(uintptr_t)context.config;
	struct control *second;

	config->control_socket = nowhere;
	assert_int_equal(control_open(&context, -1, &second, text, sizeof(text)), -ENOENT);
	assert_string_equal(text,
			    "control_socket /nonexistent/socket: No such file or directory: "
			    "make its directory");
	config->control_socket = was;
}

static void
a_passed_socket_is_used(void **state)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char text[256] = "";
	struct stat st;
	int fd, pair[2];

	control_close(control);
	control = NULL;
	(void)strlcpy(address.sun_path, path, sizeof(address.sun_path));
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(fd, 5), 0);
	assert_int_equal(control_open(&context, fd, &control, text, sizeof(text)), 0);
	fd = connect_to();
	say(fd, STATUS);
	turn();
	assert_true(is_answered(fd));
	close(fd);
	control_close(control);
	control = NULL;
	/* systemd's, not ours to remove. */
	assert_int_equal(stat(path, &st), 0);
	unlink(path);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	assert_int_equal(control_open(&context, pair[0], &control, text, sizeof(text)), -EINVAL);
	close(pair[0]);
	close(pair[1]);
}

static void
rights_are_by_who_connects(void **state)
{
	const struct group *g = getgrnam(context.config->control_group);
	static const char reload[] = "{\"method\":\"io.spoor.Recorder.Reload\"}";
	static const char info[] = "{\"method\":\"org.varlink.service.GetInfo\"}";
	gid_t many[200];
	struct stat st;

	if (geteuid() != 0 || !g) {
		print_message("skipped: only root can be other users, of a group that there is\n");
		skip();
	}
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0660);
	assert_int_equal(st.st_gid, g->gr_gid);
	assert_int_equal(chmod(path, 0666), 0);
	for (gid_t i = 0; i < 200; i++)
		many[i] = 70000 + i;
	assert_int_equal(as_user(70000, 70000, 200, many, STATUS, VARLINK_PERMISSION_DENIED), 0);
	assert_int_equal(as_user(70000, 70000, 0, NULL, info, NULL), 0);
	assert_int_equal(as_user(70000, g->gr_gid, 0, NULL, STATUS, NULL), 0);
	many[150] = g->gr_gid;
	assert_int_equal(as_user(70000, 70000, 200, many, STATUS, NULL), 0);
	assert_int_equal(as_user(70000, 70000, 1, &many[150], reload, VARLINK_PERMISSION_DENIED),
			 0);
	assert_int_equal(as_user(0, 0, 0, NULL, reload, NULL), 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(calls_are_answered_in_order),
		TEST(calls_come_in_pieces),
		TEST(oneway_calls_are_not_answered),
		TEST(what_is_no_call_ends_the_connection),
		TEST(long_calls_end_the_connection),
		TEST(half_closed_clients_get_their_answer),
		TEST(captures_are_waited_for),
		TEST(who_leaves_stops_what_has_no_end),
		TEST(monitors_tell_every_interval),
		TEST(descriptors_come_along),
		TEST(a_disk_keeps_nobody_else_waiting),
		TEST(reloads_are_answered_when_they_are_over),
		TEST(who_waits_for_a_disk_may_leave),
		TEST(who_waits_is_told_when_the_daemon_ends),
		TEST(a_descriptor_that_hangs_hangs_nobody),
		TEST(many_descriptors_that_hang_hang_nobody),
		TEST(silent_and_slow_clients_are_dropped),
		TEST(who_does_not_read_is_dropped),
		TEST(connections_are_counted),
		TEST(one_user_does_not_get_all_connections),
		TEST(floods_leave_nothing),
		TEST(a_stale_socket_is_replaced),
		TEST(where_no_socket_can_be_is_told),
		TEST(a_passed_socket_is_used),
		TEST(rights_are_by_who_connects),
	};

	signal(SIGPIPE, SIG_IGN);
	/* A test that fails while a chore is held would wait for it at its end. */
	alarm(300);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
