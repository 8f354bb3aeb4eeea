/* SPDX-License-Identifier: GPL-2.0-or-later */
/* heat_shade: cells of a picture of numbers, as heights, as shades or in 256 colours. */
#ifndef SYMBOLIZER_SERIES_HEAT_SHADE_H
#define SYMBOLIZER_SERIES_HEAT_SHADE_H

#include <stdbool.h>

#define HEAT_SHADES 8 /* besides none */

/* 0: nothing at all; the least that there is is 1, and most is HEAT_SHADES. */
int heat_shade_of(double value, double most);

/* One column wide. */
const char *heat_shade_height(int shade, bool utf8);
const char *heat_shade_grey(int shade, bool utf8);
/* Number of the colour, of those that terminals with 256 have. */
int heat_shade_color(int shade);

#endif
