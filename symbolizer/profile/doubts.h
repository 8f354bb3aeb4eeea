/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * doubts: the objects of a profile whose names may be of another file than the recorded one.
 */
#ifndef SYMBOLIZER_PROFILE_DOUBTS_H
#define SYMBOLIZER_PROFILE_DOUBTS_H

#include "symbolizer/profile/profile.h"

struct doubt {
	const char *dso_path; /* the resolver's */
	enum resolve_doubt doubt;
};

struct doubts;

/* Each object once, in the order of the frames. 0, -FMT_E_NOMEM. */
int doubts_find(const struct profile *p, struct doubts **ret);
void doubts_free(struct doubts *d);

size_t doubts_count(const struct doubts *d);
const struct doubt *doubts_at(const struct doubts *d, size_t i);

#endif
