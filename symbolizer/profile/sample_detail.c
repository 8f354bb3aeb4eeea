/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/profile/sample_detail.h"

#include <linux/perf_event.h>

enum sample_detail_kind
sample_detail_kind(enum sample_detail detail)
{
	static const uint8_t kinds[] = {
#define X(name, kind, ...) SAMPLE_DETAIL_##kind,
		SAMPLE_DETAILS(X)
#undef X
	};

	return (enum sample_detail_kind)kinds[detail];
}

uint64_t
sample_weight(const struct perf_sample *s)
{
	return s->have & PERF_SAMPLE_WEIGHT_STRUCT ? (uint32_t)s->weight : s->weight;
}

uint64_t
sample_latency(const struct perf_sample *s)
{
	return s->have & PERF_SAMPLE_WEIGHT_STRUCT ? (uint16_t)(s->weight >> 32) : 0;
}

uint64_t
sample_detail_of(enum sample_detail detail, const struct perf_sample *s,
		 const struct perf_branch *branch)
{
	static const struct perf_branch none;
	const struct perf_branch *b = branch ? branch : &none;

	switch (detail) {
#define X(name, kind, value)                                                                       \
	case SAMPLE_DETAIL_##name:                                                                 \
		return value;
		SAMPLE_DETAILS(X)
#undef X
	case SAMPLE_DETAILS_MAX:
		break;
	}
	return 0;
}
