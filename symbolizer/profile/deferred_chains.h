/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * deferred_chains: samples whose callers in user space come later: the kernel (Linux 6.19) puts a cookie
 * in the place of that part of the callchain, unwinds when the thread returns to user space, and
 * writes a CALLCHAIN_DEFERRED record with the cookie, once for all samples since it was entered.
 *
 * So a sample waits for the record of its thread with its cookie, or for the thread's end, or until there
 * is no room; then it is given with what it has. Samples that wait are given later than others of their time.
 */
#ifndef SYMBOLIZER_PROFILE_DEFERRED_CHAINS_H
#define SYMBOLIZER_PROFILE_DEFERRED_CHAINS_H

#include "format/record/perf_record.h"

#define DEFERRED_CHAINS_BYTES_MAX (16u << 20) /* a thread can sleep for days, and there are many */

struct deferred_chains;

/* record is the sample as it was, but for its callchain; gone after the call. What it returns ends it all. */
typedef int deferred_chains_fn(void *arg, const struct perf_record *record, int event);

/* NULL: out of memory. */
struct deferred_chains *deferred_chains_new(deferred_chains_fn *give, void *arg);
void deferred_chains_free(struct deferred_chains *d);

/*
 * Keeps a copy of a sample that has a cookie, and gives the others where it has no room. *ret_held: it has
 * one. 0, -FMT_E_NOMEM, or what give returned.
 */
int deferred_chains_hold(struct deferred_chains *d, const struct perf_record *sample, int event,
			 bool *ret_held);
/* A CALLCHAIN_DEFERRED: gives its samples. 0, -FMT_E_NOMEM, or what give returned. */
int deferred_chains_merge(struct deferred_chains *d, const struct perf_record *record);
/* Gives those of a thread that has ended as they are, or (all) everybody's. Likewise. */
int deferred_chains_end(struct deferred_chains *d, uint32_t tid, bool all);

#endif
