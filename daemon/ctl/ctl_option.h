/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ctl_option: what the commands of spoorctl have in common on the command line.
 */
#ifndef DAEMON_CTL_CTL_OPTION_H
#define DAEMON_CTL_CTL_OPTION_H

#include <getopt.h>

#include "daemon/ctl/ctl_client.h"

/* Every command has these; a command's own come before them. */
enum { CTL_OPTION_SOCKET = 0x200, CTL_OPTION_JSON };
/* clang-format off */
#define CTL_OPTIONS                                                                                \
	{ "socket", required_argument, NULL, CTL_OPTION_SOCKET },                                  \
	{ "json", no_argument, NULL, CTL_OPTION_JSON },                                            \
	{ "help", no_argument, NULL, 'h' },                                                        \
	{ NULL, 0, NULL, 0 }
/* clang-format on */

/*
 * The next option of a command, or of spoorctl itself, as getopt_long() has it; letters begin with ':', or "+:".
 * '?': it is none, which was said.
 */
int ctl_option_next(int argc, char **argv, const char *letters, const struct option *options);
/*
 * What ctl_option_next() returned that the command does not know: -1 it is done, else the exit
 * status to end with (help was asked for, or it was wrong).
 */
int ctl_option_take(struct ctl_client *c, const char *command, int option);
/* A line on stderr and where to find help; CTL_USAGE. command NULL: spoorctl itself. */
int ctl_option_wrong(const char *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Says that there is no memory; CTL_FAILED. */
int ctl_option_no_memory(const char *command);
/* key of parameters, value taken over. -1: it is there; CTL_FAILED: no memory, which was said. */
int ctl_option_set(json_t *parameters, const char *key, json_t *value, const char *command);
/* For commands whose only options are those, and who take so many free arguments. */
int ctl_option_arguments(struct ctl_client *c, int argc, char **argv, int wanted);

#endif
