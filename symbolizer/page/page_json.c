/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/page/page_json.h"

#include <math.h>
#include <string.h>

#include "format/bytes/fmt_error.h"
#include "symbolizer/text/escape.h"

#define WRITE_BYTES (256u << 10)

void
page_json_init(struct page_json *j, FILE *out)
{
	*j = (struct page_json){ .out = out };
	buf_init(&j->b);
}

static void
write_out(struct page_json *j)
{
	if (buf_failed(&j->b))
		j->error = -FMT_E_NOMEM;
	if (j->error == 0 && j->b.len > 0)
		fwrite(j->b.p, 1, j->b.len, j->out);
	buf_clear(&j->b);
}

int
page_json_done(struct page_json *j)
{
	write_out(j);
	buf_done(&j->b);
	return j->error;
}

static void
begin_value(struct page_json *j, const char *key)
{
	if (j->b.len >= WRITE_BYTES || buf_failed(&j->b))
		write_out(j);
	if (j->comma)
		buf_u8(&j->b, ',');
	j->comma = true;
	if (!key)
		return;
	buf_u8(&j->b, '"');
	buf_text(&j->b, key);
	buf_text(&j->b, "\":");
}

void
page_json_open(struct page_json *j, const char *key, char bracket)
{
	begin_value(j, key);
	buf_u8(&j->b, (uint8_t)bracket);
	j->comma = false;
}

void
page_json_close(struct page_json *j, char bracket)
{
	buf_u8(&j->b, (uint8_t)bracket);
	buf_u8(&j->b, '\n');
	j->comma = true;
}

void
page_json_number(struct page_json *j, const char *key, uint64_t n)
{
	char digits[20], *p = digits + sizeof(digits);

	begin_value(j, key);
	do
		*--p = (char)('0' + n % 10);
	while ((n /= 10) > 0);
	buf_append(&j->b, p, (size_t)(digits + sizeof(digits) - p));
}

void
page_json_real(struct page_json *j, const char *key, double n)
{
	char text[32];

	begin_value(j, key);
	if (isfinite(n))
		snprintf(text, sizeof(text), "%.17g", n);
	buf_text(&j->b, isfinite(n) ? text : "null");
}

/* What is escaped has no control character; what ends a string, or a script, is not yet. */
static void
put_quoted(struct buf *b, size_t from)
{
	size_t more = 0;

	if (buf_failed(b))
		return;
	for (size_t i = from; i < b->len; i++)
		more += b->p[i] == '"' || b->p[i] == '\\' ? 1 : b->p[i] == '<' ? 5 : 0;
	if (more == 0 || !buf_reserve(b, more))
		return;
	for (size_t i = b->len, to = b->len + more; i-- > from;) {
		const uint8_t c = b->p[i];

		if (c == '<') {
			to -= 6;
			memcpy(b->p + to, "\\u003c", 6);
		} else {
			b->p[--to] = c;
			if (c == '"' || c == '\\')
				b->p[--to] = '\\';
		}
	}
	b->len += more;
}

void
page_json_text(struct page_json *j, const char *key, const char *s)
{
	size_t from;

	begin_value(j, key);
	if (!s) {
		buf_text(&j->b, "null");
		return;
	}
	buf_u8(&j->b, '"');
	from = j->b.len;
	escape(&j->b, s);
	put_quoted(&j->b, from);
	buf_u8(&j->b, '"');
}

void
page_json_texts(struct page_json *j, const char *key, const struct buf *texts)
{
	const char *text = (const char *)texts->p;

	page_json_open(j, key, '[');
	for (size_t at = 0; at < texts->len; at += strlen(text + at) + 1)
		page_json_text(j, NULL, text + at);
	page_json_close(j, ']');
}
