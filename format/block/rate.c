/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/block/rate.h"

#include <stdlib.h>

#include "format/bytes/array.h"
#include "format/bytes/fmt_error.h"

void
rate_begin(struct buf *out)
{
	buf_clear(out);
	buf_u32(out, 0);
	buf_u32(out, RATE_ENTRY_BYTES);
}

void
rate_add(struct buf *out, const struct rate *rate)
{
	buf_u64(out, rate->time_ns);
	buf_u64(out, rate->asked_hz);
	buf_u64(out, rate->effective_hz);
	buf_u32(out, rate->reason);
	buf_u32(out, 0);
	if (!buf_failed(out))
		le32enc(out->p, le32dec(out->p) + 1);
}

int
rate_next(struct span payload, size_t *cursor, struct rate *ret)
{
	struct span s = payload, entry;
	uint32_t count, size;
	struct rate r;

	if (!span_u32(&s, &count) || !span_u32(&s, &size) || size < RATE_ENTRY_BYTES || size % 8)
		return -FMT_E_CORRUPT;
	if (*cursor >= count)
		return 0;
	if (*cursor > s.len / size || !span_skip(&s, *cursor * size) ||
	    !span_take(&s, size, &entry))
		return -FMT_E_CORRUPT;
	if (!span_u64(&entry, &r.time_ns) || !span_u64(&entry, &r.asked_hz) ||
	    !span_u64(&entry, &r.effective_hz) || !span_u32(&entry, &r.reason))
		return -FMT_E_CORRUPT;
	*ret = r;
	++*cursor;
	return 1;
}

const char *
rate_reason_key(uint32_t reason)
{
	switch (reason) {
#define X(number, name, key, text)                                                                 \
	case number:                                                                               \
		return key;
		RATE_REASONS(X)
#undef X
	}
	return "unknown";
}

const char *
rate_reason_text(uint32_t reason)
{
	switch (reason) {
#define X(number, name, key, text)                                                                 \
	case number:                                                                               \
		return text;
		RATE_REASONS(X)
#undef X
	}
	return "for a reason that this version does not know";
}

void
rate_list_done(struct rate_list *l)
{
	free(l->rates);
	*l = (struct rate_list){ 0 };
}

int
rate_list_add(struct rate_list *l, struct span payload)
{
	size_t cursor = 0;
	struct rate rate;

	while (rate_next(payload, &cursor, &rate) == 1) {
		if (l->nr == RATE_LIST_MAX) {
			l->more++;
			continue;
		}
		if (array_reserve(l->rates, l->nr, l->cap, 1) < 0)
			return -FMT_E_NOMEM;
		l->rates[l->nr++] = rate;
	}
	return 0;
}
