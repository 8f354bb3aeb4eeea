/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sample_log: the samples of a profile that keeps its stacks, in the order of their times: for forms that
 * are sorted by something else. 12 bytes a sample, 20 with periods.
 */
#ifndef SYMBOLIZER_EXPORT_SAMPLE_LOG_H
#define SYMBOLIZER_EXPORT_SAMPLE_LOG_H

#include "symbolizer/profile/profile.h"

struct sample_log {
	bool by_period; /* periods are kept */
	uint64_t *times;
	uint32_t *stacks;
	uint64_t *periods;
	size_t nr, cap_times, cap_stacks, cap_periods;
};

/* All zero is an empty one, but for by_period. */
void sample_log_done(struct sample_log *log);
/* arg: the log. 0, -FMT_E_NOMEM. */
profile_sample_fn sample_log_take;

#endif
