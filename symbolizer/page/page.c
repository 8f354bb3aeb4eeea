/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/page/page.h"

#include <sha2.h>
#include <string.h>

#include "format/bytes/fmt_error.h"
#include "symbolizer/page/page_files.h"
#include "symbolizer/text/escape.h"

const struct page_kind page_flame = { page_files_flame_html, page_files_flame_css,
				      page_files_flame_js };

const struct page_kind page_heat = { page_files_heat_html, page_files_heat_css,
				     page_files_heat_js };

static void
put_base64(const uint8_t *p, size_t n, FILE *out)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < n; i += 3) {
		uint32_t v = (uint32_t)p[i] << 16;

		v |= i + 1 < n ? (uint32_t)p[i + 1] << 8 : 0;
		v |= i + 2 < n ? p[i + 2] : 0;
		for (size_t k = 0; k < 4; k++)
			putc(i + k > n ? '=' : digits[v >> (18 - 6 * k) & 63], out);
	}
}

/* As the policy names a script or style. */
static void
put_checksum(const char *text, FILE *out)
{
	uint8_t digest[SHA256_DIGEST_LENGTH];
	SHA2_CTX ctx;

	SHA256Init(&ctx);
	SHA256Update(&ctx, (const uint8_t *)text, strlen(text));
	SHA256Final(digest, &ctx);
	fputs(" 'sha256-", out);
	put_base64(digest, sizeof(digest), out);
	putc('\'', out);
}

static void
put_policy(const struct page_kind *kind, FILE *out)
{
	fputs("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	      "base-uri 'none'; form-action 'none'; script-src",
	      out);
	put_checksum(page_files_page_js, out);
	put_checksum(kind->script, out);
	fputs("; style-src", out);
	put_checksum(page_files_page_css, out);
	put_checksum(kind->style, out);
	fputs("\">\n", out);
}

void
page_escape(struct buf *out, const char *s)
{
	struct buf plain;
	const char *entity;

	buf_init(&plain);
	escape(&plain, s);
	for (size_t i = 0; !buf_failed(&plain) && i < plain.len; i++) {
		const char c = (char)plain.p[i];

		entity = c == '<'  ? "&lt;"
			: c == '>' ? "&gt;"
			: c == '&' ? "&amp;"
			: c == '"' ? "&quot;"
				   : NULL;
		if (entity)
			buf_text(out, entity);
		else
			buf_u8(out, (uint8_t)c);
	}
	out->failed |= buf_failed(&plain);
	buf_done(&plain);
}

int
page_begin(FILE *out, const struct page_kind *kind, const char *title)
{
	struct buf b;
	int err;

	buf_init(&b);
	page_escape(&b, title);
	err = buf_failed(&b) ? -FMT_E_NOMEM : 0;
	if (err == 0) {
		fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n",
		      out);
		put_policy(kind, out);
		fputs("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		      "<meta name=\"color-scheme\" content=\"light dark\">\n"
		      "<meta name=\"generator\" content=\"spoor\">\n<title>",
		      out);
		fwrite(b.p, 1, b.len, out);
		fprintf(out, "</title>\n<style>%s</style>\n<style>%s</style>\n</head>\n<body>\n%s",
			page_files_page_css, kind->style, kind->body);
		fputs("<script type=\"application/json\" id=\"data\">\n", out);
	}
	buf_done(&b);
	return err;
}

void
page_end(FILE *out, const struct page_kind *kind)
{
	fprintf(out, "</script>\n<script>%s</script>\n<script>%s</script>\n</body>\n</html>\n",
		page_files_page_js, kind->script);
}
