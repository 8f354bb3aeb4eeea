/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/record/sample_stack.h"

#include <string.h>

#include "format/record/perf_record.h"

size_t
sample_stack_trim(uint8_t *record, size_t len, const struct event_attr *attr)
{
	struct perf_record r;
	size_t at, keep, behind;

	if (perf_record_parse(span_of(record, len), attr, &r) != 0 || r.type != REC_SAMPLE ||
	    !r.sample.stack_user.p)
		return len;
	keep = ((size_t)r.sample.stack_user_dyn_size + 7) & ~(size_t)7;
	if (r.sample.stack_user_dyn_size < r.sample.stack_user.len)
		keep += 8;
	if (keep >= r.sample.stack_user.len)
		return len;
	at = (size_t)(r.sample.stack_user.p - record);
	behind = at + r.sample.stack_user.len;
	le64enc(record + at - 8, keep);
	memmove(record + at + keep, record + behind, len - behind);
	len -= r.sample.stack_user.len - keep;
	le16enc(record + 6, (uint16_t)len);
	return len;
}
