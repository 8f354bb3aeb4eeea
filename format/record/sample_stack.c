/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/record/sample_stack.h"

#include <string.h>

#include "format/record/perf_record.h"

/* Of the stack's bytes; all: nothing is to be left out. */
static size_t
kept(const struct perf_sample *sample)
{
	size_t keep = ((size_t)sample->stack_user_dyn_size + 7) & ~(size_t)7;

	if (sample->stack_user_dyn_size < sample->stack_user.len)
		keep += 8;
	return keep < sample->stack_user.len ? keep : sample->stack_user.len;
}

size_t
sample_stack_trim(uint8_t *to, const uint8_t *record, size_t len, const struct event_attr *attr)
{
	struct perf_record r;
	size_t at = 0, keep = 0, left_out = 0;

	if (perf_record_parse(span_of(record, len), attr, &r) == 0 && r.type == REC_SAMPLE &&
	    r.sample.stack_user.p) {
		at = (size_t)(r.sample.stack_user.p - record);
		keep = kept(&r.sample);
		left_out = r.sample.stack_user.len - keep;
	}
	if (to != record)
		memcpy(to, record, left_out ? at + keep : len);
	if (!left_out)
		return len;
	memmove(to + at + keep, record + at + keep + left_out, len - at - keep - left_out);
	le64enc(to + at - 8, keep);
	len -= left_out;
	le16enc(to + 6, (uint16_t)len);
	return len;
}
