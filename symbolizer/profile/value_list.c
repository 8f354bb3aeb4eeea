/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/profile/value_list.h"

#include <stdlib.h>
#include <string.h>

#include <bsd/stdlib.h>
#include <bsd/string.h>

#include "symbolizer/text/glob.h"

void
name_list_done(struct name_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->v[i].text);
	free(l->v);
}

void
number_list_done(struct number_list *l)
{
	free(l->v);
}

/* Room for one more of size bytes each; NULL with *reterr. */
static void *
one_more(void *v, size_t n, size_t size, const char **reterr)
{
	void *grown = NULL;

	if (n < VALUE_LIST_MAX)
		grown = reallocarray(v, n + 1, size);
	if (!grown)
		*reterr = n < VALUE_LIST_MAX ? "out of memory" : "too many";
	return grown;
}

int
name_list_add(struct name_list *l, const char *name, size_t len, const char **reterr)
{
	struct name_value *v = one_more(l->v, l->n, sizeof(*v), reterr);

	if (!v)
		return -1;
	l->v = v;
	v[l->n] = (struct name_value){ .text = strndup(name, len) };
	if (!v[l->n].text) {
		*reterr = "out of memory";
		return -1;
	}
	l->n++;
	return 0;
}

/* Passes over the punctuation of "operator<<" and its like, which are no brackets. */
static const char *
after_operator(const char *from, const char *p)
{
	if (p - from >= 8 && strncmp(p - 8, "operator", 8) == 0)
		p += strspn(p, "<>=-");
	return p;
}

int
name_list_parse(struct name_list *l, const char *arg, bool brackets, const char **reterr)
{
	const char *from = arg;
	int depth = 0;

	for (const char *p = arg;; p++) {
		if (brackets)
			p = after_operator(from, p);
		/* The pattern takes both. */
		if (*p == '\\' && p[1]) {
			p++;
			continue;
		}
		if (brackets && (*p == '<' || *p == '('))
			depth++;
		else if ((*p == '>' || *p == ')') && depth > 0)
			depth--;
		if (*p && (*p != ',' || depth > 0))
			continue;
		if (p == from) {
			*reterr = "an empty name";
			return -1;
		}
		if (name_list_add(l, from, (size_t)(p - from), reterr) < 0)
			return -1;
		if (!*p)
			return 0;
		from = p + 1;
	}
}

static int
number_parse(const char *word, uint32_t *ret, const char **reterr)
{
	const char *bad;
	long long n = strtonum(word, 0, UINT32_MAX, &bad);

	/* strtonum() skips blanks and takes a sign */
	if (bad || *word < '0' || *word > '9') {
		*reterr = "not a number";
		return -1;
	}
	*ret = (uint32_t)n;
	return 0;
}

static int
range_parse(struct number_list *l, char *word, bool may_span, const char **reterr)
{
	struct number_value *v = one_more(l->v, l->n, sizeof(*v), reterr);
	char *dash = may_span ? strchr(word, '-') : NULL;
	struct number_value r = { 0 };

	if (!v)
		return -1;
	l->v = v;
	if (dash)
		*dash = '\0';
	if (number_parse(word, &r.first, reterr) < 0)
		return -1;
	r.last = r.first;
	if (dash && number_parse(dash + 1, &r.last, reterr) < 0)
		return -1;
	if (r.last < r.first) {
		*reterr = "a range that ends before it begins";
		return -1;
	}
	v[l->n++] = r;
	return 0;
}

int
number_list_parse(struct number_list *l, const char *arg, bool may_span, const char **reterr)
{
	char *copy = strdup(arg), *rest = copy, *word;
	int status = 0;

	if (!copy) {
		*reterr = "out of memory";
		return -1;
	}
	while (status == 0 && (word = strsep(&rest, ",")) != NULL)
		status = range_parse(l, word, may_span, reterr);
	free(copy);
	return status;
}

/* --- questions --------------------------------------------------------------------------- */

bool
name_value_matches(const char *wanted, const char *s)
{
	return strcmp(wanted, s) == 0 || glob_match(wanted, s);
}

static bool
is_part(const char *part, const char *s)
{
	return strstr(s, part) != NULL;
}

/* Others are asked also when one has it, until each was met. */
static bool
has(const struct name_list *l, const char *s, bool (*matches)(const char *wanted, const char *s))
{
	bool any = l->n == 0;

	for (size_t i = 0; i < l->n; i++) {
		struct name_value *v = &l->v[i];

		if ((any && __atomic_load_n(&v->met, __ATOMIC_RELAXED)) || !matches(v->text, s))
			continue;
		value_meet(&v->met);
		any = true;
	}
	return any;
}

bool
name_list_has(const struct name_list *l, const char *s)
{
	return has(l, s, name_value_matches);
}

bool
name_list_has_part(const struct name_list *l, const char *s)
{
	return has(l, s, is_part);
}

bool
number_list_asks(const struct number_list *l, uint32_t n)
{
	for (size_t i = 0; i < l->n; i++)
		if (n >= l->v[i].first && n <= l->v[i].last)
			return true;
	return l->n == 0;
}

bool
number_list_has(const struct number_list *l, uint32_t n)
{
	bool any = l->n == 0;

	for (size_t i = 0; i < l->n; i++) {
		struct number_value *v = &l->v[i];

		if (n < v->first || n > v->last)
			continue;
		value_meet(&v->met);
		any = true;
	}
	return any;
}
