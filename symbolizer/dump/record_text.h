/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record_text: one parsed record as one line of text, or as one JSON object, with every
 * field it has. What `spoor dump` prints.
 *
 *	TIME CPU PID/TID TYPE misc=FLAG|FLAG size=N [event="NAME"] [id=N] FIELD=VALUE...
 *
 * TIME is seconds with nine decimals; "-" stands for what the record does not tell. Numbers
 * are decimal; addresses, flags and words of hardware are 0x hex. Strings are quoted, with
 * quotes, backslashes and all bytes outside printable ASCII as \ooo; bytes are length:hex.
 * A list is [A B], a structure {K=V K=V}. The fields of a tracepoint are the structure "trace".
 */
#ifndef SYMBOLIZER_DUMP_RECORD_TEXT_H
#define SYMBOLIZER_DUMP_RECORD_TEXT_H

#include <jansson.h>
#include <stdio.h>

#include "format/record/event_set.h"
#include "format/record/perf_record.h"
#include "format/record/tracepoint.h"

/* What a record does not say itself. */
struct record_text_about {
	const char *event;		     /* its event's name; NULL: not known */
	const char *arch;		     /* uname -m, for the names of registers; may be NULL */
	const struct event_set *events;	     /* whose counts a sample has; NULL: ids alone tell */
	bool state;			     /* synthesized by the recorder */
	const struct tracepoint *tracepoint; /* what its bytes mean; NULL: not known */
};

/* Ends in a newline. Errors are the stream's (ferror). */
void record_text(FILE *file, const struct perf_record *r, const struct record_text_about *about);

/*
 * The same as JSON: type, misc, size, event, state, time (ns), cpu, pid, tid, id, stream_id,
 * and an object "fields". Hex numbers, and those over 2^63-1, are strings; bytes are hex
 * strings. The caller owns the object; NULL: out of memory. Dump it with JSON_ENSURE_ASCII:
 * its strings are the recording's, C1 controls included.
 */
json_t *record_text_json(const struct perf_record *r, const struct record_text_about *about);

/* A record that no event could parse: its header, if it has one, and its bytes. */
void record_text_bad(FILE *file, struct span bytes, const char *why);
json_t *record_text_bad_json(struct span bytes, const char *why);

#endif
