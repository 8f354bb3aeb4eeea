/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/text/screen_text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include "symbolizer/text/escape.h"

#define COLUMNS_UNKNOWN 80 /* of a terminal that does not say */

int
screen_text_next(const char **text)
{
	int32_t c;
	int w;

	if (**text >= ' ' && **text <= '~') {
		++*text;
		return 1;
	}
	c = escape_next(text);
	w = c < 0 ? 1 : wcwidth((wchar_t)c);
	/* In a locale without UTF-8 nothing is known of it. */
	return w < 0 ? 1 : w;
}

int
screen_text_width(const char *text)
{
	int width = 0;

	while (*text)
		width += screen_text_next(&text);
	return width;
}

/* Where the line that begins at text ends: behind the last word that it has room for, or the first. */
static const char *
line_end(const char *text, int room)
{
	const char *p = text + strspn(text, " "), *end = NULL;
	int width = (int)(p - text);

	for (;;) {
		while (*p && *p != ' ')
			width += screen_text_next(&p);
		if (end && width > room)
			return end;
		end = p;
		for (; *p == ' '; p++)
			width++;
		if (!*p)
			return end;
	}
}

static char *__attribute__((format(printf, 1, 0))) format_text(const char *format, va_list ap)
{
	char *text;

	return vasprintf(&text, format, ap) < 0 ? NULL : text;
}

void
screen_text_print(FILE *out, int columns, const char *indent, const char *format, ...)
{
	int room = columns;
	const char *rest, *end;
	va_list ap;
	char *text;

	va_start(ap, format);
	text = format_text(format, ap);
	va_end(ap);
	if (!text) { /* in one line, which takes none */
		va_start(ap, format);
		vfprintf(out, format, ap);
		va_end(ap);
		fputc('\n', out);
		return;
	}
	rest = text;
	do {
		end = columns > 0 ? line_end(rest, room) : rest + strlen(rest);
		fprintf(out, "%.*s\n", (int)(end - rest), rest);
		rest = end + strspn(end, " ");
		if (*rest)
			fputs(indent, out);
		room = columns - screen_text_width(indent);
	} while (*rest);
	free(text);
}

int
screen_text_columns(int fd)
{
	struct winsize ws;

	if (!isatty(fd))
		return 0;
	return ioctl(fd, TIOCGWINSZ, &ws) == 0 && ws.ws_col > 0 ? ws.ws_col : COLUMNS_UNKNOWN;
}

void
screen_text_warn(const char *format, ...)
{
	va_list ap;
	char *text;

	va_start(ap, format);
	text = format_text(format, ap);
	va_end(ap);
	screen_text_print(stderr, screen_text_columns(STDERR_FILENO), "  ", "%s: %s",
			  program_invocation_short_name, text ? text : "(out of memory)");
	free(text);
}
