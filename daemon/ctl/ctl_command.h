/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ctl_command: the commands of spoorctl.
 */
#ifndef DAEMON_CTL_CTL_COMMAND_H
#define DAEMON_CTL_CTL_COMMAND_H

#include "daemon/ctl/ctl_client.h"

/* name, arguments, one line of help; each has its ctl_command_NAME(). */
#define CTL_COMMANDS(X)                                                                            \
	X(status, "", "what spoord does, what it costs, and what it missed")                       \
	X(capture,                                                                                 \
	  "[--duration TIME] [-F HZ|-c N] [-e EVENT]... [--call-graph HOW]\n"                      \
	  "       [-p PID,...|-t TID,...|-G CGROUP] [-C CPUS] [-o FILE]",                          \
	  "record into a file of its own")                                                         \
	X(captures, "", "captures that are running")                                               \
	X(stop, "ID", "end a capture")                                                             \
	X(keep, "DURATION | --since TIME [--until TIME] [-l LABEL]", "pin what was recorded then") \
	X(dump, "", "write what the flight recorder has")                                          \
	X(list, "", "files of the archive")                                                        \
	X(sync, "", "wait until everything sampled so far is on disk")                             \
	X(rotate, "", "begin a new segment")                                                       \
	X(vacuum, "[--max-use SIZE] [--max-age TIME] [--max-segments N]", "delete the oldest")     \
	X(reload, "", "read the configuration again")                                              \
	X(monitor, "[-n SECONDS]", "status, every second")

/* argv[0] is the command's name. The exit status. */
#define X(name, arguments, help)                                                                   \
	int ctl_command_##name(struct ctl_client *c, int argc, char **argv);
CTL_COMMANDS(X)
#undef X

#endif
