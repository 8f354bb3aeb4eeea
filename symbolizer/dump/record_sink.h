/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record_sink: where the fields of a record go, named and in order: a line of text, or a
 * JSON object. record_text walks a record once for both.
 *
 * Keys are ours; strings and bytes are the recording's, and leave here escaped.
 */
#ifndef SYMBOLIZER_DUMP_RECORD_SINK_H
#define SYMBOLIZER_DUMP_RECORD_SINK_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "format/bytes/span.h"

#define RECORD_SINK_DEPTH 8

enum sink_style {
	SINK_DECIMAL,
	SINK_HEX,
};

struct record_sink {
	FILE *file; /* text; NULL for JSON */
	bool glue;  /* text: the next item needs no space before it */

	json_t *stack[RECORD_SINK_DEPTH]; /* JSON: the object or array open at each depth */
	unsigned depth;
	bool failed;
};

void record_sink_text(struct record_sink *s, FILE *file);
/* Opens an object; record_sink_json_done() returns it, or NULL when memory ran out. */
void record_sink_json(struct record_sink *s);
json_t *record_sink_json_done(struct record_sink *s);

/*
 * Items. key is NULL in a list. Text: key=value, 0x hex, "string", length:hex, [list] and
 * {object}. JSON: hex is a string, and so is what does not fit a signed 64-bit integer.
 */
void sink_number(struct record_sink *s, const char *key, uint64_t v, enum sink_style style);
void sink_signed(struct record_sink *s, const char *key, int64_t v);
void sink_word(struct record_sink *s, const char *key, const char *word); /* our own */
void sink_string(struct record_sink *s, const char *key, const char *str);
void sink_bytes(struct record_sink *s, const char *key, struct span bytes);
void sink_open_list(struct record_sink *s, const char *key);
void sink_close_list(struct record_sink *s);
void sink_open_object(struct record_sink *s, const char *key);
void sink_close_object(struct record_sink *s);

#endif
