/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sample_chain: a sample whose stack was unwound, as a recording has it: the user's callers in its call chain, as the
 * kernel writes them, and neither registers nor bytes of the stack.
 */
#ifndef FORMAT_RECORD_SAMPLE_CHAIN_H
#define FORMAT_RECORD_SAMPLE_CHAIN_H

#include <stddef.h>
#include <stdint.h>

#include "format/bytes/buf.h"
#include "format/record/perf_record.h"

/* Words of one call chain, so that the record stays below 64 KiB whatever else it has. */
#define SAMPLE_CHAIN_MAX 4096u

/*
 * Appends the sample without the fields REGS_USER and STACK_USER. user: these addresses, the interrupted instruction
 * first, take the place of the user's part of its call chain; NULL: that stays as it is. Of addresses that there is
 * no room for the outermost are left out. 0; -FMT_E_CORRUPT: it is no sample with a call chain; -FMT_E_NOMEM.
 */
int sample_chain_put(const struct perf_record *sample, const uint64_t *user, size_t nr,
		     struct buf *out);

/* So many addresses of the user fit into a call chain of max_stack addresses, the kernel's included; 0: the usual limit. */
size_t sample_chain_room(struct span chain, uint16_t max_stack);

/*
 * The callers of a walk that ended early go on as the kernel's in chain, where these have the caller at which it ended, or the
 * one before: the kernel follows frame pointers through memory that was not copied, and knows what a probe has put in the
 * place of a return address. user: has room for SAMPLE_CHAIN_MAX, of which nr are known. Returns how many are then.
 */
size_t sample_chain_go_on(struct span chain, uint64_t *user, size_t nr);

#endif
