/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detail_finder: the details of a sample (sample_detail.h) as a list of the raw profile's. */
#ifndef SYMBOLIZER_PROFILE_DETAIL_FINDER_H
#define SYMBOLIZER_PROFILE_DETAIL_FINDER_H

#include <stdint.h>

#include "symbolizer/profile/place_finder.h"
#include "symbolizer/profile/raw_profile.h"
#include "symbolizer/profile/replay.h"
#include "symbolizer/profile/sample_detail.h"

/* All are borrowed. */
struct detail_finder {
	struct place_finder *places;
	struct raw_profile *raw;
	uint32_t asked; /* a bit for each */
};

/*
 * The number of the list, of a sample (branch NULL) or of one of its branches; 0 where nothing is asked
 * for. 0, -FMT_E_NOMEM.
 */
int detail_finder_find(struct detail_finder *f, const struct replay_sample *s,
		       const struct perf_branch *branch, uint32_t *ret);
/* The number of the place of an address that a sample has. 0, -FMT_E_NOMEM. */
int detail_finder_place(struct detail_finder *f, const struct replay_sample *s,
			enum sample_detail_kind kind, uint64_t ip, uint32_t *ret);

/* What counts for the period of a sample by weight: 1 where it has none, as in perf. */
uint64_t detail_finder_weight(const struct replay_sample *s);

#endif
