/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * page_json: the data of a page: JSON that can stand between <script> and </script>, whatever the names
 * in it are. Numbers go by columns: an array each, which browsers parse at once.
 *
 * Values follow one another without regard to commas: they are put where they have to be.
 */
#ifndef SYMBOLIZER_PAGE_PAGE_JSON_H
#define SYMBOLIZER_PAGE_PAGE_JSON_H

#include <stdint.h>
#include <stdio.h>

#include "format/bytes/buf.h"

struct page_json {
	FILE *out; /* its ferror() has failed writes */
	struct buf b;
	int error;  /* 0, or -FMT_E_NOMEM: nothing is written from then on */
	bool comma; /* one is due before the next value */
};

void page_json_init(struct page_json *j, FILE *out);
/* Writes what is left: 0, -FMT_E_NOMEM. */
int page_json_done(struct page_json *j);

/* key: NULL in an array; it is the program's own, and plain. */
void page_json_open(struct page_json *j, const char *key, char bracket); /* '{' or '[' */
void page_json_close(struct page_json *j, char bracket);		 /* '}' or ']' */
void page_json_number(struct page_json *j, const char *key, uint64_t n);
void page_json_real(struct page_json *j, const char *key, double n);
/*
 * A name: what could not be shown on a terminal (escape.h) is no more to be shown here. NULL: null.
 */
void page_json_text(struct page_json *j, const char *key, const char *s);
/* An array of names, each with a NUL at its end. */
void page_json_texts(struct page_json *j, const char *key, const struct buf *texts);

#endif
