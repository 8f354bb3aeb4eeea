/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/jit/perf_map.h"

#include "format/jit/jit_table.h"

static int
hex_digit(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* A number and the spaces behind it. */
static bool
take_number(struct span *line, uint64_t *ret)
{
	uint64_t number = 0;
	size_t digits = 0;

	if (line->len > 2 && line->p[0] == '0' && (line->p[1] | 0x20) == 'x')
		span_skip(line, 2);
	while (line->len > 0 && hex_digit(line->p[0]) >= 0) {
		if (number >> 60)
			return false;
		number = number << 4 | (uint64_t)hex_digit(line->p[0]);
		digits++;
		span_skip(line, 1);
	}
	if (digits == 0 || line->len == 0 || line->p[0] != ' ')
		return false;
	while (line->len > 0 && line->p[0] == ' ')
		span_skip(line, 1);
	*ret = number;
	return true;
}

static bool
parse_line(struct span line, struct perf_map_line *ret)
{
	const uint8_t *nul;

	if (line.len > 0 && line.p[line.len - 1] == '\r')
		line.len--;
	if (!take_number(&line, &ret->start) || !take_number(&line, &ret->size))
		return false;
	nul = line.len ? memchr(line.p, 0, line.len) : NULL;
	if (nul)
		line.len = (size_t)(nul - line.p);
	ret->name = (const char *)line.p;
	ret->name_len = line.len < JIT_NAME_MAX ? line.len : JIT_NAME_MAX;
	return line.len > 0 && ret->size > 0 && ret->start + ret->size > ret->start;
}

bool
perf_map_next(struct span *text, struct perf_map_line *ret)
{
	struct perf_map_line line;
	const uint8_t *end;
	struct span bytes;

	while (text->len > 0 && (end = memchr(text->p, '\n', text->len)) != NULL &&
	       span_take(text, (size_t)(end - text->p), &bytes)) {
		span_skip(text, 1);
		if (!parse_line(bytes, &line))
			continue;
		*ret = line;
		return true;
	}
	return false;
}
