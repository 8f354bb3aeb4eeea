/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/event/command.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/pidfd_info.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <bsd/string.h>

#include "recorder/ground/descriptor_limit.h"
#include "recorder/ground/session_error.h"

#define STOP_MS 3000
#define STOP_STEP_MS 10

struct command {
	pid_t pid;
	int go_fd;	/* a byte lets it exec; closed without one, it exits */
	int failure_fd; /* errno of a failed exec; closed by a successful one */
	int pidfd;
	bool ended;
	int status;
	const char *name; /* argv[0]: the caller's */
};

static void __attribute__((noreturn)) child(char *const *argv, int go_fd, int failure_fd)
{
	sigset_t none;
	char byte;
	int err;

	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	/* What nohup(1) ignores stays so. */
	if (signal(SIGHUP, SIG_DFL) == SIG_IGN)
		signal(SIGHUP, SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	descriptor_limit_restore();
	if (read(go_fd, &byte, 1) != 1)
		_exit(0);
	execvp(argv[0], argv);
	err = errno;
	if (write(failure_fd, &err, sizeof(err)) < 0)
		_exit(126);
	_exit(err == ENOENT ? 127 : 126);
}

/* 0, or -errno as execve(2) would have it, as far as that can be known without a try. */
static int
executable(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return -errno;
	return S_ISREG(st.st_mode) && faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0 ? 0
										       : -EACCES;
}

/* What is found and cannot be executed does not end the search. */
int
command_find(const char *name, char ret[PATH_MAX])
{
	const char *at = getenv("PATH");
	int error = -ENOENT, r;

	if (strchr(name, '/'))
		return strlcpy(ret, name, PATH_MAX) < PATH_MAX ? executable(name) : -ENAMETOOLONG;
	for (at = at ? at : "/bin:/usr/bin"; *name; at++) {
		const int len = (int)strcspn(at, ":");
		const int n = snprintf(ret, PATH_MAX, "%.*s%s%s", len, at, len ? "/" : "", name);

		r = n < PATH_MAX ? executable(ret) : -ENAMETOOLONG;
		if (r == 0)
			return 0;
		if (r != -ENOENT && r != -ENOTDIR && r != -EACCES)
			return r;
		if (error != -EACCES)
			error = r;
		at += len;
		if (!*at)
			break;
	}
	return error;
}

static int
cannot_execute(const char *name, int err, struct session_error *error)
{
	session_fail(error, -err, "cannot execute %s: %s", name, strerror(err));
	if (error)
		error->exit_status = err == ENOENT ? 127 : 126;
	return -err;
}

int
command_check(char *const *argv, struct session_error *error)
{
	char path[PATH_MAX];
	int r = command_find(argv[0], path);

	return r < 0 ? cannot_execute(argv[0], -r, error) : 0;
}

int
command_start(char *const *argv, struct command **ret, struct session_error *error)
{
	int go[2] = { -1, -1 }, failure[2] = { -1, -1 }, r;
	struct command *c = calloc(1, sizeof(*c));

	if (!c)
		return session_fail(error, -ENOMEM, "out of memory");
	*c = (struct command){ .pid = -1, .status = -1, .name = argv[0], .pidfd = -1 };
	if (pipe2(go, O_CLOEXEC) < 0 || pipe2(failure, O_CLOEXEC) < 0) {
		r = -errno;
		goto fail;
	}
	c->pid = fork();
	if (c->pid < 0) {
		r = -errno;
		goto fail;
	}
	if (c->pid == 0) {
		close(go[1]); /* or our death would not end the wait */
		child(argv, go[0], failure[1]);
	}
	close(go[0]);
	close(failure[1]);
	c->go_fd = go[1];
	c->failure_fd = failure[0];
	c->pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0);
	*ret = c;
	return 0;
fail:
	for (int i = 0; i < 2; i++) {
		if (go[i] >= 0)
			close(go[i]);
		if (failure[i] >= 0)
			close(failure[i]);
	}
	free(c);
	return session_fail(error, r, "cannot start %s: %s", argv[0], strerror(-r));
}

pid_t
command_pid(const struct command *c)
{
	return c->pid;
}

int
command_fd(const struct command *c)
{
	return c->pidfd;
}

static void
wait_for_end(struct command *c)
{
	while (waitpid(c->pid, &c->status, 0) < 0 && errno == EINTR)
		;
	c->ended = true;
}

int
command_go(struct command *c, struct session_error *error)
{
	int err = 0, r;
	ssize_t n;

	if (write(c->go_fd, "", 1) != 1) {
		r = -errno;
		return session_fail(error, r, "cannot start %s: %s", c->name, strerror(-r));
	}
	close(c->go_fd);
	c->go_fd = -1;
	do
		n = read(c->failure_fd, &err, sizeof(err));
	while (n < 0 && errno == EINTR);
	if (n != (ssize_t)sizeof(err))
		return 0;
	wait_for_end(c);
	return cannot_execute(c->name, err, error);
}

bool
command_ended(struct command *c)
{
	if (!c->ended && waitpid(c->pid, &c->status, WNOHANG) == c->pid)
		c->ended = true;
	return c->ended;
}

int
command_status(const struct command *c)
{
	return c->ended ? c->status : -1;
}

void
command_stop(struct command *c)
{
	const struct timespec step = { .tv_nsec = STOP_STEP_MS * 1000000L };

	if (c->go_fd >= 0) {
		close(c->go_fd);
		c->go_fd = -1;
		wait_for_end(c);
		return;
	}
	if (command_ended(c))
		return;
	kill(c->pid, SIGTERM);
	kill(c->pid, SIGCONT); /* or it is not delivered to one that is stopped */
	for (int ms = 0; ms < STOP_MS && !command_ended(c); ms += STOP_STEP_MS)
		nanosleep(&step, NULL);
}

void
command_free(struct command *c)
{
	if (!c)
		return;
	if (c->go_fd >= 0)
		close(c->go_fd);
	if (c->failure_fd >= 0)
		close(c->failure_fd);
	if (c->pidfd >= 0)
		close(c->pidfd);
	free(c);
}
