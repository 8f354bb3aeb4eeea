/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * command: a program that is started, but runs only when it is let go.
 *
 * So events can be opened on it before its first instruction, and enabled by its exec.
 */
#ifndef RECORDER_EVENT_COMMAND_H
#define RECORDER_EVENT_COMMAND_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "recorder/ground/session_error.h"

struct command;

/* What execvp(3) would execute, as far as that can be known without a try. 0, or -errno. */
int command_find(const char *name, char ret[PATH_MAX]);
/*
 * Could it be executed? 0, or -errno with *error as command_go() has it. What only an attempt shows, such as a
 * missing interpreter, is not seen.
 */
int command_check(char *const *argv, struct session_error *error);

/* Forks; the child waits. 0, or -errno with *error filled. */
int command_start(char *const *argv, struct command **ret, struct session_error *error);

pid_t command_pid(const struct command *c);

/*
 * Lets it exec. A failure of exec comes back: -errno, and *error has exit_status 127 when
 * there is no such program, 126 when it is there and cannot be executed.
 */
int command_go(struct command *c, struct session_error *error);

/* A descriptor that is readable when it has ended; -1: this kernel has none, ask often. */
int command_fd(const struct command *c);

/* Has it ended? Never waits. */
bool command_ended(struct command *c);

/* As waitpid(2) gives it; -1: it has not ended, or never began. */
int command_status(const struct command *c);

/*
 * Ends it if it still runs: SIGTERM, and some time to follow it. A child that was never let
 * go leaves without a trace. Frees nothing.
 */
void command_stop(struct command *c);

void command_free(struct command *c);

#endif
