/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd: the table of spoor's subcommands.
 */
#ifndef SYMBOLIZER_CMD_CMD_H
#define SYMBOLIZER_CMD_CMD_H

/* name, one-line help; each has its cmd_NAME() in cmd_NAME.c */
#define CMD_COMMANDS(X)                                                                            \
	X(record, "record samples into a file")                                                    \
	X(report, "where the time went, by command, object and symbol")                            \
	X(annotate, "lines and instructions of a function, with the samples of each")              \
	X(tree, "who called whom, and the share of each")                                          \
	X(export, "write samples for other tools: folded, pprof, perf.data...")                    \
	X(import, "read a perf.data into a recording")                                             \
	X(info, "what a recording is and has")                                                     \
	X(dump, "every record, every field, one a line")                                           \
	X(verify, "check a recording's blocks and checksums")                                      \
	X(symbolize, "functions and lines at addresses of an ELF file")

#define X(name, help) int cmd_##name(int argc, char **argv);
CMD_COMMANDS(X)
#undef X

#endif
