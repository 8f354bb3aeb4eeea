/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_sample: the fields of a PERF_RECORD_SAMPLE; the inner half of perf_record.
 */
#ifndef FORMAT_RECORD_PERF_SAMPLE_H
#define FORMAT_RECORD_PERF_SAMPLE_H

#include <linux/perf_event.h>

#include "format/record/perf_record.h"

/* What struct perf_sample_id holds. */
#define SAMPLE_ID_FIELDS                                                                           \
	(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |             \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER)

/* Counters per branch after the entries (Linux 6.8); not in the headers of Debian 12. */
#define PERF_BRANCH_COUNTERS (UINT64_C(1) << 19)

/*
 * Parses the fields that r->attr->sample_type names from the front of *s into r->sample
 * and r->sid, which the caller has zeroed. *s keeps what follows the last of them.
 */
int perf_sample_parse(struct span *s, struct perf_record *r);

#endif
