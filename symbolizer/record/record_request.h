/* SPDX-License-Identifier: GPL-2.0-or-later */
/* record_request: what the arguments of spoor record ask for. */
#ifndef SYMBOLIZER_RECORD_RECORD_REQUEST_H
#define SYMBOLIZER_RECORD_RECORD_REQUEST_H

#include "format/bytes/buf.h"
#include "recorder/session/session.h"
#include "symbolizer/record/record_filters.h"
#include "symbolizer/record/record_watch.h"

#define RECORD_PIDS_MAX 1024
#define RECORD_EVENTS_MAX 1024
#define RECORD_OFF_CPU_BYTES 96

struct record_request {
	struct session_options session; /* points into what follows, and into the arguments */
	char *events[RECORD_EVENTS_MAX];
	char *trigger; /* the event at which it switches files, to be freed */
	char *counted; /* the events of --counters, likewise */
	struct record_filters filters;
	pid_t pids[RECORD_PIDS_MAX];
	const char *output;
	char off_cpu[RECORD_OFF_CPU_BYTES]; /* the event; "": not asked for */
	const char *off_cpu_thresh;	    /* as typed; NULL: not given */
	char *unit_group;		    /* the path of the control group of --unit or --slice */
	struct buf cmdline;		    /* the arguments as typed */
	struct record_watch_options watch;
	size_t nr_group_events; /* how many -e stood before -G of one control group */
	bool target_given;
	bool counters; /* --counters */
	bool dry_run, json, verbose;
	bool pack; /* what names the recording shall be inside of it */
};

/*
 * Reads the arguments, all but the session's out_fd and objects.  CLI_GO_ON, or the status to end with: it was
 * told, or help printed. record_request_done() in each case; the request stays where it is until then.
 */
int record_request_parse(struct record_request *rq, int argc, char **argv);

void record_request_done(struct record_request *rq);

#endif
