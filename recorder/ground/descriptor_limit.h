/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * descriptor_limit: how many descriptors this process may have. Each event takes one on each CPU: the soft
 * limit, which is for programs that use select(2), is raised to the hard one.
 */
#ifndef RECORDER_GROUND_DESCRIPTOR_LIMIT_H
#define RECORDER_GROUND_DESCRIPTOR_LIMIT_H

#include <stdint.h>

/* Raises it; in any thread, and more than once. */
void descriptor_limit_raise(void);

/* In a child, before it becomes another program: the soft limit that there was before. Async-signal-safe. */
void descriptor_limit_restore(void);

/* How many descriptors are free, up to the hard limit, which *ret_hard gets; UINT64_MAX: as many as one likes. */
uint64_t descriptor_limit_free(uint64_t *ret_hard);

#endif
