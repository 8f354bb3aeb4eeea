/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_sample: the fields of a PERF_RECORD_SAMPLE; the inner half of perf_record.
 */
#ifndef FORMAT_PERF_SAMPLE_H
#define FORMAT_PERF_SAMPLE_H

#include "format/perf_record.h"

/* Counters per branch after the entries (Linux 6.8); not in the headers of Debian 12. */
#define PERF_BRANCH_COUNTERS (UINT64_C(1) << 19)

/*
 * Parses the fields that r->attr->sample_type names from the front of *s into r->sample
 * and r->sid, which the caller has zeroed. *s keeps what follows the last of them.
 */
int perf_sample_parse(struct span *s, struct perf_record *r);

#endif
