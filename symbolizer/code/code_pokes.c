/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/code/code_pokes.h"

#include <stdlib.h>
#include <string.h>

#include "format/bytes/array.h"
#include "format/bytes/buf.h"
#include "format/bytes/fmt_error.h"

struct code_poke {
	uint64_t time_ns, address;
	uint32_t at; /* in bytes: the old ones, and the new ones behind them */
	uint16_t old_len, new_len;
};

/* By time. */
struct code_pokes {
	struct code_poke *v;
	size_t nr, cap;
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

void
code_pokes_apply(const struct code_pokes *p, uint64_t at_ns, uint64_t address, uint8_t *bytes,
		 size_t len)
{
	size_t later = p->nr, at, from, n;

	/* The first one of those that come later is what counts, so it is the last one here. */
	for (; later > 0 && p->v[later - 1].time_ns > at_ns; later--) {
		const struct code_poke *k = &p->v[later - 1];

		n = common(address, len, k->address, k->old_len, &at, &from);
		if (n > 0)
			memcpy(bytes + at, p->bytes.p + k->at + from, n);
	}
	for (size_t i = 0; i < later; i++) {
		const struct code_poke *k = &p->v[i];

		n = common(address, len, k->address, k->new_len, &at, &from);
		if (n > 0)
			memcpy(bytes + at, p->bytes.p + k->at + k->old_len + from, n);
	}
}

size_t
code_pokes_count(const struct code_pokes *p, uint64_t from_ns, uint64_t until_ns, uint64_t address,
		 size_t len, uint32_t *times)
{
	size_t nr = 0, at, from, n;

	for (size_t i = 0; i < p->nr; i++) {
		const struct code_poke *k = &p->v[i];

		if (k->time_ns <= from_ns || k->time_ns > until_ns)
			continue;
		n = common(address, len, k->address, k->new_len, &at, &from);
		nr += n > 0;
		for (size_t b = 0; times && b < n; b++)
			times[at + b]++;
	}
	return nr;
}
