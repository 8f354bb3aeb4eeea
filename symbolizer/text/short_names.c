/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/text/short_names.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes/buf.h"
#include "symbolizer/text/screen_text.h"

#define GAP ".."
#define GAP_WIDTH 2
#define COLUMNS_MIN 5  /* less has no room for two ends and a gap */
#define ROUNDS_PARTS 6 /* of looking for a part that differs; then names are numbered */
#define ROUNDS_MAX 10  /* a number may look like a part: those are numbered, too */

struct name {
	const char *text;
	int width;
	size_t see;	 /* byte that another name differs in, which therefore is shown; 0: any */
	unsigned number; /* shown in the middle where no part tells it from another; 0: none */
	size_t shown;	 /* where in texts */
};

struct short_names {
	int columns;
	struct name *names; /* distinct, by text */
	size_t nr;
	unsigned numbers;  /* given so far */
	uint32_t *name_of; /* by index in what was given */
	struct buf texts;  /* NUL-terminated, one after another */
};

/* As many characters from p on as have room in columns. */
static void
append_columns(struct buf *out, const char *p, int columns)
{
	const char *end = p;

	while (*end) {
		const char *next = end;

		columns -= screen_text_next(&next);
		if (columns < 0)
			break;
		end = next;
	}
	buf_append(out, p, (size_t)(end - p));
}

/* The last characters that have room in columns. */
static const char *
last_columns(const struct name *n, int columns)
{
	const char *p = n->text;
	int over = n->width - columns;

	while (over > 0)
		over -= screen_text_next(&p);
	return p;
}

/* Columns of the text before the byte that is to be seen. */
static int
columns_before(const struct name *n)
{
	const char *p = n->text;
	int width = 0;

	while (p < n->text + n->see)
		width += screen_text_next(&p);
	return width;
}

/* A beginning of so many columns, what stands for the middle, and the end that is left room for. */
static void
append_ends(struct buf *out, const struct name *n, int columns, int head, const char *middle)
{
	int tail = columns - head - (int)strlen(middle);

	append_columns(out, n->text, head);
	buf_append(out, middle, strlen(middle));
	append_columns(out, last_columns(n, tail), tail);
}

static void
append_numbered(struct buf *out, const struct name *n, int columns)
{
	char middle[24];
	int width = snprintf(middle, sizeof(middle), GAP "%u" GAP, n->number);

	if (width < columns)
		append_ends(out, n, columns, (columns - width + 1) / 2, middle);
	else
		append_columns(out, middle, columns);
}

static void
append_short(struct buf *out, const struct name *n, int columns)
{
	const int room = columns - GAP_WIDTH, quarter = room / 4;
	const int before = columns_before(n), behind = n->width - before;

	if (n->width <= columns || columns < COLUMNS_MIN) {
		append_columns(out, n->text, columns);
	} else if (n->number > 0) {
		append_numbered(out, n, columns);
	} else if (n->see == 0) {
		append_ends(out, n, columns, (room + 1) / 2, GAP);
	} else if (before <= room / 2) {
		append_ends(out, n, columns, room - quarter, GAP);
	} else if (behind <= room - quarter) {
		append_ends(out, n, columns, quarter, GAP);
	} else {
		append_columns(out, n->text, quarter);
		buf_append(out, GAP, GAP_WIDTH);
		append_columns(out, n->text + n->see, room - GAP_WIDTH - 2 * quarter);
		append_ends(out, n, GAP_WIDTH + quarter, 0, GAP);
	}
}

static const char *
shown(const struct short_names *s, uint32_t i)
{
	return (const char *)s->texts.p + s->names[i].shown;
}

static void
render(struct short_names *s)
{
	buf_clear(&s->texts);
	for (size_t i = 0; i < s->nr; i++) {
		s->names[i].shown = s->texts.len;
		append_short(&s->texts, &s->names[i], s->columns);
		buf_u8(&s->texts, 0);
	}
}

static int
compare_shown(const void *a, const void *b, void *arg)
{
	return strcmp(shown(arg, *(const uint32_t *)a), shown(arg, *(const uint32_t *)b));
}

/* Where two names differ first, at the beginning of a character. */
static size_t
differs_at(const char *a, const char *b)
{
	size_t i = 0;

	while (a[i] && a[i] == b[i])
		i++;
	while (i > 0 && (a[i] & 0xc0) == 0x80)
		i--;
	return i;
}

/* These differ and are shown alike: by another part from now on, or by number. */
static void
part(struct short_names *s, const uint32_t *alike, size_t n, bool by_number)
{
	size_t see = SIZE_MAX;

	for (size_t i = 1; i < n; i++) {
		size_t at = differs_at(s->names[alike[0]].text, s->names[alike[i]].text);

		see = at < see ? at : see;
	}
	for (size_t i = 0; i < n; i++) {
		s->names[alike[i]].see = see;
		s->names[alike[i]].number = by_number ? ++s->numbers : 0;
	}
}

/* Shows names that are shown alike by the part in which they differ, until none are. */
static void
keep_apart(struct short_names *s, uint32_t *order)
{
	bool alike = true;

	for (int round = 0; alike && !buf_failed(&s->texts); round++) {
		render(s);
		if (round == ROUNDS_MAX || buf_failed(&s->texts))
			return;
		alike = false;
		qsort_r(order, s->nr, sizeof(*order), compare_shown, s);
		for (size_t i = 0, end; i < s->nr; i = end) {
			for (end = i + 1; end < s->nr; end++)
				if (compare_shown(&order[i], &order[end], s) != 0)
					break;
			if (end - i == 1)
				continue;
			part(s, order + i, end - i, round >= ROUNDS_PARTS);
			alike = true;
		}
	}
}

static int
compare_texts(const void *a, const void *b, void *arg)
{
	const char *const *names = arg;

	return strcmp(names[*(const uint32_t *)a], names[*(const uint32_t *)b]);
}

/* Distinct names; order is left to be one of them. */
static void
short_names_collect(struct short_names *s, const char *const *names, size_t n, uint32_t *order)
{
	for (size_t i = 0; i < n; i++)
		order[i] = (uint32_t)i;
	qsort_r(order, n, sizeof(*order), compare_texts, (void *)(uintptr_t)names);
	for (size_t i = 0; i < n; i++) {
		const char *text = names[order[i]];

		if (i == 0 || strcmp(text, s->names[s->nr - 1].text) != 0)
			s->names[s->nr++] =
				(struct name){ .text = text, .width = screen_text_width(text) };
		s->name_of[order[i]] = (uint32_t)(s->nr - 1);
	}
	for (size_t i = 0; i < s->nr; i++)
		order[i] = (uint32_t)i;
}

struct short_names *
short_names_new(const char *const *names, size_t n, int columns)
{
	struct short_names *s = calloc(1, sizeof(*s));
	uint32_t *order = calloc(n + 1, sizeof(*order));

	if (s) {
		buf_init(&s->texts);
		s->columns = columns;
		s->names = calloc(n + 1, sizeof(*s->names));
		s->name_of = calloc(n + 1, sizeof(*s->name_of));
	}
	if (s && order && s->names && s->name_of) {
		short_names_collect(s, names, n, order);
		keep_apart(s, order);
	}
	if (!s || !order || !s->names || !s->name_of || buf_failed(&s->texts)) {
		short_names_free(s);
		s = NULL;
	}
	free(order);
	return s;
}

void
short_names_free(struct short_names *s)
{
	if (!s)
		return;
	free(s->names);
	free(s->name_of);
	buf_done(&s->texts);
	free(s);
}

const char *
short_names_at(const struct short_names *s, size_t i)
{
	return shown(s, s->name_of[i]);
}
