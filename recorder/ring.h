/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ring: the kernel's buffer of records, as one reader sees it.
 *
 * The reader looks at whole records in place and gives the room back when it has copied
 * them. Nothing here allocates, blocks or calls the kernel once the ring is mapped. The
 * page and the data are taken as they are found: a test hands in its own memory.
 */
#ifndef RECORDER_RING_H
#define RECORDER_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_event_mmap_page;

struct ring {
	struct perf_event_mmap_page *page;
	const uint8_t *data;
	uint64_t size;	  /* of data: a power of two */
	uint64_t tail;	  /* all before it has been given back; page->data_tail says the same */
	uint64_t mark;	  /* see ring_mark() */
	size_t map_bytes; /* 0: the memory is not ours */
};

/* Whole records, in ring order: first, then second (empty unless they go round the end). */
struct ring_view {
	const uint8_t *first, *second;
	size_t first_bytes, second_bytes;
};

/* A ring over memory of the caller's. */
void ring_init(struct ring *r, struct perf_event_mmap_page *page, const void *data, uint64_t size);

/* Maps the ring of a descriptor, with 2^n data pages. 0, -EPERM (mlock quota), -errno. */
int ring_map(struct ring *r, int fd, uint32_t pages);
void ring_unmap(struct ring *r);

/*
 * Looks at the whole records that are there now, no more than max bytes of them (max is at
 * least 65535, so that one always fits). Returns their bytes; 0 when there are none. What
 * cannot be records is skipped up to the head and its bytes are added to *corrupt.
 */
size_t ring_peek(struct ring *r, size_t max, struct ring_view *ret, uint64_t *corrupt);

/* Gives back the bytes of the last peek: the kernel may write over them. */
void ring_consume(struct ring *r, size_t bytes);

/* Remembers what is there now; ring_passed(): all of that has been given back. */
void ring_mark(struct ring *r);
bool ring_passed(const struct ring *r);

/* Copies what a view shows. */
void ring_view_copy(const struct ring_view *v, uint8_t *to);

#endif
