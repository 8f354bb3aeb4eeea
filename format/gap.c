/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/gap.h"

#include "format/fmt_error.h"

void
gap_begin(struct buf *out)
{
	buf_clear(out);
	buf_u32(out, 0);
	buf_u32(out, GAP_ENTRY_BYTES);
}

void
gap_add(struct buf *out, const struct gap *gap)
{
	buf_u32(out, gap->cause);
	buf_u32(out, gap->cpu);
	buf_u64(out, gap->from_ns);
	buf_u64(out, gap->until_ns);
	buf_u64(out, gap->samples);
	buf_u64(out, 0);
	if (!buf_failed(out))
		le32enc(out->p, le32dec(out->p) + 1);
}

int
gap_next(struct span payload, size_t *cursor, struct gap *ret)
{
	struct span s = payload, entry;
	uint32_t count, size;
	struct gap g;

	if (!span_u32(&s, &count) || !span_u32(&s, &size) || size < GAP_ENTRY_BYTES || size % 8)
		return -FMT_E_CORRUPT;
	if (*cursor >= count)
		return 0;
	if (*cursor > s.len / size || !span_skip(&s, *cursor * size) ||
	    !span_take(&s, size, &entry))
		return -FMT_E_CORRUPT;
	if (!span_u32(&entry, &g.cause) || !span_u32(&entry, &g.cpu) ||
	    !span_u64(&entry, &g.from_ns) || !span_u64(&entry, &g.until_ns) ||
	    !span_u64(&entry, &g.samples))
		return -FMT_E_CORRUPT;
	if (g.until_ns && g.until_ns < g.from_ns)
		return -FMT_E_CORRUPT;
	*ret = g;
	++*cursor;
	return 1;
}

bool
gap_same(const struct gap *a, const struct gap *b)
{
	return a->cause == b->cause && a->cpu == b->cpu && a->from_ns == b->from_ns;
}
