/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ring: the kernel's buffer of records, as one reader sees it.
 *
 * The reader copies whole records, joining one that goes round the end, and then gives their
 * room back. Nothing here allocates, blocks or calls the kernel once the ring is mapped. The
 * page and the data are taken as they are found: a test hands in its own memory.
 */
#ifndef RECORDER_RING_RING_H
#define RECORDER_RING_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_event_mmap_page;

struct ring {
	struct perf_event_mmap_page *page;
	const uint8_t *data;
	uint64_t size;	  /* of data: a power of two */
	uint64_t tail;	  /* all before it has been given back; page->data_tail says the same */
	uint64_t records; /* that have been read */
	uint64_t mark;	  /* see ring_mark() */
	size_t map_bytes; /* 0: the memory is not ours */
	bool overwrite;	  /* read-only: nothing waits in it, see back_ring.h */
};

/* A ring over memory of the caller's. */
void ring_init(struct ring *r, struct perf_event_mmap_page *page, const void *data, uint64_t size);

/*
 * Maps the ring of a descriptor, with 2^n data pages; overwrite: one that only a back_ring reads.
 * 0, -EPERM (mlock quota), -errno.
 */
int ring_map(struct ring *r, int fd, uint32_t pages, bool overwrite);
void ring_unmap(struct ring *r);
/* After much of it was read: its pages, which are the kernel's, are no longer counted as resident here. */
void ring_leave_pages(const struct ring *r);

/* Bytes that are there to be read, at most the ring's size: what ring_read() needs room for. */
size_t ring_pending(const struct ring *r);

/*
 * Copies whole records to to, no more than max bytes (at least 65535, so that one always
 * fits, or all that is pending). Returns the bytes that are whole records; what follows them
 * in to means nothing. They stay in the ring until ring_consume(). What cannot be records is
 * skipped up to the head, and its bytes are added to *corrupt.
 */
size_t ring_read(struct ring *r, uint8_t *to, size_t max, uint64_t *corrupt);

/*
 * Writes a record of len bytes to to, which may be the record itself, or less than that of it. Returns the bytes written.
 * A record in the ring's own memory has its length from there, which only the kernel writes.
 */
typedef size_t ring_put_fn(void *arg, uint8_t *to, const uint8_t *record, size_t len);

/*
 * As ring_read(), record by record: what put() leaves out is not copied. Returns the bytes written to to;
 * *ret_taken: to be given to ring_consume().
 */
size_t ring_read_each(struct ring *r, uint8_t *to, size_t max, ring_put_fn *put, void *arg,
		      size_t *ret_taken, uint64_t *corrupt);

/* Gives back what was read: the kernel may write over it. */
void ring_consume(struct ring *r, size_t bytes);

/* Remembers what is there now; ring_passed(): all of that has been given back. */
void ring_mark(struct ring *r);
bool ring_passed(const struct ring *r);

#endif
