/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/block/recording_index.h"

#include <string.h>

void
recording_index_begin(struct buf *out, uint64_t previous)
{
	buf_clear(out);
	buf_u32(out, 0);
	buf_u32(out, INDEX_ENTRY_BYTES);
	buf_u64(out, previous);
}

void
recording_index_add(struct buf *out, const struct block_header *h)
{
	buf_u64(out, h->offset);
	buf_u64(out, h->seq);
	buf_u64(out, h->t_min);
	buf_u64(out, h->t_max);
	buf_u64(out, h->complete);
	buf_u32(out, h->records);
	buf_u32(out, h->samples);
	buf_u32(out, h->raw_length);
	buf_u32(out, h->stored_length);
	buf_u32(out, h->flags);
	buf_u8(out, h->type);
	buf_u8(out, h->encoding);
	buf_u16(out, h->header_size);
	if (!buf_failed(out))
		le32enc(out->p, le32dec(out->p) + 1);
}

int
recording_index_decode(struct span s, struct recording_index *ret)
{
	struct recording_index index;

	if (!span_u32(&s, &index.count) || !span_u32(&s, &index.entry_size) ||
	    !span_u64(&s, &index.previous))
		return -FMT_E_CORRUPT;
	if (index.entry_size < INDEX_ENTRY_BYTES || index.entry_size % 8 != 0)
		return -FMT_E_CORRUPT;
	if (!span_take_words(&s, index.count, index.entry_size / 8, &index.entries))
		return -FMT_E_CORRUPT;
	*ret = index;
	return 0;
}

void
recording_index_at(const struct recording_index *index, uint32_t i, struct block_header *ret)
{
	const uint8_t *p = index->entries.p + (size_t)i * index->entry_size;

	memset(ret, 0, sizeof(*ret));
	ret->offset = le64dec(p);
	ret->seq = le64dec(p + 8);
	ret->t_min = le64dec(p + 16);
	ret->t_max = le64dec(p + 24);
	ret->complete = le64dec(p + 32);
	ret->records = le32dec(p + 40);
	ret->samples = le32dec(p + 44);
	ret->raw_length = le32dec(p + 48);
	ret->stored_length = le32dec(p + 52);
	ret->flags = le32dec(p + 56);
	ret->type = p[60];
	ret->encoding = p[61];
	ret->header_size = le16dec(p + 62);
}

void
recording_end_encode(const struct recording_end *end, struct buf *out)
{
	buf_u64(out, end->index);
	buf_u64(out, end->blocks);
	buf_u64(out, end->records);
	buf_u64(out, end->samples);
	buf_u64(out, end->raw_bytes);
	buf_u64(out, end->lost);
	buf_zero(out, 16);
}

int
recording_end_decode(struct span s, struct recording_end *ret)
{
	struct recording_end end;

	if (!span_u64(&s, &end.index) || !span_u64(&s, &end.blocks) ||
	    !span_u64(&s, &end.records) || !span_u64(&s, &end.samples) ||
	    !span_u64(&s, &end.raw_bytes) || !span_u64(&s, &end.lost))
		return -FMT_E_CORRUPT;
	*ret = end;
	return 0;
}
