/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/event/event_spec_internal.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of the argument, before and behind what is wrong: one line for a person. */
#define SHOWN_BYTES 60

static int __attribute__((format(printf, 3, 0)))
event_parser_say(const struct event_parser *p, const char *where, const char *format, va_list args)
{
	char sentence[320];
	size_t at, begin, n, all = strlen(p->text);

	if (where < p->event || where > p->event + p->bytes)
		where = p->instead;
	at = p->at + (size_t)(where - p->event);
	begin = at > SHOWN_BYTES ? at - SHOWN_BYTES : 0;
	n = all - begin > 2 * (size_t)SHOWN_BYTES ? 2 * (size_t)SHOWN_BYTES : all - begin;
	(void)vsnprintf(sentence, sizeof(sentence), format, args);
	(void)snprintf(p->err, p->err_bytes, "%s%.*s%s: at character %zu: %s", begin ? "..." : "",
		       (int)n, p->text + begin, begin + n < all ? "..." : "", at + 1, sentence);
	return -EINVAL;
}

int
event_parser_fail(const struct event_parser *p, const char *where, const char *format, ...)
{
	va_list args;
	int r;

	va_start(args, format);
	r = event_parser_say(p, where, format, args);
	va_end(args);
	return r;
}

int
event_parser_absent(const struct event_parser *p, const char *where, const char *format, ...)
{
	va_list args;
	int r;

	p->list->absent = true;
	va_start(args, format);
	r = event_parser_say(p, where, format, args);
	va_end(args);
	return r;
}

const char *
event_parser_rest(const struct event_parser *p, const char *where, size_t *ret_bytes)
{
	size_t done = (size_t)(where - p->event);

	*ret_bytes = p->bytes - done;
	return p->text + p->at + done;
}

static bool
event_parser_digits(const char *text, int base, uint64_t *ret)
{
	char *end;

	if (!isxdigit((unsigned char)*text))
		return false;
	errno = 0;
	*ret = strtoull(text, &end, base);
	return !*end && errno == 0;
}

bool
event_parser_number(const char *text, uint64_t *ret)
{
	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		return event_parser_digits(text + 2, 16, ret);
	return event_parser_digits(text, 10, ret);
}

bool
event_parser_hex(const char *text, uint64_t *ret)
{
	return event_parser_digits(text, 16, ret);
}

int
event_parser_modifiers(const struct event_parser *p, const char *mods, struct event_spec *s)
{
	bool user = strchr(mods, 'u'), kernel = strchr(mods, 'k'), hv = strchr(mods, 'h');
	bool guest = strchr(mods, 'G'), host = strchr(mods, 'H');
	unsigned precise = 0;

	for (const char *m = mods; *m; m++) {
		if (!strchr("ukhIGHpPDeSWbR", *m))
			return event_parser_fail(
				p, m,
				"unknown modifier '%c': there are u k h I G H p P D e "
				"S W, and b R for perf stat",
				*m);
		if (*m != 'p' && strchr(m + 1, *m))
			return event_parser_fail(p, strchr(m + 1, *m),
						 "modifier %c stands here twice", *m);
		precise += *m == 'p';
		if (precise > 3)
			return event_parser_fail(p, m,
						 "at most three p: ppp is the highest precision");
	}
	if (user || kernel || hv) {
		s->attr.exclude_user = !user;
		s->attr.exclude_kernel = !kernel;
		s->attr.exclude_hv = !hv;
	}
	if (guest || host) {
		s->attr.exclude_guest = !guest;
		s->attr.exclude_host = !host;
	}
	if (strchr(mods, 'I'))
		s->attr.exclude_idle = 1;
	s->attr.precise_ip = precise & 3;
	s->attr.pinned = strchr(mods, 'D') != NULL;
	s->attr.exclusive = strchr(mods, 'e') != NULL;
	s->precise_max = strchr(mods, 'P') != NULL;
	s->sample_read = strchr(mods, 'S') != NULL;
	s->weak = strchr(mods, 'W') != NULL;
	s->modified = *mods && !s->named;
	return 0;
}
