/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * value_list: what a filter's option was given: names and patterns of names (glob.h), or numbers
 * and ranges of them; and which of these values were ever met, so that those that were not can be
 * told. Meeting one may happen on several threads at a time.
 */
#ifndef SYMBOLIZER_PROFILE_VALUE_LIST_H
#define SYMBOLIZER_PROFILE_VALUE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VALUE_LIST_MAX 4096

/* All zero is an empty one. */
struct name_list {
	struct name_value {
		char *text;
		bool met;
	} * v;
	size_t n;
};

struct number_list {
	struct number_value {
		uint32_t first, last; /* inclusive */
		bool met;
	} * v;
	size_t n;
};

void name_list_done(struct name_list *l);
void number_list_done(struct number_list *l);

/* Adds one name, whatever is in it. 0, or -1 with a message in *reterr (static). */
int name_list_add(struct name_list *l, const char *name, size_t len, const char **reterr);
/*
 * Adds comma-separated names; a comma behind a backslash does not separate, and is what the pattern matches
 * there. brackets: nor does one inside them: "std::map<int, int>::find" and "f(int, char)" are one symbol
 * each. As name_list_add().
 */
int name_list_parse(struct name_list *l, const char *arg, bool brackets, const char **reterr);
/* Comma-separated numbers; may_span: also ranges of them, "0-3". Likewise. */
int number_list_parse(struct number_list *l, const char *arg, bool may_span, const char **reterr);

static inline void
value_meet(bool *met)
{
	/* Only ever set while several threads look; read when they have ended. */
	__atomic_store_n(met, true, __ATOMIC_RELAXED);
}

/* Is it the name, or does the pattern match? A name with a backslash in it is also what is written like it. */
bool name_value_matches(const char *wanted, const char *s);
/* Is it one of the list's? An empty list has everything. */
bool name_list_has(const struct name_list *l, const char *s);
/* Likewise, when the names are parts of it. */
bool name_list_has_part(const struct name_list *l, const char *s);
bool number_list_has(const struct number_list *l, uint32_t n);
/* The same answer for a number that nothing was met of: no value counts as met by it. */
bool number_list_asks(const struct number_list *l, uint32_t n);

#endif
