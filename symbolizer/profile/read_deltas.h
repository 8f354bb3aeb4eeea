/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * read_deltas: samples with counts (PERF_SAMPLE_READ) as samples of each event whose count they
 * have, with what was counted since the sample before: so perf reads them
 * (perf_evlist__deliver_sample()), and so a group's members, which take no samples, have some.
 */
#ifndef SYMBOLIZER_PROFILE_READ_DELTAS_H
#define SYMBOLIZER_PROFILE_READ_DELTAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/bytes/slots.h"
#include "format/record/perf_record.h"

#define READ_DELTAS_MAX (1u << 20)

/* The last count of an id; of inherited events, whose samples have those of their task, by task. */
struct read_last {
	uint64_t id, value;
	uint32_t tid;
};

/* All zero is an empty one. */
struct read_deltas {
	struct read_last *last;
	size_t nr, cap;
	struct slots slots;
	bool forgot;
};

void read_deltas_done(struct read_deltas *d);

/* Can its counts be told apart by the events' ids? Else it is a sample like any other. */
bool read_deltas_has(const struct perf_record *sample);

/* Of value i of a sample that read_deltas_has(): whose count it is. */
uint64_t read_deltas_id(const struct perf_record *sample, uint64_t i);

/*
 * Value i of a sample that read_deltas_has(). begins: counts of which this is the first began at
 * zero; else nobody knows where, and *ret is 0 but for the sample's own event, which has its period.
 * Of threads without end, the counts before are forgotten at times. 0, -FMT_E_NOMEM.
 */
int read_deltas_at(struct read_deltas *d, const struct perf_record *sample, uint64_t i, bool begins,
		   uint64_t *ret);

#endif
