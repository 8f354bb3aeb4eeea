/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/object/elf_packed.h"

#include <elf.h>
#include <zlib.h>
#include <zstd.h>

#include "format/bytes/fmt_error.h"

#define COMPRESS_ZSTD 2	    /* ELFCOMPRESS_ZSTD, which Debian 12's elf.h does not have */
#define ZLIB_RATIO_MAX 1032 /* bytes that deflate makes of one, at most */

static bool
read_old(struct elf_packed *p)
{
	struct span magic, size;

	if (!span_take(&p->bytes, 4, &magic) || memcmp(magic.p, "ZLIB", 4) != 0 ||
	    !span_take(&p->bytes, 8, &size))
		return false;
	p->size = be64dec(size.p);
	return true;
}

static bool
read_header(struct elf_packed *p, bool is64)
{
	uint32_t type, size32;

	if (!span_u32(&p->bytes, &type) || (type != ELFCOMPRESS_ZLIB && type != COMPRESS_ZSTD))
		return false;
	p->zstd = type == COMPRESS_ZSTD;
	if (is64)
		return span_skip(&p->bytes, 4) && span_u64(&p->bytes, &p->size) &&
			span_skip(&p->bytes, 8);
	if (!span_u32(&p->bytes, &size32))
		return false;
	p->size = size32;
	return span_skip(&p->bytes, 4);
}

bool
elf_packed_read(struct span section, bool old, bool is64, struct elf_packed *ret)
{
	struct elf_packed p = { .bytes = section };

	if (!(old ? read_old(&p) : read_header(&p, is64)) ||
	    (!p.zstd && p.size / ZLIB_RATIO_MAX > p.bytes.len))
		return false;
	*ret = p;
	return true;
}

int
elf_packed_inflate(const struct elf_packed *p, uint8_t *out)
{
	uLongf made = p->size;

	/* An error of zstd's is a size that is none. */
	if (p->zstd ? ZSTD_decompress(out, (size_t)p->size, p->bytes.p, p->bytes.len) == p->size
		    : uncompress(out, &made, p->bytes.p, p->bytes.len) == Z_OK && made == p->size)
		return 0;
	return -FMT_E_DECOMPRESS;
}
