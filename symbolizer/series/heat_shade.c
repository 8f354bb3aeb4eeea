/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/series/heat_shade.h"

int
heat_shade_of(double value, double most)
{
	int shade;

	if (!(value > 0) || !(most > 0))
		return 0;
	shade = 1 + (int)(value / most * HEAT_SHADES);
	return shade > HEAT_SHADES ? HEAT_SHADES : shade;
}

const char *
heat_shade_height(int shade, bool utf8)
{
	static const char *const blocks[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };

	return utf8 ? blocks[shade] : heat_shade_grey(shade, false);
}

const char *
heat_shade_grey(int shade, bool utf8)
{
	static const char *const blocks[] = { " ", "·", "░", "░", "▒", "▒", "▓", "▓", "█" };
	static const char *const letters[] = { " ", ".", ":", "-", "=", "+", "*", "%", "@" };

	return utf8 ? blocks[shade] : letters[shade];
}

/* From a dark red to a light yellow: seen on black and on white. */
int
heat_shade_color(int shade)
{
	static const int colors[] = { 16, 52, 88, 124, 160, 196, 208, 220, 229 };

	return colors[shade];
}
