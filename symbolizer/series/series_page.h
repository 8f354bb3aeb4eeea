/* SPDX-License-Identifier: GPL-2.0-or-later */
/* series_page: series over time as a page for a browser, whose selection is a span of time. */
#ifndef SYMBOLIZER_SERIES_SERIES_PAGE_H
#define SYMBOLIZER_SERIES_SERIES_PAGE_H

#include "symbolizer/series/series.h"

/* Writes the file of its options: an exit status, after a message if not 0. */
int series_page(struct series *s);

#endif
