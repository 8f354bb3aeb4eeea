/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record_sample: samples as the kernel writes them, which the product only reads.
 */
#ifndef TESTS_LAB_RECORD_SAMPLE_H
#define TESTS_LAB_RECORD_SAMPLE_H

#include "format/bytes/buf.h"
#include "format/record/perf_record.h"

/*
 * A sample from its parsed form: what sample->have names, in the kernel's order. Its shape (hw_idx,
 * counters, number of registers) is what sample says. 0, -FMT_E_NOMEM, -FMT_E_TOO_BIG.
 */
int record_sample_build(struct buf *out, const struct perf_sample_id *sid,
			const struct perf_sample *sample, uint16_t misc);

#endif
