/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/text/escape.h"

#include <stdio.h>
#include <string.h>

/* Inclusive ranges that a name may not bring onto a terminal. */
static const struct {
	int32_t first, last;
} unprintable[] = {
	{ 0x0000, 0x001f },   /* C0 */
	{ 0x007f, 0x009f },   /* DEL, C1 */
	{ 0x00ad, 0x00ad },   /* soft hyphen */
	{ 0x034f, 0x034f },   /* grapheme joiner */
	{ 0x061c, 0x061c },   /* Arabic letter mark */
	{ 0x115f, 0x1160 },   /* Hangul fillers */
	{ 0x17b4, 0x17b5 },   /* Khmer inherent vowels */
	{ 0x180b, 0x180f },   /* Mongolian selectors */
	{ 0x200b, 0x200f },   /* zero width, marks of direction */
	{ 0x2028, 0x202e },   /* line separators, bidi embedding and override */
	{ 0x2060, 0x206f },   /* invisible operators, bidi isolates */
	{ 0x3164, 0x3164 },   /* Hangul filler */
	{ 0xd800, 0xdfff },   /* surrogates */
	{ 0xfe00, 0xfe0f },   /* variation selectors */
	{ 0xfeff, 0xfeff },   /* byte order mark */
	{ 0xffa0, 0xffa0 },   /* halfwidth Hangul filler */
	{ 0xfff0, 0xfffb },   /* annotation */
	{ 0xfffe, 0xffff },   /* no characters */
	{ 0x1bca0, 0x1bca3 }, /* shorthand formats */
	{ 0x1d173, 0x1d17a }, /* musical formats */
	{ 0xe0000, 0xe0fff }, /* tags */
};

int32_t
escape_next(const char **s)
{
	/* lengths 1 to 4: bits of the first byte, least code point */
	static const struct {
		uint8_t mask, lead;
		int32_t least;
	} shape[] = {
		{ 0x80, 0, 0 }, { 0xe0, 0xc0, 0x80 }, { 0xf0, 0xe0, 0x800 }, { 0xf8, 0xf0, 0x10000 }
	};
	const uint8_t *p = (const uint8_t *)*s;

	for (unsigned n = 0; n < 4; n++) {
		int32_t c = p[0] & ~shape[n].mask;

		if ((p[0] & shape[n].mask) != shape[n].lead)
			continue;
		/* The NUL is no continuation byte, so that this ends with the string. */
		for (unsigned i = 1; i <= n; i++) {
			if ((p[i] & 0xc0) != 0x80)
				goto bad;
			c = c << 6 | (p[i] & 0x3f);
		}
		if (c < shape[n].least || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
			break;
		*s += n + 1;
		return c;
	}
bad:
	*s += 1;
	return -1;
}

bool
escape_printable(int32_t c)
{
	for (size_t i = 0; i < sizeof(unprintable) / sizeof(unprintable[0]); i++)
		if (c >= unprintable[i].first && c <= unprintable[i].last)
			return false;
	return true;
}

static void
append_bytes(struct buf *out, bool hex, const char *from, const char *to)
{
	char text[8];

	for (; from < to; from++) {
		unsigned byte = (uint8_t)*from;

		snprintf(text, sizeof(text), hex ? "\\x%02x" : "\\%03o", byte);
		buf_append(out, text, 4);
	}
}

/* Most names are nothing else: how many bytes of plain text s begins with. */
static size_t
plain(const char *s)
{
	size_t n = 0;

	while (s[n] >= ' ' && s[n] <= '~')
		n++;
	return n;
}

void
escape(struct buf *out, const char *s)
{
	for (;;) {
		const char *from = s;
		int32_t c;

		s += plain(s);
		if (s > from)
			buf_append(out, from, (size_t)(s - from));
		if (!*s)
			return;
		from = s;
		c = escape_next(&s);
		if (c < 0)
			append_bytes(out, true, from, s);
		else if (escape_printable(c))
			buf_append(out, from, (size_t)(s - from));
		else
			append_bytes(out, false, from, s);
	}
}

char *
escape_dup(const char *s)
{
	struct buf b;
	char *copy = NULL;

	buf_init(&b);
	escape(&b, s);
	buf_u8(&b, 0);
	if (!buf_failed(&b))
		copy = strdup((const char *)b.p);
	buf_done(&b);
	return copy;
}

void
escape_utf8(struct buf *out, const char *s)
{
	while (*s) {
		const char *from = s;

		if (escape_next(&s) < 0)
			append_bytes(out, true, from, s);
		else
			buf_append(out, from, (size_t)(s - from));
	}
}

void
escape_folded(struct buf *out, const char *s)
{
	size_t from = out->len;

	escape(out, s);
	for (size_t i = from; !buf_failed(out) && i < out->len; i++)
		if (out->p[i] == ';')
			out->p[i] = ':';
}
