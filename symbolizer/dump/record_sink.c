/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/dump/record_sink.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "format/bytes/buf.h"
#include "symbolizer/text/json_value.h"

void
record_sink_text(struct record_sink *s, FILE *file)
{
	memset(s, 0, sizeof(*s));
	s->file = file;
	s->glue = true;
}

void
record_sink_json(struct record_sink *s)
{
	memset(s, 0, sizeof(*s));
	s->stack[0] = json_object();
	s->failed = s->stack[0] == NULL;
}

json_t *
record_sink_json_done(struct record_sink *s)
{
	if (s->failed) {
		json_decref(s->stack[0]);
		return NULL;
	}
	return s->stack[0];
}

/* ---- JSON ---- */

static void
json_add(struct record_sink *s, const char *key, json_t *value)
{
	json_t *to = s->stack[s->depth];
	int r;

	if (s->failed) {
		json_decref(value);
		return;
	}
	if (key)
		r = json_object_set_new_nocheck(to, key, value);
	else
		r = json_array_append_new(to, value);
	if (r < 0)
		s->failed = true;
}

static void
json_open(struct record_sink *s, const char *key, json_t *value)
{
	json_add(s, key, value);
	assert(s->depth + 1 < RECORD_SINK_DEPTH);
	s->stack[++s->depth] = value; /* freed with its parent, or not looked at once failed */
}

/* ---- text ---- */

static void
text_key(struct record_sink *s, const char *key)
{
	if (!s->glue)
		putc(' ', s->file);
	s->glue = false;
	if (key) {
		fputs(key, s->file);
		putc('=', s->file);
	}
}

/* Quotes and backslashes are escaped as well: no name can look like the end of itself. */
static void
text_string(FILE *file, const char *str)
{
	putc('"', file);
	for (; *str; str++) {
		const unsigned char c = (unsigned char)*str;

		if (c < 0x20 || c > 0x7e || c == '"' || c == '\\')
			fprintf(file, "\\%03o", c);
		else
			putc(c, file);
	}
	putc('"', file);
}

static void
hex_encode(char *out, const uint8_t *p, size_t n)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < n; i++) {
		*out++ = digits[p[i] >> 4];
		*out++ = digits[p[i] & 15];
	}
}

static void
text_bytes(FILE *file, struct span bytes)
{
	char hex[512];

	fprintf(file, "%zu:", bytes.len);
	for (size_t at = 0, n; at < bytes.len; at += n) {
		n = bytes.len - at;
		if (n > sizeof(hex) / 2)
			n = sizeof(hex) / 2;
		hex_encode(hex, bytes.p + at, n);
		fwrite(hex, 1, n * 2, file);
	}
}

/* ---- both ---- */

void
sink_number(struct record_sink *s, const char *key, uint64_t v, enum sink_style style)
{
	char text[24];

	snprintf(text, sizeof(text), style == SINK_HEX ? "0x%" PRIx64 : "%" PRIu64, v);
	if (s->file) {
		text_key(s, key);
		fputs(text, s->file);
	} else if (style == SINK_DECIMAL && v <= INT64_MAX) {
		json_add(s, key, json_integer((json_int_t)v));
	} else {
		json_add(s, key, json_string_nocheck(text));
	}
}

void
sink_signed(struct record_sink *s, const char *key, int64_t v)
{
	if (s->file) {
		text_key(s, key);
		fprintf(s->file, "%" PRId64, v);
	} else {
		json_add(s, key, json_integer((json_int_t)v));
	}
}

void
sink_word(struct record_sink *s, const char *key, const char *word)
{
	if (s->file) {
		text_key(s, key);
		fputs(word, s->file);
	} else {
		json_add(s, key, json_string_nocheck(word));
	}
}

void
sink_string(struct record_sink *s, const char *key, const char *str)
{
	if (s->file) {
		text_key(s, key);
		text_string(s->file, str);
	} else {
		json_add(s, key, json_value_text(str));
	}
}

void
sink_bytes(struct record_sink *s, const char *key, struct span bytes)
{
	struct buf b;
	uint8_t *hex;

	if (s->file) {
		text_key(s, key);
		text_bytes(s->file, bytes);
		return;
	}
	buf_init(&b);
	hex = buf_reserve(&b, bytes.len * 2 + 1);
	if (hex) {
		hex_encode((char *)hex, bytes.p, bytes.len);
		json_add(s, key, json_stringn_nocheck((const char *)hex, bytes.len * 2));
	} else {
		s->failed = true;
	}
	buf_done(&b);
}

static void
open_group(struct record_sink *s, const char *key, int bracket, json_t *(*new_group)(void))
{
	if (s->file) {
		text_key(s, key);
		putc(bracket, s->file);
		s->glue = true;
	} else {
		json_open(s, key, new_group());
	}
}

static void
close_group(struct record_sink *s, int bracket)
{
	if (s->file) {
		putc(bracket, s->file);
		s->glue = false;
	} else {
		s->depth--;
	}
}

void
sink_open_list(struct record_sink *s, const char *key)
{
	open_group(s, key, '[', json_array);
}

void
sink_close_list(struct record_sink *s)
{
	close_group(s, ']');
}

void
sink_open_object(struct record_sink *s, const char *key)
{
	open_group(s, key, '{', json_object);
}

void
sink_close_object(struct record_sink *s)
{
	close_group(s, '}');
}
