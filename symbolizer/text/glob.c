/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/text/glob.h"

#include <stddef.h>

#include "symbolizer/text/escape.h"

/* Takes one character, which is no '*', off both; false: it does not match. */
static bool
match_one(const char **pattern, const char **name)
{
	if (**pattern == '?') {
		(*pattern)++;
		escape_next(name);
		return true;
	}
	if (**pattern == '\\' && (*pattern)[1])
		(*pattern)++;
	return *(*pattern)++ == *(*name)++;
}

static bool
match(const char *pattern, const char *name, bool above)
{
	/* Behind the last '*', and where the text that it stands for ends by the latest guess. */
	const char *star = NULL, *guess = NULL;

	for (;;) {
		if (*pattern == '*') {
			star = ++pattern;
			guess = name;
		} else if (!*pattern && (!*name || (above && *name == '/'))) {
			return true;
		} else if (!*name || !*pattern || !match_one(&pattern, &name)) {
			if (!star || !*guess)
				return false;
			name = ++guess;
			pattern = star;
		}
	}
}

bool
glob_match(const char *pattern, const char *name)
{
	return match(pattern, name, false);
}

bool
glob_match_above(const char *pattern, const char *path)
{
	return match(pattern, path, true);
}
