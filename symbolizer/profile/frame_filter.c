/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/profile/frame_filter.h"

#include <stdlib.h>
#include <string.h>

#include "symbolizer/text/bounded_regex.h"

#define PATTERNS_MAX 1024

int
frame_filter_add(struct frame_filter *f, enum frame_filter_kind kind, const char *text,
		 const char **reterr)
{
	struct frame_pattern p = { .kind = kind }, *v = NULL;
	int error = 0;

	*reterr = "too many";
	if (f->n == PATTERNS_MAX)
		return -1;
	*reterr = "out of memory";
	v = reallocarray(f->v, f->n + 1, sizeof(*v));
	if (!v)
		return -1;
	f->v = v;
	p.text = strdup(text);
	if (!p.text)
		return -1;
	error = bounded_regex_compile(&p.compiled, text, f->why);
	if (error) {
		*reterr = f->why;
		free(p.text);
		return -1;
	}
	v[f->n++] = p;
	f->given |= 1u << kind;
	return 0;
}

void
frame_filter_done(struct frame_filter *f)
{
	for (size_t i = 0; i < f->n; i++) {
		regfree(&f->v[i].compiled);
		free(f->v[i].text);
	}
	free(f->v);
}
