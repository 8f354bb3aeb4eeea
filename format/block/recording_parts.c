/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/block/recording_parts.h"

#include <string.h>

void
recording_parts_begin(struct buf *out, uint64_t since_ns, uint64_t until_ns)
{
	buf_u64(out, since_ns);
	buf_u64(out, until_ns);
}

void
recording_parts_add(struct buf *out, const struct recording_part *part)
{
	buf_u64(out, part->bytes);
	buf_u32(out, (uint32_t)part->name.len);
	buf_append(out, part->name.p, part->name.len);
}

int
recording_parts_window(struct span *s, uint64_t *ret_since_ns, uint64_t *ret_until_ns)
{
	if (!span_u64(s, ret_since_ns) || !span_u64(s, ret_until_ns))
		return -FMT_E_CORRUPT;
	return 0;
}

int
recording_parts_next(struct span *s, struct recording_part *ret)
{
	uint32_t length;

	if (s->len == 0)
		return 0;
	if (!span_u64(s, &ret->bytes) || !span_u32(s, &length) || length == 0 ||
	    length > RECORDING_PART_NAME_MAX || !span_take(s, length, &ret->name) ||
	    memchr(ret->name.p, 0, ret->name.len))
		return -FMT_E_CORRUPT;
	return 1;
}

int
recording_parts_check(struct span s)
{
	uint64_t since, until, all = 0;
	struct recording_part part;
	unsigned int nr = 0;
	int more = recording_parts_window(&s, &since, &until);

	if (more)
		return more;
	if (since >= until)
		return -FMT_E_CORRUPT;
	while ((more = recording_parts_next(&s, &part)) > 0) {
		if (part.bytes > INT64_MAX - all || nr++ == RECORDING_PARTS_MAX)
			return -FMT_E_CORRUPT;
		all += part.bytes;
	}
	return more < 0 || nr == 0 ? -FMT_E_CORRUPT : 0;
}
