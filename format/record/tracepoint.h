/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tracepoint: what the bytes of a tracepoint's samples (PERF_SAMPLE_RAW) mean, by its format.
 *
 * A format is a text: the name of the tracepoint's system, a newline, and the file
 * events/SYSTEM/NAME/format of tracefs as the kernel wrote it. Only its table of fields is read
 * (name, type, offset, size, signedness), never the expressions of "print fmt", which are a language
 * of their own. Both the text and the bytes are untrusted: a field that does not lie in the bytes has
 * no value. Source of the layout: f_show() of kernel/trace/trace_events.c.
 */
#ifndef FORMAT_RECORD_TRACEPOINT_H
#define FORMAT_RECORD_TRACEPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/bytes/buf.h"
#include "format/bytes/span.h"
#include "format/record/event_set.h"

#define TRACEPOINT_TEXT_MAX (64u << 10) /* of a sample, about: fields may lie over each other */
#define TRACEPOINT_FIELDS_MAX 256	/* what follows is left out; the kernel's longest have 40 */

enum tracepoint_kind {
	TRACEPOINT_NUMBER,
	TRACEPOINT_ADDRESS, /* a pointer */
	TRACEPOINT_TEXT,    /* up to a NUL or its end */
	TRACEPOINT_NUMBERS, /* an array */
	TRACEPOINT_BYTES,   /* a struct, or an array of what is not known here */
};

struct tracepoint_field {
	const char *name; /* an identifier of C; owned by the tracepoint */
	enum tracepoint_kind kind;
	uint32_t offset, size;
	uint8_t each; /* bytes of a number: 1, 2, 4, 8 */
	bool is_signed;
	bool dynamic;  /* its bytes are where a word says that stands in its place (__data_loc) */
	bool relative; /* likewise, counted from behind that word (__rel_loc) */
	bool common;   /* every tracepoint has it: common_pid... */
};

struct tracepoint {
	uint64_t id;  /* attr.config of its events */
	char *system; /* "sched" */
	char *name;   /* "sched_switch" */
	struct tracepoint_field *fields;
	size_t nr_fields;
};

/* A field of one sample. */
struct tracepoint_value {
	enum tracepoint_kind kind;
	bool is_signed;
	uint8_t each;
	uint64_t number;   /* NUMBER (sign-extended when is_signed), ADDRESS */
	struct span bytes; /* of the others; in the sample's */
};

/* 0; -FMT_E_CORRUPT: no format, or one without an id or a name; -FMT_E_NOMEM. */
int tracepoint_parse(const char *format, struct tracepoint **ret);
void tracepoint_free(struct tracepoint *t);

/* NULL: it has no such field. */
const struct tracepoint_field *tracepoint_find(const struct tracepoint *t, const char *name,
					       size_t len);
/* False: it is not in the bytes. */
bool tracepoint_value(const struct tracepoint_field *f, struct span raw,
		      struct tracepoint_value *ret);
/* Number i of NUMBERS, from 0. False: there are no more. */
bool tracepoint_number_at(const struct tracepoint_value *v, size_t i, uint64_t *ret);

/*
 * Appends a value as text: -7, 0x7f00, what TEXT says (unescaped, without a NUL), {1,2}, or bytes
 * as hex digits.
 */
void tracepoint_value_text(const struct tracepoint_value *v, struct buf *out);
/* All fields of its own: "prev_comm=sh prev_pid=7"; likewise unescaped. */
void tracepoint_text(const struct tracepoint *t, struct span raw, struct buf *out);

/* The formats of a recording's events, each parsed when it is first asked for. */
struct tracepoints {
	struct tracepoint **of; /* by event; NULL: not known, or not asked for yet */
	bool *asked;
	size_t nr;
};

/* NULL: none, no format is known, or there is no memory. Good until tracepoints_done(). */
const struct tracepoint *tracepoints_of(struct tracepoints *t, const struct event_set *events,
					int event);
void tracepoints_done(struct tracepoints *t); /* all zero is an empty one */

#endif
