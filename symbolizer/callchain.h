/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * callchain: the addresses of a sample, the sampled place first and then its callers, each with
 * the world that it is of.
 */
#ifndef SYMBOLIZER_CALLCHAIN_H
#define SYMBOLIZER_CALLCHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/perf_record.h"

/* PERF_RECORD_MISC_CPUMODE_MASK's values, which callchain markers switch between. */
enum callchain_mode {
	CALLCHAIN_UNKNOWN,
	CALLCHAIN_KERNEL,
	CALLCHAIN_USER,
	CALLCHAIN_HYPERVISOR,
	CALLCHAIN_GUEST_KERNEL,
	CALLCHAIN_GUEST_USER,
};

struct callchain_address {
	enum callchain_mode mode;
	bool is_return; /* ip follows a call */
	uint64_t ip;
};

struct callchain {
	struct span words;
	size_t next;
	enum callchain_mode leaf_mode, mode;
	bool first, leaf_seen;
};

/* Of a SAMPLE, which has to outlive it. *ret is the sampled place; there is always one. */
void callchain_begin(struct callchain *c, const struct perf_record *r,
		     struct callchain_address *ret);
/* The next caller; false: there is none. */
bool callchain_next(struct callchain *c, struct callchain_address *ret);

#endif
