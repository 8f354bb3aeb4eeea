/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/ring.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "format/perf_record.h"

void
ring_init(struct ring *r, struct perf_event_mmap_page *page, const void *data, uint64_t size)
{
	*r = (struct ring){ .page = page, .data = data, .size = size };
	r->tail = page->data_tail;
}

int
ring_map(struct ring *r, int fd, uint32_t pages)
{
	size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
	size_t bytes = (1 + (size_t)pages) * page_size;
	uint8_t *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		return -errno;
	ring_init(r, (struct perf_event_mmap_page *)(void *)p, p + page_size,
		  (uint64_t)pages * page_size);
	r->map_bytes = bytes;
	return 0;
}

void
ring_unmap(struct ring *r)
{
	if (r->map_bytes)
		munmap(r->page, r->map_bytes);
	*r = (struct ring){ 0 };
}

static uint16_t
record_bytes_at(const struct ring *r, uint64_t at)
{
	/* Records start at multiples of 8, so the size never goes round the end. */
	const uint8_t *p = r->data + (at & (r->size - 1)) + 6;

	return le16dec(p);
}

/* Gives back everything up to head, for it cannot be told where a record begins. */
static void
skip_corrupt(struct ring *r, uint64_t head, uint64_t *corrupt)
{
	uint64_t bytes = head - r->tail;

	*corrupt += bytes < r->size ? bytes : r->size;
	r->tail = head & ~UINT64_C(7);
	__atomic_store_n(&r->page->data_tail, r->tail, __ATOMIC_RELEASE);
}

static void
make_view(const struct ring *r, size_t bytes, struct ring_view *ret)
{
	uint64_t from = r->tail & (r->size - 1);
	size_t until_end = (size_t)(r->size - from);

	ret->first = r->data + from;
	ret->first_bytes = bytes < until_end ? bytes : until_end;
	ret->second = r->data;
	ret->second_bytes = bytes - ret->first_bytes;
}

size_t
ring_peek(struct ring *r, size_t max, struct ring_view *ret, uint64_t *corrupt)
{
	/* Pairs with the kernel's store of data_head (perf_output_put_handle()). */
	uint64_t head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t at = r->tail, there = head - at;
	size_t whole = 0;

	if (there < PERF_RECORD_HEADER_BYTES)
		return 0;
	if (there > r->size || (at & 7)) {
		skip_corrupt(r, head, corrupt);
		return 0;
	}
	while (there - whole >= PERF_RECORD_HEADER_BYTES) {
		size_t n = record_bytes_at(r, at + whole);

		if (n < PERF_RECORD_HEADER_BYTES || (n & 7) || n > there - whole)
			break;
		if (whole + n > max)
			goto out;
		whole += n;
	}
	if (whole == 0) {
		skip_corrupt(r, head, corrupt);
		return 0;
	}
out:
	make_view(r, whole, ret);
	return whole;
}

void
ring_consume(struct ring *r, size_t bytes)
{
	r->tail += bytes;
	/* Pairs with the kernel's load of data_tail (__perf_output_begin()): our reads come first. */
	__atomic_store_n(&r->page->data_tail, r->tail, __ATOMIC_RELEASE);
}

void
ring_mark(struct ring *r)
{
	/* Pairs as in ring_peek(). */
	r->mark = r->page ? __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE) : 0;
}

bool
ring_passed(const struct ring *r)
{
	return !r->page || (int64_t)(r->tail - r->mark) >= 0;
}

void
ring_view_copy(const struct ring_view *v, uint8_t *to)
{
	memcpy(to, v->first, v->first_bytes);
	memcpy(to + v->first_bytes, v->second, v->second_bytes);
}
