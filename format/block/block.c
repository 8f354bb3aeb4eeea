/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/block/block.h"

#include <string.h>

#include "format/bytes/crc32c.h"

#define SYNC_BYTES 8
#define CRC_FROM 12 /* what the header CRC covers begins behind it */

static uint32_t
header_crc(const uint8_t *header, size_t size, const uint8_t file_id[FILE_ID_BYTES])
{
	uint32_t crc = crc32c(0, header + CRC_FROM, size - CRC_FROM);

	return crc32c(crc, file_id, FILE_ID_BYTES);
}

void
block_header_encode(const struct block_header *h, const uint8_t file_id[FILE_ID_BYTES],
		    uint8_t out[BLOCK_HEADER_BYTES])
{
	memset(out, 0, BLOCK_HEADER_BYTES);
	memcpy(out, BLOCK_SYNC, SYNC_BYTES);
	le16enc(out + 12, BLOCK_HEADER_BYTES);
	out[14] = h->type;
	out[15] = h->encoding;
	le32enc(out + 16, h->flags);
	le32enc(out + 20, h->records);
	le64enc(out + 24, h->seq);
	le64enc(out + 32, h->offset);
	le64enc(out + 40, h->t_min);
	le64enc(out + 48, h->t_max);
	le64enc(out + 56, h->complete);
	le32enc(out + 64, h->samples);
	le32enc(out + 68, h->payload_crc);
	le64enc(out + 72, h->lost);
	le32enc(out + 80, h->raw_length);
	le32enc(out + 84, h->stored_length);
	le32enc(out + 8, header_crc(out, BLOCK_HEADER_BYTES, file_id));
}

static void
decode_fields(const uint8_t *p, struct block_header *ret)
{
	ret->header_size = le16dec(p + 12);
	ret->type = p[14];
	ret->encoding = p[15];
	ret->flags = le32dec(p + 16);
	ret->records = le32dec(p + 20);
	ret->seq = le64dec(p + 24);
	ret->offset = le64dec(p + 32);
	ret->t_min = le64dec(p + 40);
	ret->t_max = le64dec(p + 48);
	ret->complete = le64dec(p + 56);
	ret->samples = le32dec(p + 64);
	ret->payload_crc = le32dec(p + 68);
	ret->lost = le64dec(p + 72);
	ret->raw_length = le32dec(p + 80);
	ret->stored_length = le32dec(p + 84);
}

int
block_header_decode(struct span s, const uint8_t file_id[FILE_ID_BYTES], struct block_header *ret)
{
	struct block_header h;

	if (s.len < SYNC_BYTES)
		return -FMT_E_TRUNCATED;
	if (memcmp(s.p, BLOCK_SYNC, SYNC_BYTES) != 0)
		return -FMT_E_CORRUPT;
	if (s.len < BLOCK_HEADER_BYTES)
		return -FMT_E_TRUNCATED;
	decode_fields(s.p, &h);
	if (h.header_size < BLOCK_HEADER_BYTES || h.header_size > BLOCK_HEADER_BYTES_MAX)
		return -FMT_E_TOO_BIG;
	if (s.len < h.header_size)
		return -FMT_E_TRUNCATED;
	if (file_id && le32dec(s.p + 8) != header_crc(s.p, h.header_size, file_id))
		return -FMT_E_CHECKSUM;
	/* There is one after it, always. */
	if (h.seq == UINT64_MAX)
		return -FMT_E_TOO_BIG;
	/* A payload that compression did not shrink is stored: it is never the longer one. */
	if (h.raw_length > BLOCK_RAW_MAX || h.stored_length > h.raw_length)
		return -FMT_E_TOO_BIG;
	if (h.type == BLOCK_RECORDS && h.raw_length > BLOCK_RECORDS_MAX)
		return -FMT_E_TOO_BIG;
	if ((h.flags & BLOCK_F_STORED) && h.stored_length != h.raw_length)
		return -FMT_E_TOO_BIG;
	*ret = h;
	return 0;
}

const char *
block_type_name(uint8_t type)
{
	switch (type) {
#define X(number, name, text)                                                                      \
	case number:                                                                               \
		return #name;
		BLOCK_TYPES(X)
#undef X
	}
	return NULL;
}
