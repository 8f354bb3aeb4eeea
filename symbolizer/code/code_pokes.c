/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/code/code_pokes.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes/array.h"
#include "format/bytes/buf.h"
#include "format/bytes/fmt_error.h"

struct code_poke {
	uint64_t time_ns, address;
	uint32_t at; /* in bytes: the old ones, and the new ones behind them */
	uint16_t old_len, new_len;
	uint32_t of_place; /* at the first one of a place: how many are of it */
};

/*
 * By place, which is an address and both lengths, then by time: of a place the last one before a time and
 * the first one behind it are all that shows. Who asks for a function walks its places, not what was written there.
 */
struct code_pokes {
	struct code_poke *v;
	size_t nr, cap;
	size_t longest;
	bool sorted;
	struct buf bytes;
	uint64_t left_out;
};

struct code_pokes *
code_pokes_new(void)
{
	struct code_pokes *p = calloc(1, sizeof(*p));

	if (p)
		buf_init(&p->bytes);
	return p;
}

void
code_pokes_free(struct code_pokes *p)
{
	if (!p)
		return;
	free(p->v);
	buf_done(&p->bytes);
	free(p);
}

uint64_t
code_pokes_left_out(const struct code_pokes *p)
{
	return p->left_out;
}

/* The record says that neither is longer than it. */
static int
add_poke(struct code_pokes *p, const struct perf_record *r, uint64_t shift_ns)
{
	const struct span old = r->text_poke.old_bytes, new = r->text_poke.new_bytes;
	const struct code_poke poke = { .time_ns = r->sid.time + shift_ns,
					.address = r->text_poke.addr,
					.at = (uint32_t)p->bytes.len,
					.old_len = (uint16_t)old.len,
					.new_len = (uint16_t) new.len };

	if (p->nr == CODE_POKES_MAX || old.len + new.len > CODE_POKES_BYTES_MAX - p->bytes.len) {
		p->left_out++;
		return 0;
	}
	if (array_reserve(p->v, p->nr, p->cap, 1) != 0)
		return -FMT_E_NOMEM;
	p->v[p->nr++] = poke;
	p->sorted = false;
	if (old.len > p->longest)
		p->longest = old.len;
	if (new.len > p->longest)
		p->longest = new.len;
	buf_append(&p->bytes, old.p, old.len);
	buf_append(&p->bytes, new.p, new.len);
	return buf_failed(&p->bytes) ? -FMT_E_NOMEM : 0;
}

int
code_pokes_read(struct code_pokes *p, struct record_stream *stream, uint64_t shift_ns)
{
	struct fmt_where where = { 0 };
	struct stream_record r;
	int more = 0, error = 0;

	/* Samples are nothing to it: as they are kept they cost least. */
	record_stream_columns(stream, NULL, NULL);
	while (error == 0 && (more = record_stream_next(stream, &r, &where)) > 0)
		if (r.record && r.record->type == REC_TEXT_POKE)
			error = add_poke(p, r.record, shift_ns);
	return error || more != -FMT_E_NOMEM ? error : more;
}

/* What two ranges of addresses have in common; 0: nothing. *ret_a, *ret_b: where it begins in each. */
static size_t
common(uint64_t a, size_t a_len, uint64_t b, size_t b_len, size_t *ret_a, size_t *ret_b)
{
	size_t rest_a, rest_b;

	/* Differences, for a range may end where addresses do. */
	if (a >= b ? a - b >= b_len : b - a >= a_len)
		return 0;
	*ret_a = a < b ? b - a : 0;
	*ret_b = a < b ? 0 : a - b;
	rest_a = a_len - *ret_a;
	rest_b = b_len - *ret_b;
	return rest_a < rest_b ? rest_a : rest_b;
}

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

static int
compare_places(const struct code_poke *a, const struct code_poke *b)
{
	int r = COMPARE(a->address, b->address);

	r = r ? r : COMPARE(a->old_len, b->old_len);
	return r ? r : COMPARE(a->new_len, b->new_len);
}

/* Of one time, as they came. */
static int
compare_times(const struct code_poke *a, const struct code_poke *b)
{
	const int r = COMPARE(a->time_ns, b->time_ns);

	return r ? r : COMPARE(a->at, b->at);
}

static int
compare_pokes(const void *a, const void *b)
{
	const int r = compare_places(a, b);

	return r ? r : compare_times(a, b);
}

static void
sort_pokes(struct code_pokes *p)
{
	if (p->nr > 0)
		qsort(p->v, p->nr, sizeof(*p->v), compare_pokes);
	for (size_t i = 0, first = 0; i < p->nr; i++) {
		if (compare_places(&p->v[first], &p->v[i]) != 0)
			first = i;
		p->v[first].of_place = (uint32_t)(i - first + 1);
	}
	p->sorted = true;
}

/* The first one from which on anything may be written at an address or behind it. */
static struct code_poke *
first_place(struct code_pokes *p, uint64_t address)
{
	const uint64_t from = address < p->longest ? 0 : address - p->longest;
	size_t low = 0, high = p->nr;

	if (!p->sorted)
		sort_pokes(p);
	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (p->v[middle].address < from)
			low = middle + 1;
		else
			high = middle;
	}
	/* What is found is the first of its address, and so of its place. */
	return p->v + low;
}

/* It begins behind len bytes from an address on, or there is none. */
static bool
is_behind(const struct code_pokes *p, const struct code_poke *k, uint64_t address, size_t len)
{
	return k == p->v + p->nr || (k->address > address && k->address - address >= len);
}

/* How many of a place are not later than a time. */
static size_t
nr_until(const struct code_poke *place, uint64_t ns)
{
	size_t low = 0, high = place->of_place;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (place[middle].time_ns <= ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * Whether it tells more of a byte at a time than another one: the last of those up to it does, or else the first
 * of those that come later.
 */
static bool
tells_more(const struct code_poke *k, const struct code_poke *than, uint64_t at_ns)
{
	if (!than || (k->time_ns <= at_ns) != (than->time_ns <= at_ns))
		return !than || k->time_ns <= at_ns;
	return (compare_times(k, than) > 0) == (k->time_ns <= at_ns);
}

int
code_pokes_apply(struct code_pokes *p, uint64_t at_ns, uint64_t address, uint8_t *bytes, size_t len)
{
	const struct code_poke *k = first_place(p, address), **by;
	size_t at, from, n;

	if (is_behind(p, k, address, len))
		return 0;
	by = calloc(len, sizeof(*by)); /* for each byte who tells it */
	if (!by)
		return -FMT_E_NOMEM;
	for (; !is_behind(p, k, address, len); k += k->of_place) {
		const size_t until = nr_until(k, at_ns);

		for (size_t i = until ? until - 1 : 0; i < k->of_place && i <= until; i++) {
			const bool later = k[i].time_ns > at_ns;
			const uint8_t *told = p->bytes.p + k[i].at + (later ? 0 : k[i].old_len);

			n = common(address, len, k->address, later ? k->old_len : k->new_len, &at,
				   &from);
			for (size_t b = 0; b < n; b++)
				if (tells_more(&k[i], by[at + b], at_ns)) {
					by[at + b] = &k[i];
					bytes[at + b] = told[from + b];
				}
		}
	}
	free(by);
	return 0;
}

size_t
code_pokes_count(struct code_pokes *p, uint64_t from_ns, uint64_t until_ns, uint64_t address,
		 size_t len, uint32_t *times)
{
	const struct code_poke *k = first_place(p, address);
	size_t nr = 0, at, from;

	for (; !is_behind(p, k, address, len); k += k->of_place) {
		const size_t n = common(address, len, k->address, k->new_len, &at, &from);
		const size_t before = n ? nr_until(k, from_ns) : 0,
			     until = n ? nr_until(k, until_ns) : 0;

		if (until <= before)
			continue;
		nr += until - before;
		for (size_t b = 0; times && b < n; b++)
			times[at + b] += (uint32_t)(until - before);
	}
	return nr;
}
