/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * page: an answer as one HTML file that needs nothing else: what it looks like and what it can do are
 * files of this folder, which are part of the program; its data is JSON in the midst of them.
 *
 * A policy on top of it forbids whatever comes from elsewhere, and every script and style but those
 * whose checksums it names: a name in the data that should get out of its place does nothing.
 */
#ifndef SYMBOLIZER_PAGE_PAGE_H
#define SYMBOLIZER_PAGE_PAGE_H

#include <stdio.h>

#include "symbolizer/page/page_json.h"

/* A kind of page, besides what all have: page.css and page.js, which stand before its own. */
struct page_kind {
	const char *body;   /* HTML */
	const char *style;  /* CSS */
	const char *script; /* finds its data by Page.data */
};

extern const struct page_kind page_flame, page_heat;

/*
 * Up to the data; then page_json on the same file writes one value, and page_end() the rest. title: any
 * text. 0, -FMT_E_NOMEM; failed writes stay in ferror(out).
 */
int page_begin(FILE *out, const struct page_kind *kind, const char *title);
void page_end(FILE *out, const struct page_kind *kind);

/* Appends s as text of HTML or XML, or an attribute's in double quotes, escaped as for a terminal. */
void page_escape(struct buf *out, const char *s);

#endif
