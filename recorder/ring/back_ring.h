/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * back_ring: the kernel's buffer of records as a flight recorder has it (attr.write_backward): written
 * from its end downward, over the oldest record, whether anybody has read that or not.
 *
 * The head counts down from 0 and points to the newest record; older ones stand above it, up to the ring's
 * size, where the last one may be overwritten in part. The map is read-only, and no tail is given back.
 * Whoever reads has the kernel's output paused (PERF_EVENT_IOC_PAUSE_OUTPUT). The page and the data are
 * taken as they are found: a test hands in its own memory.
 */
#ifndef RECORDER_RING_BACK_RING_H
#define RECORDER_RING_BACK_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_event_mmap_page;

#define BACK_RING_POINTS 32
/* What back_ring_read() needs room for. */
#define BACK_RING_PIECE_MAX (128u << 10)

struct back_ring {
	const struct perf_event_mmap_page *page; /* NULL: none */
	const uint8_t *data;
	uint64_t size;	 /* of data: a power of two */
	uint64_t taken;	 /* the head as it was at the last back_ring_end(); 0 at first */
	uint64_t head;	 /* of the reading that goes on */
	uint64_t *piece; /* where each begins, from the head; one more: where the last one ends */
	size_t nr_pieces;
	struct {
		uint64_t at_ns, head;
	} points[BACK_RING_POINTS]; /* a queue: where the head was at times before */
	unsigned nr_points, next_point;
	uint64_t since_ns;
};

/* A ring over memory of the caller's, which outlives it. 0, -ENOMEM. */
int back_ring_init(struct back_ring *b, const struct perf_event_mmap_page *page, const void *data,
		   uint64_t size);
void back_ring_done(struct back_ring *b);

/*
 * Looks through the ring: what came since the last back_ring_end(), or with again all that there is. What
 * cannot be records ends it: older ones are out of reach, and their bytes are added to *corrupt.
 */
void back_ring_begin(struct back_ring *b, bool again, uint64_t *corrupt);

/*
 * Copies the next records to to, oldest first, BACK_RING_PIECE_MAX bytes at most. Returns their bytes; 0: that
 * was all. What was overwritten since back_ring_begin() is left out.
 */
size_t back_ring_read(struct back_ring *b, uint8_t *to, uint64_t *corrupt);

/* All of it was read, as of now_ns: no later reading without again has it. */
void back_ring_end(struct back_ring *b, uint64_t now_ns);

/*
 * To be called now and then, with a time of before: remembers where the head is. back_ring_since_ns(): every
 * record that is there to be read came after that; 0: nothing was overwritten yet.
 */
void back_ring_pass(struct back_ring *b, uint64_t now_ns);
uint64_t back_ring_since_ns(const struct back_ring *b);

#endif
