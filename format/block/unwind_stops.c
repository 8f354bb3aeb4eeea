/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/block/unwind_stops.h"

#include "format/bytes/fmt_error.h"

static const struct {
	uint32_t number;
	const char *key;
} stops[UNWIND_STOPS_NR] = {
#define X(number, name, key) [UNWIND_##name] = { number, key },
	UNWIND_STOPS(X)
#undef X
};

static void
raise_cut(struct unwind_stops *s, uint32_t bytes)
{
	if (bytes > s->cut_bytes)
		s->cut_bytes = bytes;
}

void
unwind_stops_count(struct unwind_stops *s, enum unwind_stop stop, size_t frames, size_t asked)
{
	s->stacks[stop]++;
	s->frames += frames;
	if (stop == UNWIND_CUT)
		raise_cut(s, (uint32_t)asked);
}

void
unwind_stops_add(struct unwind_stops *to, const struct unwind_stops *s)
{
	for (size_t i = 0; i < UNWIND_STOPS_NR; i++)
		to->stacks[i] += s->stacks[i];
	to->frames += s->frames;
	raise_cut(to, s->cut_bytes);
}

struct unwind_stops
unwind_stops_since(const struct unwind_stops *s, const struct unwind_stops *before)
{
	struct unwind_stops now = *s;

	for (size_t i = 0; i < UNWIND_STOPS_NR; i++)
		now.stacks[i] -= before->stacks[i];
	now.frames -= before->frames;
	return now;
}

uint64_t
unwind_stops_all(const struct unwind_stops *s)
{
	uint64_t all = 0;

	for (size_t i = 0; i < UNWIND_STOPS_NR; i++)
		all += i == UNWIND_FREED ? 0 : s->stacks[i];
	return all;
}

bool
unwind_stops_any(const struct unwind_stops *s)
{
	return unwind_stops_all(s) + s->stacks[UNWIND_FREED] > 0;
}

const char *
unwind_stop_key(enum unwind_stop stop)
{
	return stops[stop].key;
}

void
unwind_stops_encode(const struct unwind_stops *s, struct buf *out)
{
	uint32_t count = 0;

	for (size_t i = 0; i < UNWIND_STOPS_NR; i++)
		count += s->stacks[i] > 0;
	buf_u32(out, count);
	buf_u32(out, UNWIND_STOP_BYTES);
	buf_u64(out, s->frames);
	for (size_t i = 0; i < UNWIND_STOPS_NR; i++) {
		if (!s->stacks[i])
			continue;
		buf_u32(out, stops[i].number);
		buf_u32(out, i == UNWIND_CUT ? s->cut_bytes : 0);
		buf_u64(out, s->stacks[i]);
	}
}

static void
add_stop(struct unwind_stops *to, uint32_t number, uint64_t n)
{
	for (size_t i = 0; i < UNWIND_STOPS_NR; i++)
		if (stops[i].number == number && n <= UINT64_MAX - to->stacks[i])
			to->stacks[i] += n;
}

int
unwind_stops_decode(struct unwind_stops *to, struct span s)
{
	uint32_t count, size, number, bytes;
	struct span entry;
	uint64_t n, frames;

	if (!span_u32(&s, &count) || !span_u32(&s, &size) || size < UNWIND_STOP_BYTES || size % 8 ||
	    !span_u64(&s, &frames))
		return -FMT_E_CORRUPT;
	if (frames <= UINT64_MAX - to->frames)
		to->frames += frames;
	for (; count > 0; count--) {
		if (!span_take(&s, size, &entry) || !span_u32(&entry, &number) ||
		    !span_u32(&entry, &bytes) || !span_u64(&entry, &n))
			return -FMT_E_CORRUPT;
		add_stop(to, number, n);
		if (number == stops[UNWIND_CUT].number)
			raise_cut(to, bytes);
	}
	return 0;
}
