/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nearest: how far a name is from one that was typed: for "did you mean".
 */
#ifndef SYMBOLIZER_TEXT_NEAREST_H
#define SYMBOLIZER_TEXT_NEAREST_H

#define NEAREST_BYTES_MAX 64 /* of either; what is longer is only looked for as a part */

/*
 * 0: equal but for capitals; else how many letters were left out, put in, taken for others or
 * exchanged with their neighbours; one name inside the other counts as one. Above max: max + 1.
 */
unsigned nearest_distance(const char *typed, const char *name, unsigned max);

#endif
