/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/record/tracepoint.h"

#include <ctype.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>

#include "format/bytes/array.h"
#include "format/bytes/fmt_error.h"

#define WORD_BYTES 4 /* of __data_loc and __rel_loc */

/* A piece of the format's text. */
struct piece {
	const char *p;
	size_t len;
};

/* --- words ------------------------------------------------------------------------------- */

static bool
piece_is(struct piece w, const char *text)
{
	return strlen(text) == w.len && memcmp(w.p, text, w.len) == 0;
}

static struct piece
trimmed(struct piece w)
{
	while (w.len > 0 && isspace((unsigned char)*w.p)) {
		w.p++;
		w.len--;
	}
	while (w.len > 0 && isspace((unsigned char)w.p[w.len - 1]))
		w.len--;
	return w;
}

/* Takes a line off the front of *text; false at its end. */
static bool
take_line(const char **text, struct piece *ret)
{
	if (!**text)
		return false;
	*ret = (struct piece){ *text, strcspn(*text, "\n") };
	*text += ret->len + ((*text)[ret->len] == '\n');
	return true;
}

/* What follows a keyword at the beginning of a line, or behind it. */
static bool
take_after(struct piece line, const char *keyword, struct piece *ret)
{
	const char *at = memmem(line.p, line.len, keyword, strlen(keyword));

	if (!at)
		return false;
	at += strlen(keyword);
	*ret = (struct piece){ at, line.len - (size_t)(at - line.p) };
	return true;
}

/* Decimal, all of the piece; at most max. */
static bool
take_number(struct piece w, uint64_t max, uint64_t *ret)
{
	uint64_t n = 0;

	w = trimmed(w);
	if (w.len == 0)
		return false;
	for (size_t i = 0; i < w.len; i++) {
		const uint64_t digit = (uint64_t)(w.p[i] - '0');

		if (!isdigit((unsigned char)w.p[i]) || n > (max - digit) / 10)
			return false;
		n = n * 10 + digit;
	}
	*ret = n;
	return true;
}

/* The number of "offset:8;" in a line. */
static bool
take_member(struct piece line, const char *keyword, uint64_t *ret)
{
	struct piece rest;
	const char *end;

	if (!take_after(line, keyword, &rest))
		return false;
	end = memchr(rest.p, ';', rest.len);
	if (end)
		rest.len = (size_t)(end - rest.p);
	return take_number(rest, UINT32_MAX, ret);
}

/* --- the declaration of a field ---------------------------------------------------------- */

/* Takes "[16]" or "[]" off the end of *decl. False: there is none. */
static bool
take_brackets(struct piece *decl, struct piece *ret)
{
	size_t n;

	*decl = trimmed(*decl);
	if (decl->len == 0 || decl->p[decl->len - 1] != ']')
		return false;
	for (n = decl->len - 1; n > 0 && decl->p[n] != '['; n--)
		;
	if (decl->p[n] != '[')
		return false;
	*ret = (struct piece){ decl->p + n + 1, decl->len - n - 2 };
	decl->len = n;
	return true;
}

/* Takes the last identifier of *decl. */
static bool
take_identifier(struct piece *decl, struct piece *ret)
{
	size_t n;

	*decl = trimmed(*decl);
	for (n = decl->len;
	     n > 0 && (isalnum((unsigned char)decl->p[n - 1]) || decl->p[n - 1] == '_'); n--)
		;
	*ret = (struct piece){ decl->p + n, decl->len - n };
	decl->len = n;
	return ret->len > 0 && !isdigit((unsigned char)*ret->p);
}

static bool
take_prefix(struct piece *decl, const char *word)
{
	const size_t n = strlen(word);

	*decl = trimmed(*decl);
	if (decl->len <= n || memcmp(decl->p, word, n) != 0)
		return false;
	decl->p += n;
	decl->len -= n;
	return true;
}

/* Types whose size is the same everywhere, and long, which is that of 64-bit machines. */
static const struct number_type {
	const char *name;
	uint8_t bytes;
} number_types[] = {
	{ "unsigned char", 1 },
	{ "signed char", 1 },
	{ "u8", 1 },
	{ "__u8", 1 },
	{ "s8", 1 },
	{ "__s8", 1 },
	{ "uint8_t", 1 },
	{ "int8_t", 1 },
	{ "bool", 1 },
	{ "short", 2 },
	{ "unsigned short", 2 },
	{ "u16", 2 },
	{ "__u16", 2 },
	{ "s16", 2 },
	{ "__s16", 2 },
	{ "uint16_t", 2 },
	{ "int16_t", 2 },
	{ "int", 4 },
	{ "unsigned int", 4 },
	{ "unsigned", 4 },
	{ "u32", 4 },
	{ "__u32", 4 },
	{ "s32", 4 },
	{ "__s32", 4 },
	{ "uint32_t", 4 },
	{ "int32_t", 4 },
	{ "pid_t", 4 },
	{ "long", 8 },
	{ "unsigned long", 8 },
	{ "long long", 8 },
	{ "unsigned long long", 8 },
	{ "u64", 8 },
	{ "__u64", 8 },
	{ "s64", 8 },
	{ "__s64", 8 },
	{ "uint64_t", 8 },
	{ "int64_t", 8 },
	{ "size_t", 8 },
};

static uint8_t
size_of_type(struct piece type)
{
	for (size_t i = 0; i < sizeof(number_types) / sizeof(number_types[0]); i++)
		if (piece_is(type, number_types[i].name))
			return number_types[i].bytes;
	return 0;
}

static bool
is_number_size(uint64_t n)
{
	return n == 1 || n == 2 || n == 4 || n == 8;
}

/* Of an array: of what, and how large each is. count: what stands in its brackets. */
static void
set_array(struct tracepoint_field *f, struct piece type, struct piece count)
{
	uint64_t n, each = size_of_type(type);

	f->kind = TRACEPOINT_BYTES;
	if (piece_is(type, "char")) {
		f->kind = TRACEPOINT_TEXT;
		return;
	}
	/* A struct may have the size of a number. */
	if (!each && !f->dynamic && !memmem(type.p, type.len, "struct", 6) &&
	    !memmem(type.p, type.len, "union", 5) && take_number(count, UINT32_MAX, &n) && n > 0 &&
	    f->size % n == 0)
		each = f->size / n;
	if (!is_number_size(each) || each == 1)
		return;
	f->kind = TRACEPOINT_NUMBERS;
	f->each = (uint8_t)each;
}

static void
set_kind(struct tracepoint_field *f, struct piece type, bool array, struct piece count)
{
	const char *star = memchr(type.p, '*', type.len);

	if (array) {
		set_array(f, type, count);
	} else if (f->dynamic || !is_number_size(f->size)) {
		f->kind = TRACEPOINT_BYTES;
	} else {
		f->kind = star ? TRACEPOINT_ADDRESS : TRACEPOINT_NUMBER;
		f->each = (uint8_t)f->size;
	}
}

/* "char prev_comm[16]", "__data_loc char[] filename": *ret_name is a part of it. */
static bool
parse_declaration(struct piece decl, struct tracepoint_field *f, struct piece *ret_name)
{
	struct piece count = { NULL, 0 }, more;
	bool array;

	f->relative = take_prefix(&decl, "__rel_loc ");
	f->dynamic = f->relative || take_prefix(&decl, "__data_loc ");
	(void)take_prefix(&decl, "const ");
	array = take_brackets(&decl, &count);
	while (array && take_brackets(&decl, &more))
		count = (struct piece){ NULL, 0 };
	if (!take_identifier(&decl, ret_name))
		return false;
	if (!array)
		array = take_brackets(&decl, &count);
	if (f->dynamic && f->size != WORD_BYTES)
		return false;
	set_kind(f, trimmed(decl), array, count);
	return true;
}

/* "	field:int prev_prio;	offset:28;	size:4;	signed:1;": 0 also where it makes no sense. */
static int
parse_field(struct tracepoint *t, size_t *cap, struct piece line)
{
	struct tracepoint_field f = { 0 };
	struct piece decl, rest, name;
	uint64_t offset, size, is_signed = 0;
	const char *end;

	if (!take_after(line, "field:", &decl) || !(end = memchr(decl.p, ';', decl.len)))
		return 0;
	rest = (struct piece){ end, decl.len - (size_t)(end - decl.p) };
	decl.len = (size_t)(end - decl.p);
	if (!take_member(rest, "offset:", &offset) || !take_member(rest, "size:", &size))
		return 0;
	(void)take_member(rest, "signed:", &is_signed);
	f.offset = (uint32_t)offset;
	f.size = (uint32_t)size;
	f.is_signed = is_signed != 0;
	if (!parse_declaration(decl, &f, &name) || t->nr_fields == TRACEPOINT_FIELDS_MAX ||
	    tracepoint_find(t, name.p, name.len))
		return 0;
	if (array_reserve(t->fields, t->nr_fields, *cap, 1) < 0)
		return -FMT_E_NOMEM;
	f.name = strndup(name.p, name.len);
	if (!f.name)
		return -FMT_E_NOMEM;
	f.common = strncmp(f.name, "common_", 7) == 0;
	t->fields[t->nr_fields++] = f;
	return 0;
}

/* --- the format -------------------------------------------------------------------------- */

static int
keep_name(char **to, struct piece w)
{
	w = trimmed(w);
	free(*to);
	*to = strndup(w.p, w.len);
	return *to ? 0 : -FMT_E_NOMEM;
}

static int
parse_fields(struct tracepoint *t, const char *text)
{
	struct piece line;
	size_t cap = 0;
	int error = 0;

	while (!error && take_line(&text, &line)) {
		if (line.len >= 9 && memcmp(line.p, "print fmt", 9) == 0)
			break;
		error = parse_field(t, &cap, line);
	}
	return error;
}

static int
parse_format(struct tracepoint *t, const char *text)
{
	struct piece line, rest;
	bool has_id = false;
	int error = 0;

	if (!take_line(&text, &line) || trimmed(line).len == 0)
		return -FMT_E_CORRUPT;
	error = keep_name(&t->system, line);
	while (!error && take_line(&text, &line)) {
		if (piece_is(trimmed(line), "format:"))
			break;
		if (take_after(line, "ID:", &rest))
			has_id = take_number(rest, UINT64_MAX, &t->id);
		else if (take_after(line, "name:", &rest))
			error = keep_name(&t->name, rest);
	}
	if (!error && (!has_id || !t->name || !*t->name))
		error = -FMT_E_CORRUPT;
	return error ? error : parse_fields(t, text);
}

int
tracepoint_parse(const char *format, struct tracepoint **ret)
{
	struct tracepoint *t = calloc(1, sizeof(*t));
	int error = t ? parse_format(t, format) : -FMT_E_NOMEM;

	if (error)
		tracepoint_free(t);
	else
		*ret = t;
	return error;
}

void
tracepoint_free(struct tracepoint *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->nr_fields; i++)
		free((void *)(uintptr_t)t->fields[i].name);
	free(t->fields);
	free(t->system);
	free(t->name);
	free(t);
}

const struct tracepoint_field *
tracepoint_find(const struct tracepoint *t, const char *name, size_t len)
{
	for (size_t i = 0; i < t->nr_fields; i++)
		if (piece_is((struct piece){ name, len }, t->fields[i].name))
			return &t->fields[i];
	return NULL;
}

/* --- values ------------------------------------------------------------------------------ */

static uint64_t
number_of(const uint8_t *p, unsigned bytes, bool is_signed)
{
	uint64_t n = bytes == 8 ? le64dec(p)
		: bytes == 4	? le32dec(p)
		: bytes == 2	? le16dec(p)
				: *p;

	if (is_signed && bytes < 8 && n >> (bytes * 8 - 1))
		n |= UINT64_MAX << (bytes * 8);
	return n;
}

/* The bytes that a word names: where in its lower half, how many in its upper one. */
static bool
dynamic_bytes(const struct tracepoint_field *f, struct span raw, struct span word, struct span *ret)
{
	const uint32_t w = le32dec(word.p);
	size_t skip = w & 0xffff;

	if (f->relative)
		skip += (size_t)f->offset + f->size;
	return span_skip(&raw, skip) && span_take(&raw, w >> 16, ret);
}

bool
tracepoint_value(const struct tracepoint_field *f, struct span raw, struct tracepoint_value *ret)
{
	struct span at = raw, bytes;
	const uint8_t *nul;

	if (!span_skip(&at, f->offset) || !span_take(&at, f->size, &bytes))
		return false;
	if (f->dynamic && !dynamic_bytes(f, raw, bytes, &bytes))
		return false;
	*ret = (struct tracepoint_value){
		.kind = f->kind, .is_signed = f->is_signed, .each = f->each, .bytes = bytes
	};
	if (f->kind == TRACEPOINT_NUMBER || f->kind == TRACEPOINT_ADDRESS)
		ret->number =
			number_of(bytes.p, f->each, f->is_signed && f->kind == TRACEPOINT_NUMBER);
	nul = f->kind == TRACEPOINT_TEXT && bytes.len ? memchr(bytes.p, 0, bytes.len) : NULL;
	if (nul)
		ret->bytes.len = (size_t)(nul - bytes.p);
	return true;
}

bool
tracepoint_number_at(const struct tracepoint_value *v, size_t i, uint64_t *ret)
{
	if (v->each == 0 || i >= v->bytes.len / v->each)
		return false;
	*ret = number_of(v->bytes.p + i * v->each, v->each, v->is_signed);
	return true;
}

static void
put_number(struct buf *out, uint64_t n, bool is_signed)
{
	char text[24];

	if (is_signed)
		snprintf(text, sizeof(text), "%" PRId64, (int64_t)n);
	else
		snprintf(text, sizeof(text), "%" PRIu64, n);
	buf_text(out, text);
}

void
tracepoint_value_text(const struct tracepoint_value *v, struct buf *out)
{
	char text[24];
	uint64_t n;

	switch (v->kind) {
	case TRACEPOINT_NUMBER:
		put_number(out, v->number, v->is_signed);
		break;
	case TRACEPOINT_ADDRESS:
		snprintf(text, sizeof(text), "0x%" PRIx64, v->number);
		buf_text(out, text);
		break;
	case TRACEPOINT_TEXT:
		buf_append(out, v->bytes.p, v->bytes.len);
		break;
	case TRACEPOINT_NUMBERS:
		buf_u8(out, '{');
		for (size_t i = 0; tracepoint_number_at(v, i, &n); i++) {
			if (i > 0)
				buf_u8(out, ',');
			put_number(out, n, v->is_signed);
		}
		buf_u8(out, '}');
		break;
	case TRACEPOINT_BYTES:
		for (size_t i = 0; i < v->bytes.len; i++) {
			buf_u8(out, (uint8_t) "0123456789abcdef"[v->bytes.p[i] >> 4]);
			buf_u8(out, (uint8_t) "0123456789abcdef"[v->bytes.p[i] & 15]);
		}
		break;
	}
}

void
tracepoint_text(const struct tracepoint *t, struct span raw, struct buf *out)
{
	const size_t end = out->len + TRACEPOINT_TEXT_MAX;
	struct tracepoint_value v;
	bool first = true;

	for (size_t i = 0; i < t->nr_fields && out->len < end; i++) {
		const struct tracepoint_field *f = &t->fields[i];

		if (f->common || !tracepoint_value(f, raw, &v))
			continue;
		buf_text(out, first ? "" : " ");
		buf_text(out, f->name);
		buf_u8(out, '=');
		tracepoint_value_text(&v, out);
		first = false;
	}
}

/* --- those of a recording ---------------------------------------------------------------- */

static bool
tracepoints_reserve(struct tracepoints *t, size_t nr)
{
	struct tracepoint **of;
	bool *asked;

	if (nr <= t->nr)
		return true;
	of = reallocarray(t->of, nr, sizeof(struct tracepoint *));
	if (of)
		t->of = of;
	asked = reallocarray(t->asked, nr, sizeof(*asked));
	if (asked)
		t->asked = asked;
	if (!of || !asked)
		return false;
	for (; t->nr < nr; t->nr++) {
		t->of[t->nr] = NULL;
		t->asked[t->nr] = false;
	}
	return true;
}

const struct tracepoint *
tracepoints_of(struct tracepoints *t, const struct event_set *events, int event)
{
	const struct event *e;

	if (event < 0 || (size_t)event >= event_set_count(events) ||
	    !tracepoints_reserve(t, event_set_count(events)))
		return NULL;
	e = event_set_at(events, (size_t)event);
	if (!t->asked[event] && e->format && (e->attr.sample_type & PERF_SAMPLE_RAW)) {
		t->asked[event] = true;
		if (tracepoint_parse(e->format, &t->of[event]) < 0)
			t->of[event] = NULL;
	}
	return t->of[event];
}

void
tracepoints_done(struct tracepoints *t)
{
	for (size_t i = 0; i < t->nr; i++)
		tracepoint_free(t->of[i]);
	free(t->of);
	free(t->asked);
	*t = (struct tracepoints){ 0 };
}
