/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * nearest: how far a name is from one that was typed: for "did you mean".
 */
#ifndef FORMAT_BYTES_NEAREST_H
#define FORMAT_BYTES_NEAREST_H

#define NEAREST_BYTES_MAX 64 /* of either; what is longer is only looked for as a part */

/*
 * 0: equal but for capitals; else how many letters were left out, put in, taken for others or
 * exchanged with their neighbours; one name inside the other counts as one. Above max: max + 1.
 */
unsigned nearest_distance(const char *typed, const char *name, unsigned max);

/* How far away a name may be that is suggested for what was typed. */
unsigned nearest_allowed(const char *typed);

/* The nearest of names that are offered one after another; best NULL: none is near enough. */
struct nearest {
	const char *typed, *best;
	unsigned distance;
};
void nearest_init(struct nearest *n, const char *typed);
/*
 * name is borrowed. One that begins with what was typed is near. Of two that are equally near, the one whose length is
 * closer is taken, then the first.
 */
void nearest_offer(struct nearest *n, const char *name);

#endif
