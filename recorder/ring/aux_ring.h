/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * aux_ring: the AUX area of an event (Intel PT, Arm SPE...): bytes that a tracer writes beside the
 * records of the event's ring.
 *
 * It has a head and a tail of its own, in the page of that ring, and holds no records: what is in it
 * nobody here knows. As with ring.h, nothing allocates, blocks or calls the kernel once it is mapped, and
 * a test hands in its own memory.
 */
#ifndef RECORDER_RING_AUX_RING_H
#define RECORDER_RING_AUX_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_event_mmap_page;

struct aux_ring {
	struct perf_event_mmap_page *page; /* of the ring of records; NULL: there is no area */
	const uint8_t *data;
	uint64_t size; /* of data: a power of two */
	uint64_t tail; /* all before it has been given back */
	uint64_t mark; /* see aux_ring_mark() */
	bool snapshot; /* it is written over, and read when it stands still */
	uint64_t end;  /* of a snapshot: where it stood still */
	size_t map_bytes;
};

void aux_ring_init(struct aux_ring *a, struct perf_event_mmap_page *page, const void *data,
		   uint64_t size, bool snapshot);

/*
 * Maps the area of an event whose records go to the ring of page, with 2^n pages of data, behind these:
 * the page says so. 0; -EPERM (mlock quota); -EOPNOTSUPP: its PMU has no such area; -EINVAL: nor one of that
 * size; -errno.
 */
int aux_ring_map(struct aux_ring *a, int fd, struct perf_event_mmap_page *page, uint32_t ring_pages,
		 uint32_t pages, bool snapshot);
void aux_ring_unmap(struct aux_ring *a);

/*
 * How much there is to be read: whole words, or, with all, what there is. What cannot be (a head that
 * went back, or is more than the size ahead) is skipped, and *lost gets its bytes added.
 * In snapshot mode what is left of that which aux_ring_stop() found.
 */
size_t aux_ring_pending(struct aux_ring *a, bool all, uint64_t *lost);

/*
 * In snapshot mode, of a tracer that is off: what it left can be read, the oldest first, until it is on again. What an
 * earlier one had is left out where the head tells how far it came since: not that of a tracer whose head is a
 * place in the area, once it has come round. limit: no more than so many bytes, the last, from a multiple of 64 on, so
 * that none of a trace's frames or packets is cut in two; 0: all.
 */
void aux_ring_stop(struct aux_ring *a, uint64_t limit);

/* Copies the next bytes, of those that are pending; *ret_offset: where the first one is in the stream. */
void aux_ring_copy(const struct aux_ring *a, uint8_t *to, size_t bytes, uint64_t *ret_offset);

/* Gives them back: the tracer may write over them. In snapshot mode it does so at any rate. */
void aux_ring_consume(struct aux_ring *a, size_t bytes);

/*
 * Remembers what is there now; aux_ring_passed(): of that, all whole words have been given back. In snapshot mode:
 * all that there is to read.
 */
void aux_ring_mark(struct aux_ring *a);
bool aux_ring_passed(const struct aux_ring *a);

#endif
