/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ksym_collector: which kernel symbols the samples of a file need.
 *
 * Looks at each kernel address of each sample; one that lies where another did lately costs two
 * compares in one place. No lock: the writer thread's.
 */
#ifndef RECORDER_LIVE_KSYM_COLLECTOR_H
#define RECORDER_LIVE_KSYM_COLLECTOR_H

#include <stddef.h>
#include <stdint.h>

#include "format/bytes/buf.h"
#include "format/record/event_set.h"

struct kallsyms;
struct ksym_collector;

/* symbols: borrowed; NULL collects nothing. NULL: out of memory. */
struct ksym_collector *ksym_collector_new(const struct kallsyms *symbols);
void ksym_collector_free(struct ksym_collector *c);

/* Looks at a sample. */
void ksym_collector_sample(struct ksym_collector *c, const struct sample_glance *sample);

/* Symbols needed and not yet taken. */
size_t ksym_collector_pending(const struct ksym_collector *c);

/* Makes the payload of a KSYMS block of them. 0 there are none, 1, -ENOMEM. */
int ksym_collector_payload(struct ksym_collector *c, struct buf *out);
/* It has been written, or there was none: nothing is pending any more, and the open block ends. */
void ksym_collector_taken(struct ksym_collector *c);

/*
 * c is of a newer table, and new: it takes over what the file has been given already, and looks up what the one before
 * did not know in the open block. From here on that one is asked for code of modules alone.
 */
void ksym_collector_succeed(struct ksym_collector *c, struct ksym_collector *before);

/*
 * A record says what code, which is in no module and not the kernel's own, is at these addresses now, or that there is
 * none any more: what the table has there was.
 */
void ksym_collector_told(struct ksym_collector *c, uint64_t start, uint64_t len);

/* A new file: nothing has been taken. */
void ksym_collector_reset(struct ksym_collector *c);

/* Kernel addresses without a symbol, since the start: a module may have come. */
uint64_t ksym_collector_unknown(const struct ksym_collector *c);

#endif
