/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record_watch: what happens to a recording of spoor record while it runs: when sampling is on, what others
 * ask of it by --control, when it ends or goes on in another file. A thread of its own, only where it is asked for.
 */
#ifndef SYMBOLIZER_RECORD_RECORD_WATCH_H
#define SYMBOLIZER_RECORD_RECORD_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recorder/session/session.h"
#include "symbolizer/cli/record_output.h"

#define RECORD_WATCH_TIMES 64

enum {
	RECORD_WATCH = 0x300, /* first of those without a letter */
	RECORD_WATCH_CONTROL,
	RECORD_WATCH_MAX_SIZE,
	RECORD_WATCH_SWITCH,
	RECORD_WATCH_TRIGGER,
	RECORD_WATCH_OVERWRITE,
	RECORD_WATCH_MAX_FILES,
	RECORD_WATCH_STAMP,
};

/* Rows of a table of struct cli_option. */
#define RECORD_WATCH_OPTIONS                                                                             \
	{ 'D', 'D', "delay", "MS",                                                                       \
	  "sample from then on; -1: when --control says so; 10-20,30-40" },                              \
		{ RECORD_WATCH_CONTROL, 0, "control", "HOW",                                             \
		  "fd:N[,N] or fifo:PATH[,PATH]: takes enable, disable, evlist, snapshot, ping, stop" }, \
		{ RECORD_WATCH_MAX_SIZE, 0, "max-size", "SIZE", "ends when the file has 10M..." },       \
		{ RECORD_WATCH_SWITCH, 0, "switch-output", "[WHEN]",                                     \
		  "another file at SIGUSR2, or after 100M, 30s..." },                                    \
		{ RECORD_WATCH_TRIGGER, 0, "switch-output-event", "EVENT",                               \
		  "another file at each hit of EVENT" },                                                 \
		{ RECORD_WATCH_OVERWRITE, 0, "overwrite", NULL,                                          \
		  "only the last samples, of SIGUSR2 and of the end, are written" },                     \
		{ RECORD_WATCH_MAX_FILES, 0, "switch-max-files", "N",                                    \
		  "keep the last N of these files" },                                                    \
	{                                                                                                \
		RECORD_WATCH_STAMP, 0, "timestamp-filename", NULL,                                       \
			"FILE gets the time in its name"                                                 \
	}

struct record_watch_options {
	bool disabled; /* at the beginning: else the first of times_ns is 0 */
	uint64_t times_ns[RECORD_WATCH_TIMES]; /* rising, after the beginning: on, off, on... */
	size_t nr_times;
	const char *control; /* NULL: none */
	uint64_t max_bytes;  /* 0: none, as with the next two */
	uint64_t switch_bytes, switch_ns;
	bool switches;	     /* at SIGUSR2, too */
	bool overwrite;	     /* a flight recorder: a switch is a dump */
	bool snapshots;	     /* at SIGUSR2, of AUX areas */
	const char *trigger; /* the event at which it switches; NULL: none */
	uint32_t files_max;  /* 0: no limit */
	bool stamp;	     /* the file is called by its end */
	bool quiet;
};

struct record_watch;

/* "16M": bytes with a unit of B, K, M or G, or none. */
bool record_watch_size(const char *text, uint64_t *ret);

/* Takes one of them. CLI_GO_ON, or the status of a usage error, which was told. */
int record_watch_set(struct record_watch_options *options, int value, const char *text);

/*
 * Opens what --control names, and says by which sink the recording is to be written (NULL: by its descriptor).
 * *ret is NULL where there is nothing to watch. CLI_GO_ON, or the status to end with, which was told.
 * options and out are borrowed.
 */
int record_watch_new(const struct record_watch_options *options, struct record_output *out,
		     struct record_watch **ret, struct io_sink **ret_sink);

/* The session's trigger_fd; -1: it needs none. */
int record_watch_trigger_fd(const struct record_watch *w);

/* The session begins now. EXIT_DONE or EXIT_FAILED, which was told. NULL does nothing, here and below. */
int record_watch_start(struct record_watch *w, struct session *session);
/* session_run() has returned. */
void record_watch_stop(struct record_watch *w);
/* How many files it has filled before the last one. */
uint64_t record_watch_files(const struct record_watch *w);
void record_watch_free(struct record_watch *w);

#endif
