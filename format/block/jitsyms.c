/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/block/jitsyms.h"

#include "format/record/perf_record.h"

#include <string.h>

#define JITSYMS_HEADER_BYTES 8

void
jitsyms_begin(struct buf *out)
{
	buf_clear(out);
	buf_zero(out, JITSYMS_HEADER_BYTES);
}

void
jitsyms_add(struct buf *out, const struct jitsym *symbol)
{
	buf_u32(out, symbol->pid);
	buf_u32(out, 0);
	buf_u64(out, symbol->began_ns);
	buf_u64(out, symbol->time_ns);
	buf_u64(out, symbol->order);
	buf_u64(out, symbol->start);
	buf_u64(out, symbol->size);
	buf_u32(out, (uint32_t)symbol->name_len);
	buf_append(out, symbol->name, symbol->name_len);
	if (!buf_failed(out))
		le32enc(out->p, le32dec(out->p) + 1);
}

static bool
take_entry(struct span *s, struct jitsym *ret)
{
	struct span name;
	uint32_t n;

	if (!span_u32(s, &ret->pid) || !span_skip(s, 4) || !span_u64(s, &ret->began_ns) ||
	    !span_u64(s, &ret->time_ns) || !span_u64(s, &ret->order) || !span_u64(s, &ret->start) ||
	    !span_u64(s, &ret->size) || !span_u32(s, &n) || n >= PERF_RECORD_STRING_MAX ||
	    !span_take(s, n, &name))
		return false;
	ret->name = (const char *)name.p;
	ret->name_len = name.len;
	return ret->start + ret->size > ret->start;
}

int
jitsyms_next(struct span payload, size_t *cursor, struct jitsym *ret)
{
	struct span s = payload;
	struct jitsym symbol;

	if (!span_skip(&s, *cursor ? *cursor : JITSYMS_HEADER_BYTES))
		return -FMT_E_CORRUPT;
	if (s.len == 0)
		return 0;
	if (!take_entry(&s, &symbol))
		return -FMT_E_CORRUPT;
	*ret = symbol;
	*cursor = payload.len - s.len;
	return 1;
}
