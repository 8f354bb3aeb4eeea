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
	X(timeline, "which service or process used the CPUs, and when")                            \
	X(counters, "what events counted over time: instructions per cycle, misses, faults")       \
	X(heatmap, "when it was: seconds in parts of 20 ms, or services over a day")               \
	X(peek, "callers and callees of functions, with the share of each")                        \
	X(tree, "who called whom, and the share of each")                                          \
	X(flamegraph, "who called whom, as a picture in a browser")                                \
	X(diff, "what became slower between two recordings or times, and what is noise")           \
	X(top, "what takes the CPUs now, again and again")                                         \
	X(export, "write samples for other tools: folded, pprof, perf.data...")                    \
	X(list, "the events that this machine offers")                                             \
	X(names, "ask runtimes for the names of the code that they made")                          \
	X(import, "read a perf.data into a recording")                                             \
	X(pack, "put into a recording what names it, to be read on any host")                      \
	X(info, "what a recording is and has")                                                     \
	X(dump, "every record, every field, one a line")                                           \
	X(verify, "check a recording's blocks and checksums")                                      \
	X(symbolize, "functions and lines at addresses of an ELF file")

#define X(name, help) int cmd_##name(int argc, char **argv);
CMD_COMMANDS(X)
#undef X

#endif
