/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/block/recording_header.h"

#include <string.h>

#include "format/bytes/crc32c.h"

#define CRC_FROM 12

void
recording_header_encode(const struct recording_header *h, uint8_t out[RECORDING_HEADER_BYTES])
{
	memset(out, 0, RECORDING_HEADER_BYTES);
	memcpy(out, RECORDING_MAGIC, RECORDING_MAGIC_BYTES);
	le16enc(out + 12, RECORDING_HEADER_BYTES);
	le16enc(out + 14, h->version);
	le64enc(out + 16, h->compatible);
	le64enc(out + 24, h->incompatible);
	memcpy(out + 32, h->file_id, FILE_ID_BYTES);
	le32enc(out + 48, h->meta_length);
	le32enc(out + 52, h->meta_crc);
	le32enc(out + 8, crc32c(0, out + CRC_FROM, RECORDING_HEADER_BYTES - CRC_FROM));
}

int
recording_header_decode(struct span s, struct recording_header *ret)
{
	struct recording_header h;

	if (s.len < RECORDING_MAGIC_BYTES ||
	    memcmp(s.p, RECORDING_MAGIC, RECORDING_MAGIC_BYTES) != 0)
		return -FMT_E_NOT_RECORDING;
	if (s.len < RECORDING_HEADER_BYTES)
		return -FMT_E_TRUNCATED;
	h.header_size = le16dec(s.p + 12);
	if (h.header_size < RECORDING_HEADER_BYTES || h.header_size > RECORDING_HEADER_BYTES_MAX)
		return -FMT_E_TOO_BIG;
	if (s.len < h.header_size)
		return -FMT_E_TRUNCATED;
	if (le32dec(s.p + 8) != crc32c(0, s.p + CRC_FROM, h.header_size - CRC_FROM))
		return -FMT_E_CHECKSUM;
	h.version = le16dec(s.p + 14);
	h.compatible = le64dec(s.p + 16);
	h.incompatible = le64dec(s.p + 24);
	memcpy(h.file_id, s.p + 32, FILE_ID_BYTES);
	h.meta_length = le32dec(s.p + 48);
	h.meta_crc = le32dec(s.p + 52);
	if (h.incompatible & ~RECORDING_INCOMPATIBLE_KNOWN)
		return -FMT_E_VERSION;
	if (h.meta_length > RECORDING_META_MAX)
		return -FMT_E_TOO_BIG;
	*ret = h;
	return 0;
}

uint64_t
recording_header_end(const struct recording_header *h)
{
	return ((uint64_t)h->header_size + h->meta_length + 7) & ~UINT64_C(7);
}
