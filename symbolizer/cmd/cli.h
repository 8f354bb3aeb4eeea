/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cli: the table of spoor's subcommands, and what they share on the command line.
 */
#ifndef SYMBOLIZER_CMD_CLI_H
#define SYMBOLIZER_CMD_CLI_H

#define EXIT_DONE 0
#define EXIT_FAILED 1
#define EXIT_USAGE 2
#define EXIT_DAMAGED 3 /* verify: damaged but readable */

/* name, one-line help; each has its cmd_NAME() in cmd/cmd_NAME.c */
#define CLI_COMMANDS(X)                                                                            \
	X(record, "record samples into a file")                                                    \
	X(report, "where the time went, by command, object and symbol")                            \
	X(export, "write samples for other tools: folded")                                         \
	X(info, "what a recording is and has")                                                     \
	X(dump, "every record, every field, one a line")                                           \
	X(verify, "check a recording's blocks and checksums")

#define X(name, help) int cmd_##name(int argc, char **argv);
CLI_COMMANDS(X)
#undef X

/* Prints usage of a command to stdout (help) or one line to stderr; returns the status. */
int cli_usage_error(const char *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
