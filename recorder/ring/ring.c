/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/ring/ring.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "format/record/perf_record.h"

void
ring_init(struct ring *r, struct perf_event_mmap_page *page, const void *data, uint64_t size)
{
	*r = (struct ring){ .page = page, .data = data, .size = size };
	r->tail = page->data_tail;
}

int
ring_map(struct ring *r, int fd, uint32_t pages, bool overwrite)
{
	size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
	size_t bytes = (1 + (size_t)pages) * page_size;
	/* The kernel overwrites what nobody can give back. */
	int prot = overwrite ? PROT_READ : PROT_READ | PROT_WRITE;
	uint8_t *p = mmap(NULL, bytes, prot, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		return -errno;
	ring_init(r, (struct perf_event_mmap_page *)(void *)p, p + page_size,
		  (uint64_t)pages * page_size);
	r->map_bytes = bytes;
	r->overwrite = overwrite;
	return 0;
}

void
ring_unmap(struct ring *r)
{
	if (r->map_bytes)
		munmap(r->page, r->map_bytes);
	*r = (struct ring){ 0 };
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

void
ring_leave_pages(const struct ring *r)
{
	/* Since Linux 6.14 they are not counted at all (VM_PFNMAP), and this is refused. */
	if (r->map_bytes)
		(void)madvise(r->page, r->map_bytes, MADV_DONTNEED);
}

size_t
ring_pending(const struct ring *r)
{
	/* Only a hint: ring_read() loads it again. */
	uint64_t there = __atomic_load_n(&r->page->data_head, __ATOMIC_RELAXED) - r->tail;

	if (r->overwrite)
		return 0;
	return (size_t)(there < r->size ? there : r->size);
}

static void
copy_out(const struct ring *r, uint64_t at, uint8_t *to, size_t bytes)
{
	size_t from = (size_t)(at & (r->size - 1));
	size_t until_end = (size_t)r->size - from;
	size_t first = bytes < until_end ? bytes : until_end;

	memcpy(to, r->data + from, first);
	memcpy(to + first, r->data, bytes - first);
}

/* Bytes that are there; 0: less than a record, or what cannot be records, and was skipped. */
static uint64_t
readable(struct ring *r, uint64_t *ret_head, uint64_t *corrupt)
{
	/* Pairs with the kernel's store of data_head (perf_output_put_handle()). */
	const uint64_t head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
	const uint64_t there = head - r->tail;

	*ret_head = head;
	if (there < PERF_RECORD_HEADER_BYTES)
		return 0;
	if (there <= r->size && !(r->tail & 7))
		return there;
	skip_corrupt(r, head, corrupt);
	return 0;
}

static bool
is_length(size_t n, uint64_t there)
{
	return n >= PERF_RECORD_HEADER_BYTES && !(n & 7) && n <= there;
}

/*
 * The copy comes first and is then looked through: it is one stream to the caches, where
 * going from record to record in the ring would miss at each.
 */
size_t
ring_read(struct ring *r, uint8_t *to, size_t max, uint64_t *corrupt)
{
	uint64_t head, there = readable(r, &head, corrupt);
	size_t whole = 0, bytes = there < max ? (size_t)there : max;

	copy_out(r, r->tail, to, bytes);
	while (bytes - whole >= PERF_RECORD_HEADER_BYTES) {
		size_t n = le16dec(to + whole + 6);

		if (!is_length(n, there - whole)) {
			if (whole == 0)
				skip_corrupt(r, head, corrupt);
			return whole;
		}
		if (n > bytes - whole)
			break;
		whole += n;
		r->records++;
	}
	return whole;
}

size_t
ring_read_each(struct ring *r, uint8_t *to, size_t max, ring_put_fn *put, void *arg,
	       size_t *ret_taken, uint64_t *corrupt)
{
	uint64_t head, there = readable(r, &head, corrupt);
	size_t taken = 0, written = 0;

	while (there - taken >= PERF_RECORD_HEADER_BYTES) {
		const size_t at = (size_t)((r->tail + taken) & (r->size - 1));
		const uint8_t *record = r->data + at;
		/* A header is within the ring's end: all sizes are of 8 bytes. */
		const size_t n = le16dec(record + 6);

		if (!is_length(n, there - taken)) {
			if (taken == 0)
				skip_corrupt(r, head, corrupt);
			break;
		}
		if (n > max - taken)
			break;
		if (n > r->size - at) {
			copy_out(r, r->tail + taken, to + written, n);
			record = to + written;
		}
		written += put(arg, to + written, record, n);
		taken += n;
		r->records++;
	}
	*ret_taken = taken;
	return written;
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
	/* Pairs as in ring_read(). */
	r->mark = r->page ? __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE) : 0;
}

bool
ring_passed(const struct ring *r)
{
	return !r->page || r->overwrite || (int64_t)(r->tail - r->mark) >= 0;
}
