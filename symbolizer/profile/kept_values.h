/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kept_values: of a sample's record what is not counted but shown, kept as bytes until the sample is given. */
#ifndef SYMBOLIZER_PROFILE_KEPT_VALUES_H
#define SYMBOLIZER_PROFILE_KEPT_VALUES_H

#include "format/bytes/buf.h"
#include "format/record/perf_sample.h"

/* Those of a sample's fields that are kept, besides the bytes of a tracepoint (PERF_SAMPLE_RAW). */
#define KEPT_VALUES                                                                                \
	(PERF_SAMPLE_ADDR | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT |                       \
	 PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_TRANSACTION | PERF_SAMPLE_PHYS_ADDR |                  \
	 PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE | PERF_SAMPLE_BRANCH_STACK |      \
	 PERF_SAMPLE_REGS_USER | PERF_SAMPLE_REGS_INTR)

/* Appends them; a buf that fails says so. */
void kept_values_put(const struct perf_sample *s, struct buf *out);
/* What was put: have, the fields of it, and raw; spans are of the bytes. False: they are cut short. */
bool kept_values_get(struct span bytes, struct perf_sample *ret);

#endif
