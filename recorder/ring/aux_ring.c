/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/ring/aux_ring.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define WORD UINT64_C(8)
/* Frames of CoreSight (16 bytes) and packets of SPE, which are aligned in the area, begin at each multiple. */
#define WHOLE UINT64_C(64)
/* A snapshot that has come round has written here: of zeroes that a tracer leaves there are few. */
#define WRAPPED_BYTES 512

void
aux_ring_init(struct aux_ring *a, struct perf_event_mmap_page *page, const void *data,
	      uint64_t size, bool snapshot)
{
	*a = (struct aux_ring){ .page = page, .data = data, .size = size, .snapshot = snapshot };
	a->tail = snapshot ? 0 : page->aux_tail;
}

int
aux_ring_map(struct aux_ring *a, int fd, struct perf_event_mmap_page *page, uint32_t ring_pages,
	     uint32_t pages, bool snapshot)
{
	size_t page_size = (size_t)sysconf(_SC_PAGESIZE), bytes = (size_t)pages * page_size;
	/* "PROT_READ|PROT_WRITE: the kernel heeds aux_tail; PROT_READ: it writes over what is there" */
	int prot = snapshot ? PROT_READ : PROT_READ | PROT_WRITE;
	void *p;

	page->aux_offset = (1 + (uint64_t)ring_pages) * page_size;
	page->aux_size = bytes;
	p = mmap(NULL, bytes, prot, MAP_SHARED, fd, (off_t)page->aux_offset);
	if (p == MAP_FAILED)
		return -errno;
	aux_ring_init(a, page, p, bytes, snapshot);
	a->map_bytes = bytes;
	return 0;
}

void
aux_ring_unmap(struct aux_ring *a)
{
	if (a->map_bytes)
		munmap((void *)(uintptr_t)a->data, a->map_bytes);
	*a = (struct aux_ring){ 0 };
}

static uint64_t
head_of(const struct aux_ring *a)
{
	/* Pairs with the kernel's store of aux_head (perf_aux_output_end()). */
	return __atomic_load_n(&a->page->aux_head, __ATOMIC_ACQUIRE);
}

static void
give_back(struct aux_ring *a, uint64_t tail)
{
	a->tail = tail;
	/* Pairs with the kernel's load of aux_tail (perf_aux_output_begin()): our reads come first. */
	if (!a->snapshot)
		__atomic_store_n(&a->page->aux_tail, tail, __ATOMIC_RELEASE);
}

/*
 * The head of some tracers is a place in the area, and that of others counts on. The area is new and
 * all zeroes: where something stands before its end, the head has come round.
 */
static bool
has_wrapped(const struct aux_ring *a, uint64_t head)
{
	uint64_t from = a->size - (a->size < WRAPPED_BYTES ? a->size : WRAPPED_BYTES);

	if (head >= a->size)
		return true;
	for (uint64_t i = from > head ? from : head; i < a->size; i++)
		if (a->data[i])
			return true;
	return false;
}

void
aux_ring_stop(struct aux_ring *a, uint64_t limit)
{
	uint64_t head, from;
	bool is_place;

	if (!a->page || !a->snapshot)
		return;
	head = head_of(a);
	is_place = head < a->size && has_wrapped(a, head);
	a->end = is_place ? head + a->size : head;
	from = a->end > a->size ? a->end - a->size : 0;
	if (!is_place && a->tail > from && a->tail <= a->end)
		from = a->tail;
	if (limit && a->end - from > limit)
		from = (a->end - limit + WHOLE - 1) & ~(WHOLE - 1);
	a->tail = from < a->end ? from : a->end;
}

size_t
aux_ring_pending(struct aux_ring *a, bool all, uint64_t *lost)
{
	uint64_t head = a->snapshot ? a->end : head_of(a), there = head - a->tail;

	if (there > a->size) {
		*lost += a->size;
		give_back(a, head & ~(WORD - 1));
		return 0;
	}
	return (size_t)(all ? there : there & ~(WORD - 1));
}

void
aux_ring_copy(const struct aux_ring *a, uint8_t *to, size_t bytes, uint64_t *ret_offset)
{
	size_t from = (size_t)(a->tail & (a->size - 1)), until_end = (size_t)a->size - from;
	size_t first = bytes < until_end ? bytes : until_end;

	memcpy(to, a->data + from, first);
	memcpy(to + first, a->data, bytes - first);
	*ret_offset = a->tail;
}

void
aux_ring_consume(struct aux_ring *a, size_t bytes)
{
	give_back(a, a->tail + bytes);
}

void
aux_ring_mark(struct aux_ring *a)
{
	a->mark = a->page && !a->snapshot ? head_of(a) & ~(WORD - 1) : 0;
}

bool
aux_ring_passed(const struct aux_ring *a)
{
	return !a->page || (a->snapshot ? a->tail == a->end : (int64_t)(a->tail - a->mark) >= 0);
}
