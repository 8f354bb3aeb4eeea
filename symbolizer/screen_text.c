/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/screen_text.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "symbolizer/escape.h"

int
screen_text_next(const char **text)
{
	int32_t c = escape_next(text);
	int w = c < 0 ? 1 : wcwidth((wchar_t)c);

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

void
screen_text_print(FILE *out, int columns, const char *indent, const char *format, ...)
{
	int room = columns;
	const char *rest, *end;
	char *text = NULL;
	va_list ap;

	va_start(ap, format);
	if (vasprintf(&text, format, ap) < 0)
		text = NULL;
	va_end(ap);
	rest = text ? text : "(out of memory)";
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
