/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lab/wire.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

void
wire_clear(struct wire *w)
{
	w->len = 0;
}

void
wire_u8(struct wire *w, uint8_t v)
{
	assert_true(w->len < sizeof(w->bytes));
	w->bytes[w->len++] = v;
}

void
wire_u16(struct wire *w, uint16_t v)
{
	wire_u8(w, (uint8_t)v);
	wire_u8(w, (uint8_t)(v >> 8));
}

void
wire_u32(struct wire *w, uint32_t v)
{
	wire_u16(w, (uint16_t)v);
	wire_u16(w, (uint16_t)(v >> 16));
}

void
wire_u64(struct wire *w, uint64_t v)
{
	wire_u32(w, (uint32_t)v);
	wire_u32(w, (uint32_t)(v >> 32));
}

void
wire_bytes(struct wire *w, const void *p, size_t n)
{
	const uint8_t *bytes = p;

	for (size_t i = 0; i < n; i++)
		wire_u8(w, bytes[i]);
}

void
wire_pad(struct wire *w)
{
	while (w->len % 8)
		wire_u8(w, 0);
}

void
wire_string(struct wire *w, const char *s)
{
	wire_bytes(w, s, strlen(s) + 1);
	wire_pad(w);
}

void
wire_begin(struct wire *w, uint32_t type, uint16_t misc)
{
	wire_clear(w);
	wire_u32(w, type);
	wire_u16(w, misc);
	wire_u16(w, 0);
}

void
wire_size(uint8_t *record, uint16_t size)
{
	record[6] = (uint8_t)size;
	record[7] = (uint8_t)(size >> 8);
}

void
wire_end(struct wire *w)
{
	assert_true(w->len <= UINT16_MAX);
	wire_size(w->bytes, (uint16_t)w->len);
}

void
wire_trailer(struct wire *w, uint64_t sample_type, const struct perf_sample_id *sid)
{
	if (sample_type & PERF_SAMPLE_TID) {
		wire_u32(w, sid->pid);
		wire_u32(w, sid->tid);
	}
	if (sample_type & PERF_SAMPLE_TIME)
		wire_u64(w, sid->time);
	if (sample_type & PERF_SAMPLE_ID)
		wire_u64(w, sid->id);
	if (sample_type & PERF_SAMPLE_STREAM_ID)
		wire_u64(w, sid->stream_id);
	if (sample_type & PERF_SAMPLE_CPU) {
		wire_u32(w, sid->cpu);
		wire_u32(w, 0);
	}
	if (sample_type & PERF_SAMPLE_IDENTIFIER)
		wire_u64(w, sid->id);
}

struct span
wire_guard(const void *p, size_t n)
{
	static uint8_t *base;
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const size_t room = ((1 << 17) / page + 1) * page;
	uint8_t *at;

	if (!base) {
		base = mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);
		assert_ptr_not_equal(base, MAP_FAILED);
		assert_int_equal(mprotect(base + room, page, PROT_NONE), 0);
	}
	assert_true(n <= room);
	at = base + room - n;
	if (n)
		memcpy(at, p, n);
	return span_of(at, n);
}

static void
check_inside(struct span whole, struct span part)
{
	if (part.len == 0)
		return;
	assert_true(part.p >= whole.p && part.len <= whole.len);
	assert_true((size_t)(part.p - whole.p) <= whole.len - part.len);
}

int
wire_parse(const void *p, size_t n, const struct event_attr *attr, struct perf_record *ret)
{
	struct perf_record *on_heap = malloc(sizeof(*on_heap));
	uint8_t *copy = malloc(n ? n : 1);
	int error;

	assert_non_null(on_heap);
	assert_non_null(copy);
	if (n)
		memcpy(copy, p, n);
	error = perf_record_parse(span_of(copy, n), attr, on_heap);
	free(copy);
	free(on_heap);
	assert_int_equal(perf_record_parse(wire_guard(p, n), attr, ret), error);
	if (error == 0)
		check_inside(ret->raw, ret->trailing);
	return error;
}

void
wire_cut_everywhere(const struct wire *w, const struct event_attr *attr)
{
	uint8_t *bytes = malloc(w->len);
	struct perf_record r;

	assert_non_null(bytes);
	memcpy(bytes, w->bytes, w->len);
	for (size_t n = 0; n < w->len; n++) {
		if (wire_parse(bytes, n, attr, &r) >= 0)
			fail_msg("type %u cut at %zu of %zu", bytes[0], n, w->len);
	}
	for (size_t n = 8; n < w->len; n++) {
		wire_size(bytes, (uint16_t)n);
		if (wire_parse(bytes, n, attr, &r) >= 0)
			fail_msg("type %u made %zu of %zu long", bytes[0], n, w->len);
	}
	free(bytes);
}
