/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/names/names_jvm.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "symbolizer/names/names_clock.h"
#include "symbolizer/names/names_socket.h"

#ifndef SYS_pidfd_send_signal /* 5.1 */
#define SYS_pidfd_send_signal 424
#endif

#define ANSWER_BYTES 4096
#define LOOK_MS 20   /* between looks for the socket: it appears after some milliseconds */
#define TEXT_MAX 200 /* of its own words */

/* Its strings end in NUL; the last argument is the one of the literal. */
static const char request[] = "1\0jcmd\0Compiler.perfmap\0\0";

static void
say_errno(struct names_answer *a, const char *socket, int rc)
{
	if (rc == -ENOTSOCK)
		names_answer_say(a, NAMES_FAILED, "/tmp/%s is not a socket", socket);
	else if (rc == -EPERM)
		names_answer_say(a, NAMES_FAILED, "/tmp/%s is another user's", socket);
	else if (rc == -ECONNREFUSED)
		names_answer_say(a, NAMES_FAILED, "nobody listens on /tmp/%s any more", socket);
	else
		names_answer_say(a, NAMES_FAILED, "/tmp/%s: %s", socket, strerror(-rc));
}

/* --- that it listens ------------------------------------------------------------------------ */

/* The directory in which it is now; -1. Its own directory may be nowhere (-1) or read-only. It is there already where another tool asks as well. */
static int
make_file(const struct names_process *p, int tmp, const char *name)
{
	const int dirs[] = { p->cwd, tmp }, flags = O_WRONLY | O_EXCL | O_NOFOLLOW | O_CLOEXEC;

	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		const int fd = openat(dirs[i], name, O_CREAT | flags, 0600);

		if (fd >= 0)
			(void)close(fd);
		if (fd >= 0 || errno == EEXIST)
			return dirs[i];
	}
	return -1;
}

bool
names_jvm_forbids(const struct names_process *p)
{
	static const char option[] = "-XX:+DisableAttachMechanism";
	static const char *const variables[] = { "JAVA_TOOL_OPTIONS=", "JDK_JAVA_OPTIONS=",
						 "_JAVA_OPTIONS=" };
	char *words = names_process_word(p, "cmdline", option);
	bool is = words != NULL;

	free(words);
	for (size_t i = 0; !is && i < sizeof(variables) / sizeof(variables[0]); i++) {
		words = names_process_word(p, "environ", variables[i]);
		is = words && strstr(words, option);
		free(words);
	}
	return is;
}

/* A descriptor, -errno; -ENOENT: none yet; -ESRCH: it has ended. */
static int
wait_for_socket(const struct names_process *p, int tmp, const char *socket, int64_t deadline_ns)
{
	struct pollfd ended = { .fd = p->pidfd, .events = POLLIN };

	for (;;) {
		const int fd = names_socket_connect(tmp, socket, deadline_ns);

		/* Bound, and not listened on yet. */
		if (fd != -ENOENT && fd != -ECONNREFUSED)
			return fd;
		if (names_clock_now() >= deadline_ns)
			return fd;
		if (poll(&ended, 1, names_clock_ms(deadline_ns, LOOK_MS)) > 0)
			return -ESRCH;
	}
}

/* A descriptor; -1, said. */
static int
have_it_listen(const struct names_process *p, int tmp, const char *socket, int64_t deadline_ns,
	       struct names_answer *a)
{
	char name[48];
	int dir, fd = -1;

	(void)snprintf(name, sizeof(name), ".attach_pid%d", (int)p->inner_pid);
	dir = make_file(p, tmp, name);
	if (dir < 0) {
		names_answer_say(a, NAMES_FAILED, "%s cannot be made in its /tmp: %s", name,
				 strerror(errno));
		return -1;
	}
	if (!names_process_catches(p, SIGQUIT)) {
		names_answer_say(
			a, NAMES_FAILED,
			"it does not catch SIGQUIT, with which a JVM is asked to listen: it "
			"begins or ends, or was started with -Xrs");
	} else if (syscall(SYS_pidfd_send_signal, p->pidfd, SIGQUIT, NULL, 0) < 0) {
		names_answer_say(a, errno == ESRCH ? NAMES_GONE : NAMES_FAILED,
				 "SIGQUIT cannot be sent: %s", strerror(errno));
	} else {
		fd = wait_for_socket(p, tmp, socket, deadline_ns);
		if (fd == -ESRCH)
			names_answer_say(a, NAMES_GONE, "it has ended");
		else if (fd == -ENOENT)
			names_answer_say(a, NAMES_FAILED,
					 "it does not listen on /tmp/%s, asked by SIGQUIT", socket);
		else if (fd < 0)
			say_errno(a, socket, fd);
	}
	(void)unlinkat(dir, name, 0);
	return fd < 0 ? -1 : fd;
}

/* --- the question --------------------------------------------------------------------------- */

/* Of its own words the first line. */
static void
say_refusal(const char *text, struct names_answer *a)
{
	const char *since = strstr(text, "Unknown diagnostic command")
		? ": a JVM has Compiler.perfmap since 17"
		: "";
	const char *words = strchr(text, '\n');
	size_t n;

	words = words ? words + 1 : "";
	n = strcspn(words, "\n");
	names_answer_say(a, NAMES_FAILED, "it refuses: %.*s%s", (int)(n < TEXT_MAX ? n : TEXT_MAX),
			 words, since);
}

static void
ask(const struct names_process *p, int fd, int64_t deadline_ns, struct names_answer *a)
{
	const int64_t since_s = time(NULL) - 1; /* of the clock's and the file system's ticks */
	char text[ANSWER_BYTES + 1];
	ssize_t n = names_socket_send(fd, request, sizeof(request), deadline_ns);

	if (n == 0)
		n = names_socket_receive(fd, text, ANSWER_BYTES, true, deadline_ns);
	if (n == -ETIMEDOUT) {
		names_answer_say(a, NAMES_FAILED, "no answer within the time");
	} else if (n == -EFBIG) {
		names_answer_say(a, NAMES_FAILED, "it answers without end");
	} else if (n < 0) {
		names_answer_say(a, NAMES_FAILED, "its socket: %s", strerror((int)-n));
	} else {
		text[n] = '\0';
		if (strncmp(text, "0\n", 2) == 0)
			names_process_map(p, since_s, a);
		else
			say_refusal(text, a);
	}
}

void
names_jvm_ask(const struct names_process *p, int64_t deadline_ns, struct names_answer *a)
{
	const int tmp = names_process_directory(p, "/tmp");
	char socket[48];
	int fd;

	if (tmp < 0) {
		names_answer_say(a, NAMES_FAILED, "its /tmp: %s", strerror(-tmp));
		return;
	}
	(void)snprintf(socket, sizeof(socket), ".java_pid%d", (int)p->inner_pid);
	fd = names_socket_connect(tmp, socket, deadline_ns);
	/* One that nobody listens on may be left by a process that had the number before. */
	if (fd == -ENOENT || fd == -ECONNREFUSED)
		fd = have_it_listen(p, tmp, socket, deadline_ns, a);
	else if (fd < 0)
		say_errno(a, socket, fd);
	if (fd >= 0) {
		ask(p, fd, deadline_ns, a);
		(void)close(fd);
	}
	(void)close(tmp);
}
