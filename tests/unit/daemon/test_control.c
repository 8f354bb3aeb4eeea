/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "daemon/client.h"
#include "daemon/control.h"
#include "fake_streams.h"

#define S UINT64_C(1000000000)

static struct control *control;
static struct control_context context;
static char path[108];
static uint64_t now; /* what the control socket takes for the time */

static int
setup(void **state)
{
	char text[256] = "";

	fake_reset();
	now = 100 * S;
	snprintf(path, sizeof(path), "/tmp/spoor-test-%d.socket", (int)getpid());
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
	control_close(control);
	control = NULL;
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

/* Lets the control socket do what there is to do, as the main loop would. */
static void
turn(void)
{
	struct pollfd p = { .fd = control_fd(control), .events = POLLIN };

	for (int i = 0; i < 100000 && poll(&p, 1, 0) > 0; i++)
		control_dispatch(control, now);
	assert_int_equal(poll(&p, 1, 0), 0);
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
	char c;
	ssize_t n;

	turn();
	while ((n = recv(fd, &c, 1, 0)) > 0)
		;
	return n == 0 || errno == ECONNRESET;
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
	size_t before = descriptors();
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
	assert_int_equal(descriptors(), before + 3);
	fake_end(1, NULL);
	assert_true(is_answered(fd));
	assert_int_equal(descriptors(), before + 2);

	/* With a call that does not ask for it, and with half a call. */
	part = (struct iovec){ (void *)(uintptr_t)STATUS, sizeof(STATUS) };
	assert_int_equal(sendmsg(fd, &m, 0), sizeof(STATUS));
	turn();
	assert_true(is_answered(fd));
	assert_int_equal(descriptors(), before + 2);
	part.iov_len = 5;
	assert_int_equal(sendmsg(fd, &m, 0), 5);
	turn();
	assert_int_equal(descriptors(), before + 3);
	close(fd);
	turn();
	assert_int_equal(descriptors(), before);
	close(file);
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
		control_dispatch(control, now);
	turn();
	assert_int_equal(poll(&p, 1, 0), 0);
	say(other, STATUS);
	turn();
	assert_true(is_answered(other));
	control_tick(control, now += 31 * S);
	turn();
	assert_int_equal(send(fd, "x", 1, MSG_NOSIGNAL), -1);
	assert_int_equal(errno, EPIPE);
	close(fd);
	close(other);
}

static void
connections_are_counted(void **state)
{
	size_t max = context.config->max_clients + 8; /* this test being root, or not */
	size_t before = descriptors(), closed = 0;
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
	assert_int_equal(descriptors(), before);
}

static void
floods_leave_nothing(void **state)
{
	static const char *const lines[] = { STATUS, SYNC, MONITOR, "{", "[[[[[[[[[[", "{}" };
	size_t before = descriptors();

	for (int i = 0; i < 3000; i++) {
		const char *line = lines[i % 6];
		int fd = connect_to();

		say_bytes(fd, line, strlen(line) + (i % 7 != 0));
		if (i % 3)
			control_dispatch(control, now);
		if (i % 2)
			shutdown(fd, SHUT_WR);
		close(fd);
		if (i % 5 == 0)
			turn();
	}
	turn();
	assert_int_equal(descriptors(), before);
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
	assert_int_equal(stat(path, &st), 0);
	assert_true(S_ISREG(st.st_mode));
	unlink(path);
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
		control_dispatch(control, now);
		usleep(1000);
	}
	turn();
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void
rights_are_by_who_connects(void **state)
{
	const struct group *g = getgrnam(context.config->control_group);
	static const char reload[] = "{\"method\":\"io.spoor.Recorder.Reload\"}";
	static const char info[] = "{\"method\":\"org.varlink.service.GetInfo\"}";
	gid_t many[200];
	struct stat st;

	if (geteuid() != 0 || !g)
		skip();
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
		TEST(silent_and_slow_clients_are_dropped),
		TEST(who_does_not_read_is_dropped),
		TEST(connections_are_counted),
		TEST(floods_leave_nothing),
		TEST(a_stale_socket_is_replaced),
		TEST(a_passed_socket_is_used),
		TEST(rights_are_by_who_connects),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
