/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/block/unwind_stops.h"

#include <string.h>

#include <bsd/string.h>

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

bool
unwind_stop_has_place(enum unwind_stop stop)
{
	return stop == UNWIND_SHORT || stop == UNWIND_NO_MAP || stop == UNWIND_NO_CFI ||
		stop == UNWIND_BAD_CFI || stop == UNWIND_LIMIT;
}

void
unwind_stops_count(struct unwind_stops *s, enum unwind_stop stop, size_t frames, size_t asked)
{
	s->stacks[stop]++;
	s->frames += frames;
	if (stop == UNWIND_CUT)
		raise_cut(s, (uint32_t)asked);
}

/* The last component of a path, and the whole of "//anon" and "[stack]", which are none; '?' for what is not printable. */
static void
object_of(const char *path, char ret[UNWIND_OBJECT_BYTES])
{
	const char *slash = strrchr(path, '/');

	if (slash && slash[1] && strncmp(path, "//", 2) != 0)
		path = slash + 1;
	strlcpy(ret, path, UNWIND_OBJECT_BYTES);
	for (char *p = ret; *p; p++)
		if (*p <= ' ' || *p > '~')
			*p = '?';
}

/* NULL: there is none. */
static struct unwind_place *
find_place(struct unwind_stops *s, enum unwind_stop stop, const char *object)
{
	for (size_t i = 0; i < UNWIND_PLACES_MAX; i++)
		if (s->places[i].stacks && s->places[i].stop == stop &&
		    strcmp(s->places[i].object, object) == 0)
			return &s->places[i];
	return NULL;
}

static struct unwind_place *
fewest_place(struct unwind_stops *s)
{
	struct unwind_place *fewest = &s->places[0];

	for (size_t i = 1; i < UNWIND_PLACES_MAX; i++)
		if (s->places[i].stacks < fewest->stacks)
			fewest = &s->places[i];
	return fewest;
}

void
unwind_stops_place(struct unwind_stops *s, enum unwind_stop stop, const char *path)
{
	struct unwind_place new = { .stop = stop, .stacks = 1 }, *known;

	object_of(path, new.object);
	if (!*new.object)
		return;
	known = find_place(s, stop, new.object);
	if (known)
		known->stacks++;
	else
		*fewest_place(s) = new;
}

/* No place is forgotten for one with fewer stacks. */
static void
add_place(struct unwind_stops *to, const struct unwind_place *place)
{
	struct unwind_place *known = find_place(to, place->stop, place->object);
	struct unwind_place *fewest = fewest_place(to);

	if (known && place->stacks <= UINT64_MAX - known->stacks)
		known->stacks += place->stacks;
	else if (!known && place->stacks > fewest->stacks)
		*fewest = *place;
}

void
unwind_stops_add(struct unwind_stops *to, const struct unwind_stops *s)
{
	for (size_t i = 0; i < UNWIND_STOPS_NR; i++)
		to->stacks[i] += s->stacks[i];
	for (size_t i = 0; i < UNWIND_PLACES_MAX; i++)
		if (s->places[i].stacks)
			add_place(to, &s->places[i]);
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
	for (size_t i = 0; i < UNWIND_PLACES_MAX; i++) {
		const struct unwind_place *p = &before->places[i];
		struct unwind_place *is = find_place(&now, p->stop, p->object);

		/* With fewer it was forgotten, and came again. */
		if (p->stacks && is && is->stacks >= p->stacks)
			is->stacks -= p->stacks;
	}
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

static void
encode_places(const struct unwind_stops *s, struct buf *out)
{
	uint32_t count = 0;

	for (size_t i = 0; i < UNWIND_PLACES_MAX; i++)
		count += s->places[i].stacks > 0;
	if (!count)
		return;
	buf_u32(out, count);
	buf_u32(out, UNWIND_PLACE_BYTES);
	for (size_t i = 0; i < UNWIND_PLACES_MAX; i++) {
		if (!s->places[i].stacks)
			continue;
		buf_u32(out, stops[s->places[i].stop].number);
		buf_u32(out, 0);
		buf_u64(out, s->places[i].stacks);
		buf_append(out, s->places[i].object, UNWIND_OBJECT_BYTES);
	}
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
	encode_places(s, out);
}

/* UNWIND_STOPS_NR: of a later version. */
static enum unwind_stop
stop_of(uint32_t number)
{
	size_t i = 0;

	while (i < UNWIND_STOPS_NR && stops[i].number != number)
		i++;
	return (enum unwind_stop)i;
}

/* What is not an object is left out: names of a recording reach terminals. */
static int
decode_place(struct unwind_stops *to, struct span entry)
{
	struct unwind_place place = { 0 };
	char text[UNWIND_OBJECT_BYTES + 1] = "";
	uint32_t number, zero;
	struct span object;

	if (!span_u32(&entry, &number) || !span_u32(&entry, &zero) ||
	    !span_u64(&entry, &place.stacks) || !span_take(&entry, UNWIND_OBJECT_BYTES, &object))
		return -FMT_E_CORRUPT;
	memcpy(text, object.p, UNWIND_OBJECT_BYTES);
	object_of(text, place.object);
	place.stop = stop_of(number);
	if (place.stop < UNWIND_STOPS_NR && *place.object && place.stacks <= to->stacks[place.stop])
		add_place(to, &place);
	return 0;
}

static int
decode_places(struct unwind_stops *to, struct span s)
{
	uint32_t count, size;
	struct span entry;
	int r = 0;

	if (!s.len)
		return 0;
	if (!span_u32(&s, &count) || !span_u32(&s, &size) || size < UNWIND_PLACE_BYTES || size % 8)
		return -FMT_E_CORRUPT;
	for (; r == 0 && count > 0; count--)
		r = span_take(&s, size, &entry) ? decode_place(to, entry) : -FMT_E_CORRUPT;
	return r;
}

int
unwind_stops_decode(struct unwind_stops *to, struct span s)
{
	uint32_t count, size, number, bytes;
	enum unwind_stop stop;
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
		stop = stop_of(number);
		if (stop < UNWIND_STOPS_NR && n <= UINT64_MAX - to->stacks[stop])
			to->stacks[stop] += n;
		if (stop == UNWIND_CUT)
			raise_cut(to, bytes);
	}
	return decode_places(to, s);
}
