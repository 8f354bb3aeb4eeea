/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * page_files: the files that pages are made of, as they lie in this folder.
 */
#ifndef SYMBOLIZER_PAGE_PAGE_FILES_H
#define SYMBOLIZER_PAGE_PAGE_FILES_H

/* name in code, file */
#define PAGE_FILES(X)                                                                              \
	X(page_css, "page.css")                                                                    \
	X(page_js, "page.js")                                                                      \
	X(flame_html, "flame.html")                                                                \
	X(flame_css, "flame.css")                                                                  \
	X(flame_js, "flame.js")                                                                    \
	X(heat_html, "heat.html")                                                                  \
	X(heat_css, "heat.css")                                                                    \
	X(heat_js, "heat.js")

/* Each ends with a NUL. */
#define X(name, file) extern const char page_files_##name[] __attribute__((visibility("hidden")));
PAGE_FILES(X)
#undef X

#endif
