/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * memory_share: the account of the service's memory: what each recording may take of MemoryMax
 * (systemd/spoord.service.in). A share is settled before its recording begins. The sum of all shares
 * that can be given out fits, however late any thread is. Each consumer, and what is not in the sum and why, is in the
 * table of docs/ARCHITECTURE.md.
 */
#ifndef DAEMON_STREAM_MEMORY_SHARE_H
#define DAEMON_STREAM_MEMORY_SHARE_H

#include <stdbool.h>
#include <stdint.h>

struct session_options;

#define MEMORY_SHARE_MAX (256u << 20) /* MemoryMax */
#define MEMORY_SHARE_PROGRAM                                                                       \
	(8u << 20) /* the kernel's symbols, and whatever serves all recordings */
#define MEMORY_SHARE_HELPERS (12u << 20)   /* of all recordings; pages that they share count once */
#define MEMORY_SHARE_KERNEL (5u << 20)	   /* page tables, stacks of threads, buffers of sockets */
#define MEMORY_SHARE_CAPTURES (147u << 20) /* all captures, for max_captures up to the next line */
#define MEMORY_SHARE_CAPTURES_NR 4u	   /* the default; for more, MemoryMax has to be raised */

/* Fills in queue_bytes, stacks_bytes_max, model_bytes and block_bytes of the base stream. */
void memory_share_base(struct session_options *o);

/* Fills in queue_bytes, model_bytes and block_bytes of the flight recorder, which copies no stacks. */
void memory_share_flight(struct session_options *o);

/*
 * Fills in the same of a capture, and rings_bytes_max. flight: there is a flight recorder, so all captures have
 * MEMORY_SHARE_CAPTURES less its share. nr other captures hold memory: those that run, and those that have ended and are still being written to
 * their files. The first one and a half max_captures get a full share. max_captures more, which only root can have, get
 * a quarter of one. False: there is no share left.
 */
bool memory_share_capture(uint32_t max_captures, uint32_t nr, bool flight,
			  struct session_options *o);

/* The most that a recording with these options takes, but for rings, which are the kernel's. */
uint64_t memory_share_bytes(const struct session_options *o);

#endif
