/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * source_text: lines of the files that debug information names as the source.
 *
 * Whoever made a program chose these names, and whoever reports may read more than he: a program may
 * call /etc/shadow its source. So a file is shown where it was named only if it is a regular file of
 * text, and everybody may read it; or it belongs to the owner of the file that names it, and is called
 * as source is. One below a directory that the reader gave is shown whoever named it.
 */
#ifndef SYMBOLIZER_CODE_SOURCE_TEXT_H
#define SYMBOLIZER_CODE_SOURCE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define SOURCE_TEXT_FILE_MAX (32u << 20)
#define SOURCE_TEXT_ALL_MAX (128u << 20)
#define SOURCE_TEXT_LINE_MAX 1024 /* bytes of a line; the rest is left out */
#define SOURCE_TEXT_PLACES_MAX 16

struct source_places {
	/*
	 * "FROM=TO": names that begin with the directory FROM begin with TO; "DIR": files are looked for
	 * below it, by as much of the end of their names as there is. The first that has it.
	 */
	const char *given[SOURCE_TEXT_PLACES_MAX];
	size_t nr_given;
	const char *symfs;    /* before names as they are; NULL: nothing */
	bool none;	      /* no file is opened */
	uint64_t recorded_ns; /* since 1970; 0: not known */
};

struct source_text;

/* places is borrowed. NULL: out of memory. */
struct source_text *source_text_new(const struct source_places *places);
void source_text_free(struct source_text *s);

/*
 * Line number line, from 1, of a file of that name (interned: it is compared by its pointer, and kept),
 * which a file of this owner named. 1 with *ret, *ret_len bytes without their '\n', of any value but NUL;
 * 0: there is none; -FMT_E_NOMEM.
 */
int source_text_line(struct source_text *s, const char *name, uid_t named_by, uint32_t line,
		     const char **ret, size_t *ret_len);

/* The i-th file that was asked for, and what is to be said of it; false: there are no more. */
struct source_file {
	const char *name;
	const char *why;  /* no line of it is shown; NULL: they are */
	bool newer;	  /* it was changed after the recording began */
	bool asked_lines; /* lines were asked for that it has not */
};
bool source_text_file(const struct source_text *s, size_t i, struct source_file *ret);

#endif
