/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace_cost: what one sample takes on this machine that is no interrupt's.
 *
 * A software event or a tracepoint is sampled where the kernel comes by anyway: the sample takes what
 * its call chain takes, 1.2 us for a page fault on one virtual machine, several times that on others.
 */
#ifndef RECORDER_EVENT_TRACE_COST_H
#define RECORDER_EVENT_TRACE_COST_H

#include <stdint.h>

/*
 * CPU time that a sample of a page fault of the calling thread takes, with its call chain, which goes into no
 * ring, in ns: a median; 0: it may not be had. Measured by the first call, which takes 5 ms.
 */
uint64_t trace_cost_ns(void);

#endif
