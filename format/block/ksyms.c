/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/block/ksyms.h"

#include "format/record/perf_record.h"

#include <string.h>

#define KSYMS_HEADER_BYTES 8

void
ksyms_begin(struct buf *out)
{
	buf_clear(out);
	buf_zero(out, KSYMS_HEADER_BYTES);
}

void
ksyms_add(struct buf *out, uint64_t start, uint64_t end, const char *module, const char *name)
{
	buf_u64(out, start);
	buf_u64(out, end);
	buf_string(out, module);
	buf_string(out, name);
	if (!buf_failed(out))
		le32enc(out->p, le32dec(out->p) + 1);
}

static bool
take_string(struct span *s, const char **ret, size_t *ret_len)
{
	struct span bytes;
	uint32_t n;

	if (!span_u32(s, &n) || n >= PERF_RECORD_STRING_MAX || !span_take(s, n, &bytes))
		return false;
	*ret = (const char *)bytes.p;
	*ret_len = bytes.len;
	return true;
}

int
ksyms_next(struct span payload, size_t *cursor, struct ksym *ret)
{
	struct span s = payload;
	struct ksym k;

	if (!span_skip(&s, *cursor ? *cursor : KSYMS_HEADER_BYTES))
		return -FMT_E_CORRUPT;
	if (s.len == 0)
		return 0;
	if (!span_u64(&s, &k.start) || !span_u64(&s, &k.end) ||
	    !take_string(&s, &k.module, &k.module_len) || !take_string(&s, &k.name, &k.name_len))
		return -FMT_E_CORRUPT;
	if (k.end < k.start)
		return -FMT_E_CORRUPT;
	*ret = k;
	*cursor = payload.len - s.len;
	return 1;
}
