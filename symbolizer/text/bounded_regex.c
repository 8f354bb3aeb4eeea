/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/text/bounded_regex.h"

#include <ctype.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Copies of atoms that repeats make; without nesting, no repeat comes near (RE_DUP_MAX is 32767). */
#define COPIES_MAX 5000
#define DEPTH_MAX 200
#define TOO_MANY UINT64_C(1000000000)

/* Of a group: atoms that are complete, and the last one, which a repeat may follow. */
struct level {
	uint64_t before, last;
};

/* The first byte behind [...], whose first ] is a member, as are those of [:alpha:], [.x.] and [=x=]. */
static const char *
skip_bracket(const char *s)
{
	s += 1 + (s[1] == '^');
	s += *s == ']' ? 1 : 0;
	for (; *s && *s != ']'; s++) {
		const char end[] = { s[1], ']', '\0' };
		const char *close;

		if (*s != '[' || !s[1] || !strchr(":.=", s[1]))
			continue;
		close = strstr(s + 2, end);
		if (close)
			s = close + 1;
	}
	return *s ? s + 1 : s;
}

static uint64_t
read_number(const char **s)
{
	uint64_t n = 0;

	for (; isdigit((unsigned char)**s); ++*s)
		n = n < TOO_MANY ? n * 10 + (uint64_t)(**s - '0') : n;
	return n;
}

/* How many copies a repeat makes: {n,} and + are n copies and one below a star. Moves behind it. */
static uint64_t
repeat_copies(const char **s)
{
	const char c = *(*s)++;
	uint64_t from, to;

	if (c != '{')
		return c == '+' ? 2 : 1;
	from = to = read_number(s);
	if (**s == ',') {
		++*s;
		to = isdigit((unsigned char)**s) ? read_number(s) : from + 1;
	}
	*s += **s == '}' ? 1 : 0;
	to = to > from ? to : from;
	return to > 0 ? to : 1;
}

static void
add_atom(struct level *l, uint64_t size)
{
	l->before += l->last;
	l->last = size;
}

/* Atoms of the expression once its repeats are copies; TOO_MANY: that or more. */
static uint64_t
copies(const char *s)
{
	struct level levels[DEPTH_MAX] = { 0 }, *l = levels;

	while (*s) {
		if (*s == '[') {
			s = skip_bracket(s);
			add_atom(l, 1);
		} else if (*s == '(') {
			if (++l == levels + DEPTH_MAX)
				return TOO_MANY;
			*l = (struct level){ 0 };
			s++;
		} else if (*s == ')' && l > levels) {
			l--;
			add_atom(l, l[1].before + l[1].last + 1);
			s++;
		} else if (strchr("{*+?", *s)) {
			l->last *= repeat_copies(&s);
		} else {
			s += *s == '\\' && s[1] ? 2 : 1;
			add_atom(l, 1);
		}
		if (l->before + l->last >= TOO_MANY)
			return TOO_MANY;
	}
	return l->before + l->last;
}

int
bounded_regex_compile(regex_t *ret, const char *text, char why[static BOUNDED_REGEX_WHY_MAX])
{
	int err;

	if (copies(text) > COPIES_MAX + strlen(text)) {
		(void)snprintf(why, BOUNDED_REGEX_WHY_MAX,
			       "repeats ({n,m}, +) or groups in each other are too many: "
			       "written out, more than %d characters",
			       COPIES_MAX);
		return REG_BADBR;
	}
	err = regcomp(ret, text, REG_EXTENDED | REG_NOSUB);
	if (err)
		regerror(err, ret, why, BOUNDED_REGEX_WHY_MAX);
	return err;
}
