/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes as a ring that is written backward: after 16 bytes of how much was written before and during the
 * reading, the ring's. What is read is whole records, and no more of them than there is room for.
 */
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "format/record/perf_record.h"
#include "recorder/ring/back_ring.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define RING ((size_t)256 << 10)

static uint64_t
read_all(struct back_ring *b, struct perf_event_mmap_page *page, uint64_t later, uint64_t *corrupt)
{
	static uint8_t to[BACK_RING_PIECE_MAX];
	uint64_t all = 0;
	size_t n;

	while ((n = back_ring_read(b, to, corrupt))) {
		struct span rest = span_of(to, n), record;

		if (n > sizeof(to))
			abort();
		while (perf_record_next(&rest, &record) > 0)
			;
		if (rest.len)
			abort();
		all += n;
		page->data_head = later;
	}
	return all;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t ring[RING];
	static struct perf_event_mmap_page page;
	uint64_t corrupt = 0, head, later;
	struct back_ring b;
	size_t bytes = 4096;

	if (size < 16)
		return 0;
	head = le64dec(data);
	later = le64dec(data + 8);
	while (bytes < size - 16 && bytes < RING)
		bytes *= 2;
	memset(ring, 0, bytes);
	memcpy(ring, data + 16, size - 16 < bytes ? size - 16 : bytes);
	page.data_head = -head;
	if (back_ring_init(&b, &page, ring, bytes) < 0)
		abort();
	back_ring_pass(&b, 1);
	for (int i = 0; i < 2; i++) {
		corrupt = 0;
		back_ring_begin(&b, i, &corrupt);
		if (read_all(&b, &page, -later, &corrupt) + corrupt > bytes)
			abort();
		back_ring_end(&b, 2);
		back_ring_pass(&b, 3);
	}
	back_ring_done(&b);
	return 0;
}
