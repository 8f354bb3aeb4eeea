/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/text/json_value.h"

#include <string.h>

#include "symbolizer/text/escape.h"

/* Of a character in JSON: two of these, when it takes more than 16 bits. */
#define UNICODE_TEXT 13

static void
unicode_text(char text[UNICODE_TEXT], int32_t c)
{
	const unsigned over = (unsigned)c - 0x10000;

	if (c <= 0xffff)
		snprintf(text, UNICODE_TEXT, "\\u%04x", (unsigned)c);
	else
		snprintf(text, UNICODE_TEXT, "\\u%04x\\u%04x", 0xd800 | (over >> 10 & 0x3ff),
			 0xdc00 | (over & 0x3ff));
}

json_t *
json_value_text(const char *s)
{
	struct buf b;
	json_t *j = NULL;

	buf_init(&b);
	escape_utf8(&b, s);
	if (!buf_failed(&b))
		j = json_stringn_nocheck(b.len ? (const char *)b.p : "", b.len);
	buf_done(&b);
	return j;
}

bool
json_value_write(const char *s, FILE *out)
{
	json_t *j = json_value_text(s);
	const bool there = j != NULL;

	if (there)
		(void)json_value_dump(j, out, JSON_ENCODE_ANY);
	json_decref(j);
	return there;
}

void
json_value_print(const char *text, size_t len, FILE *out)
{
	const char *end = text + len, *from = text;

	while (text < end) {
		char character[5] = "", escaped[UNICODE_TEXT];
		const char *p = character;
		int32_t c;

		if ((uint8_t)*text < 0x7f) {
			text++;
			continue;
		}
		memcpy(character, text, strnlen(text, end - text < 4 ? (size_t)(end - text) : 4));
		c = escape_next(&p);
		if (c >= 0 && !escape_printable(c)) {
			fwrite(from, 1, (size_t)(text - from), out);
			unicode_text(escaped, c);
			fputs(escaped, out);
			from = text + (p - character);
		}
		text += p - character;
	}
	fwrite(from, 1, (size_t)(end - from), out);
}

static int
print_chunk(const char *text, size_t len, void *out)
{
	json_value_print(text, len, out);
	return 0;
}

int
json_value_dump(const json_t *j, FILE *out, size_t flags)
{
	return json_dump_callback(j, print_chunk, out, flags);
}

/* How many bytes s begins with that stand for themselves. */
static size_t
json_plain(const char *s)
{
	size_t n = 0;

	while (s[n] >= ' ' && s[n] <= '~' && s[n] != '"' && s[n] != '\\')
		n++;
	return n;
}

void
json_value_append(struct buf *out, const char *s)
{
	char text[UNICODE_TEXT];

	buf_u8(out, '"');
	while (*s) {
		const size_t n = json_plain(s);
		const char *from = s += n;
		int32_t c;

		buf_append(out, s - n, n);
		if (!*s)
			break;
		c = escape_next(&s);
		if (c < 0) {
			snprintf(text, sizeof(text), "\\\\x%02x", (uint8_t)*from);
			buf_text(out, text);
		} else if (c == '"' || c == '\\') {
			buf_u8(out, '\\');
			buf_u8(out, (uint8_t)c);
		} else if (!escape_printable(c)) {
			unicode_text(text, c);
			buf_text(out, text);
		} else {
			buf_append(out, from, (size_t)(s - from));
		}
	}
	buf_u8(out, '"');
}

json_t *
json_value_number(uint64_t n)
{
	return json_integer(n > INT64_MAX ? INT64_MAX : (json_int_t)n);
}

json_t *
json_value_known(uint64_t n)
{
	return n ? json_value_number(n) : json_null();
}
