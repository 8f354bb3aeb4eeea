/* SPDX-License-Identifier: GPL-2.0-or-later */
/* record_command: what a command of --control does to a recording, as perf record has them. */
#ifndef SYMBOLIZER_RECORD_RECORD_COMMAND_H
#define SYMBOLIZER_RECORD_RECORD_COMMAND_H

#include <stdbool.h>

struct session;

struct record_command {
	struct session *session;
	bool quiet;
	bool (*snapshot)(void *arg); /* false: it was told why not */
	void *arg;
};

/* A line. True: it is to be answered; as perf does, also where it names an event that there is not, which was told. */
bool record_command_obey(const struct record_command *c, const char *line);

/* event: its name; NULL: all. False: it was told why not. */
bool record_command_turn(const struct record_command *c, const char *event, bool on);

#endif
