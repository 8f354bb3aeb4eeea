/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/ring/back_ring.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "format/record/perf_record.h"

/* Of records, until another piece begins: at most one record, of 65528 bytes, is over it. */
#define PIECE_BYTES (64u << 10)
/* Between two points; so many of them reach past the oldest record. */
#define POINT_SHARE 16

_Static_assert(PIECE_BYTES + 65536 <= BACK_RING_PIECE_MAX, "a piece fits");
_Static_assert(POINT_SHARE + 1 < BACK_RING_POINTS, "points reach round the ring");

int
back_ring_init(struct back_ring *b, const struct perf_event_mmap_page *page, const void *data,
	       uint64_t size)
{
	uint64_t *piece = calloc((size_t)(size / PIECE_BYTES) + 2, sizeof(*piece));

	if (!piece)
		return -ENOMEM;
	*b = (struct back_ring){ .page = page, .data = data, .size = size, .piece = piece };
	return 0;
}

void
back_ring_done(struct back_ring *b)
{
	free(b->piece);
	*b = (struct back_ring){ 0 };
}

static uint64_t
load_head(const struct back_ring *b)
{
	/* Pairs with the kernel's store of data_head (perf_output_put_handle()). */
	return __atomic_load_n(&b->page->data_head, __ATOMIC_ACQUIRE);
}

static void
copy_out(const struct back_ring *b, uint64_t at, uint8_t *to, size_t bytes)
{
	size_t from = (size_t)(at & (b->size - 1));
	size_t until_end = (size_t)b->size - from;
	size_t first = bytes < until_end ? bytes : until_end;

	memcpy(to, b->data + from, first);
	memcpy(to + first, b->data, bytes - first);
}

/* The length of the record at an offset from the head; 0: there is none of at most max bytes. */
static uint64_t
record_bytes(const struct back_ring *b, uint64_t offset, uint64_t max)
{
	size_t at = (size_t)((b->head + offset) & (b->size - 1));
	uint64_t n = le16dec(b->data + at + 6);

	return n < PERF_RECORD_HEADER_BYTES || (n & 7) || n > max ? 0 : n;
}

void
back_ring_begin(struct back_ring *b, bool again, uint64_t *corrupt)
{
	uint64_t max, offset = 0, n;
	bool over;

	b->nr_pieces = 0;
	b->piece[0] = 0;
	b->head = load_head(b);
	max = (again ? 0 : b->taken) - b->head;
	over = max > b->size;
	max = over ? b->size : max;
	if (b->head & 7) {
		*corrupt += max;
		return;
	}
	while (offset < max) {
		n = record_bytes(b, offset, max - offset);
		if (n == 0)
			break;
		offset += n;
		if (offset - b->piece[b->nr_pieces] >= PIECE_BYTES)
			b->piece[++b->nr_pieces] = offset;
	}
	/* What is left of the oldest one, which is overwritten in part, is a record that is too long. */
	if (offset < max && !(over && record_bytes(b, offset, UINT16_MAX) > max - offset))
		*corrupt += max - offset;
	if (offset > b->piece[b->nr_pieces])
		b->piece[++b->nr_pieces] = offset;
}

/* How much at the front of a piece, which ends at that offset, was overwritten while it was copied. */
static size_t
overwritten(const struct back_ring *b, const uint8_t *piece, size_t bytes, uint64_t end)
{
	uint64_t came = b->head - load_head(b);
	uint64_t whole = came < b->size ? b->size - came : 0;
	size_t at = 0;

	while (at < bytes && end - at > whole)
		at += le16dec(piece + at + 6);
	return at < bytes ? at : bytes;
}

size_t
back_ring_read(struct back_ring *b, uint8_t *to, uint64_t *corrupt)
{
	while (b->nr_pieces) {
		const uint64_t begin = b->piece[b->nr_pieces - 1], end = b->piece[b->nr_pieces];
		const size_t bytes = (size_t)(end - begin);
		size_t left = bytes, lost;

		b->nr_pieces--;
		/* From the newest to the oldest, which comes first. The lengths are not what is trusted. */
		while (left) {
			size_t n = (size_t)record_bytes(b, end - left, left);

			if (n == 0)
				break;
			left -= n;
			copy_out(b, begin + b->head + (bytes - left - n), to + left, n);
			if (le16dec(to + left + 6) != n) {
				left += n;
				break;
			}
		}
		*corrupt += left;
		lost = overwritten(b, to + left, bytes - left, end - left);
		left += lost;
		memmove(to, to + left, bytes - left);
		if (bytes > left)
			return bytes - left;
	}
	return 0;
}

void
back_ring_end(struct back_ring *b, uint64_t now_ns)
{
	b->taken = b->head;
	if (now_ns > b->since_ns)
		b->since_ns = now_ns;
}

void
back_ring_pass(struct back_ring *b, uint64_t now_ns)
{
	uint64_t head = load_head(b);
	unsigned last = (b->next_point + BACK_RING_POINTS - 1) % BACK_RING_POINTS;

	/* A point that the ring has been written round since is older than all that is in it. */
	for (unsigned i = 0; i < b->nr_points; i++)
		if (b->points[i].head - head >= b->size && b->points[i].at_ns > b->since_ns)
			b->since_ns = b->points[i].at_ns;
	if (b->nr_points && b->points[last].head - head < b->size / POINT_SHARE)
		return;
	b->points[b->next_point].at_ns = now_ns;
	b->points[b->next_point].head = head;
	b->next_point = (b->next_point + 1) % BACK_RING_POINTS;
	if (b->nr_points < BACK_RING_POINTS)
		b->nr_points++;
}

uint64_t
back_ring_since_ns(const struct back_ring *b)
{
	return b->since_ns;
}
