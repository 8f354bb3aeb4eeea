/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symbolize: the places of a raw profile to frames, each once.
 */
#ifndef SYMBOLIZER_PROFILE_SYMBOLIZE_H
#define SYMBOLIZER_PROFILE_SYMBOLIZE_H

#include <stdbool.h>
#include <stdint.h>

#include "symbolizer/profile/raw_profile.h"
#include "symbolizer/resolve/inlines.h"
#include "symbolizer/resolve/resolve.h"

enum symbolize_state {
	SYMBOLIZE_NOT_WANTED,
	SYMBOLIZE_WANTED,
	SYMBOLIZE_DONE,
};
/*
 * Those places of raw for which wanted[] is SYMBOLIZE_WANTED, in their order, by their numbers, one
 * frame each; they are SYMBOLIZE_DONE then. inlines (may be NULL) has them then, to be looked up
 * together. The resolver has begun the recording. 0, -FMT_E_NOMEM, or what take returned.
 */
int symbolize_places(struct resolver *resolver, struct inlines *inlines,
		     const struct raw_profile *raw, uint8_t *wanted, inlines_fn *take, void *arg);

#endif
