/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/cli/pager.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * What one screen holds needs no pager (F, X), colour is colour (R), and a line that is wider than
 * the terminal is scrolled to (S), which F takes for more than a screen. A machine without less is
 * no reason to show nothing.
 */
#define PAGER_DEFAULT "if command -v less >/dev/null 2>&1; then exec less -FRSX; else exec cat; fi"

static bool disabled;
static pid_t pager_pid;

void
pager_disable(void)
{
	disabled = true;
}

static const char *
pager_command(void)
{
	const char *command = getenv("SPOOR_PAGER");

	if (!command)
		command = getenv("PAGER");
	if (!command)
		return PAGER_DEFAULT;
	if (!*command || strcmp(command, "cat") == 0)
		return NULL;
	return command;
}

static void
pager_child(const char *command, const int fds[2])
{
	if (dup2(fds[0], STDIN_FILENO) < 0)
		_exit(127);
	close(fds[0]);
	close(fds[1]);
	setenv("LESS", "FRSX", 0);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

void
pager_start(void)
{
	const char *command = pager_command();
	int fds[2];

	if (disabled || pager_pid || !command || !isatty(STDOUT_FILENO))
		return;
	fflush(stdout);
	if (pipe(fds) < 0)
		return;
	pager_pid = fork();
	if (pager_pid == 0)
		pager_child(command, fds);
	if (pager_pid > 0 && dup2(fds[1], STDOUT_FILENO) < 0)
		pager_pid = 0;
	if (pager_pid < 0)
		pager_pid = 0;
	close(fds[0]);
	close(fds[1]);
	/* The person quits the pager: a write error that main keeps quiet about. */
	if (pager_pid > 0)
		signal(SIGPIPE, SIG_IGN);
}

int
pager_finish(void)
{
	int status;

	if (pager_pid <= 0)
		return 1;
	/* ^C is the pager's to act on; we go when it goes. */
	signal(SIGINT, SIG_IGN);
	fflush(stdout);
	close(STDOUT_FILENO);
	while (waitpid(pager_pid, &status, 0) < 0 && errno == EINTR)
		;
	pager_pid = 0;
	return 0;
}
