/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/block/buildids.h"

#include "format/record/perf_record.h"

#include <string.h>

#define BUILDIDS_HEADER_BYTES 8

void
buildids_begin(struct buf *out)
{
	buf_clear(out);
	buf_zero(out, BUILDIDS_HEADER_BYTES);
}

void
buildids_add(struct buf *out, const struct buildid_entry *e)
{
	buf_u32(out, e->maj);
	buf_u32(out, e->min);
	buf_u64(out, e->ino);
	buf_u64(out, e->ino_generation);
	buf_u8(out, e->id.size);
	buf_u8(out, e->id.kind);
	buf_zero(out, 2);
	buf_append(out, e->id.bytes, sizeof(e->id.bytes));
	buf_u32(out, (uint32_t)e->path_len);
	buf_append(out, e->path, e->path_len);
	if (!buf_failed(out))
		le32enc(out->p, le32dec(out->p) + 1);
}

int
buildids_next(struct span payload, size_t *cursor, struct buildid_entry *ret)
{
	struct span s = payload, id, path;
	struct buildid_entry e = { 0 };
	uint8_t size, kind;
	uint32_t path_len;

	if (!span_skip(&s, *cursor ? *cursor : BUILDIDS_HEADER_BYTES))
		return -FMT_E_CORRUPT;
	if (s.len == 0)
		return 0;
	if (!span_u32(&s, &e.maj) || !span_u32(&s, &e.min) || !span_u64(&s, &e.ino) ||
	    !span_u64(&s, &e.ino_generation) || !span_u8(&s, &size) || !span_u8(&s, &kind) ||
	    !span_skip(&s, 2) || !span_take(&s, BUILDID_MAX, &id) || !span_u32(&s, &path_len) ||
	    path_len >= PERF_RECORD_STRING_MAX || !span_take(&s, path_len, &path))
		return -FMT_E_CORRUPT;
	/* A kind that only a later version knows tells objects apart; no file here has such an id. */
	e.id = buildid_of(kind, id.p, size);
	if (!e.id.size)
		return -FMT_E_CORRUPT;
	e.path = (const char *)path.p;
	e.path_len = path.len;
	*ret = e;
	*cursor = payload.len - s.len;
	return 1;
}
