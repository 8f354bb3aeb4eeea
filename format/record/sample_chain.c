/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/record/sample_chain.h"

#include <linux/perf_event.h>

#include "format/bytes/fmt_error.h"

#ifndef PERF_CONTEXT_USER_DEFERRED /* Linux 6.19 */
#define PERF_CONTEXT_USER_DEFERRED ((uint64_t)-640)
#endif

/* Words of the chain that are the user's, with the marker: [*ret_from, *ret_to); both its end: it has none. */
static void
find_user(struct span chain, size_t *ret_from, size_t *ret_to)
{
	const size_t nr = chain.len / 8;
	size_t i = 0;

	while (i < nr && span_word(chain, i) != (uint64_t)PERF_CONTEXT_USER &&
	       span_word(chain, i) != PERF_CONTEXT_USER_DEFERRED)
		i++;
	*ret_from = i;
	for (i += i < nr; i < nr && span_word(chain, i) < (uint64_t)PERF_CONTEXT_MAX; i++)
		;
	*ret_to = i;
}

size_t
sample_chain_room(struct span chain, uint16_t max_stack)
{
	size_t room = max_stack ? max_stack : SAMPLE_CHAIN_MAX, from, to;

	find_user(chain, &from, &to);
	for (size_t i = 0; i < from && room > 0; i++)
		room -= span_word(chain, i) < (uint64_t)PERF_CONTEXT_MAX;
	return room;
}

/* The word behind this caller in the user's part, which ends at to; to: it is not there, or the last one. */
static size_t
behind_caller(struct span chain, size_t from, size_t to, uint64_t caller)
{
	/* Behind the marker is where the thread was, and no caller. */
	for (size_t i = from + 2; i < to; i++)
		if (span_word(chain, i) == caller)
			return i + 1;
	return to;
}

size_t
sample_chain_go_on(struct span chain, uint64_t *user, size_t nr)
{
	size_t from, to, at;

	find_user(chain, &from, &to);
	/* The last address, or the one before. */
	for (size_t last = nr; last > 1 && last + 1 >= nr; last--) {
		at = behind_caller(chain, from, to, user[last - 1]);
		if (at == to)
			continue;
		for (nr = last; at < to && nr < SAMPLE_CHAIN_MAX; at++)
			user[nr++] = span_word(chain, at);
		break;
	}
	return nr;
}

static void
put_words(struct buf *out, const uint64_t *words, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		buf_u64(out, words[i]);
}

/* The number of words, and the words. */
static void
put_chain(struct buf *out, struct span chain, const uint64_t *user, size_t nr)
{
	const size_t all = chain.len / 8;
	size_t from, to, left;

	find_user(chain, &from, &to);
	left = all - (to - from);
	if (left + 1 >= SAMPLE_CHAIN_MAX)
		nr = 0;
	else if (nr > SAMPLE_CHAIN_MAX - left - 1)
		nr = SAMPLE_CHAIN_MAX - left - 1;
	buf_u64(out, left + (nr ? nr + 1 : 0));
	buf_append(out, chain.p, from * 8);
	if (nr)
		buf_u64(out, (uint64_t)PERF_CONTEXT_USER);
	put_words(out, user, nr);
	buf_append(out, chain.p + to * 8, (all - to) * 8);
}

int
sample_chain_put(const struct perf_record *r, const uint64_t *user, size_t nr, struct buf *out)
{
	const struct span chain = r->sample.callchain, copy = r->sample.user_copy;
	const uint8_t *end = r->raw.p + r->raw.len, *rest = chain.p + chain.len;
	const size_t at = out->len;
	size_t size;

	if (r->type != REC_SAMPLE || !chain.p)
		return -FMT_E_CORRUPT;
	if (user) {
		buf_append(out, r->raw.p, (size_t)(chain.p - r->raw.p) - 8);
		put_chain(out, chain, user, nr);
	} else {
		buf_append(out, r->raw.p, (size_t)(rest - r->raw.p));
	}
	if (copy.p) {
		buf_append(out, rest, (size_t)(copy.p - rest));
		rest = copy.p + copy.len;
	}
	buf_append(out, rest, (size_t)(end - rest));
	if (buf_failed(out)) {
		out->len = at;
		return -FMT_E_NOMEM;
	}
	size = out->len - at;
	if (size > UINT16_MAX) {
		out->len = at;
		return -FMT_E_CORRUPT;
	}
	le16enc(out->p + at + 6, (uint16_t)size);
	return 0;
}
