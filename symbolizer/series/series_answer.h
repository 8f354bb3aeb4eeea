/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * series_answer: from the options of timeline and heatmap to what they print, or to a page.
 */
#ifndef SYMBOLIZER_SERIES_SERIES_ANSWER_H
#define SYMBOLIZER_SERIES_SERIES_ANSWER_H

#include "symbolizer/series/series.h"

/*
 * o->columns and columns_of_parts are those of a page and of JSON: text takes what the screen has. heat:
 * text is a map of heat. An exit status, after a message if not 0.
 */
int series_answer(struct series_options *o, bool heat);

#endif
