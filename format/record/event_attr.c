/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/record/event_attr.h"

#include <linux/perf_event.h>
#include <string.h>

#include "format/bytes/fmt_error.h"

#define BYTES_READ 112 /* to the end of sample_max_stack, and what is reserved behind it */

int
event_attr_parse(struct span *s, struct event_attr *ret)
{
	uint8_t known[BYTES_READ] = { 0 };
	struct span raw;
	uint32_t size;

	if (s->len < 8)
		return -FMT_E_TRUNCATED;
	size = le32dec(s->p + 4);
	if (size == 0)
		size = EVENT_ATTR_SIZE_MIN;
	if (size < EVENT_ATTR_SIZE_MIN || size > EVENT_ATTR_SIZE_MAX || size % 8)
		return -FMT_E_CORRUPT;
	if (!span_take(s, size, &raw))
		return -FMT_E_TRUNCATED;
	memcpy(known, raw.p, raw.len < sizeof(known) ? raw.len : sizeof(known));
	*ret = (struct event_attr){
		.type = le32dec(known),
		.size = size,
		.config = le64dec(known + 8),
		.sample_period = le64dec(known + 16),
		.sample_type = le64dec(known + 24),
		.read_format = le64dec(known + 32),
		.flags = le64dec(known + 40),
		.branch_sample_type = le64dec(known + 72),
		.sample_regs_user = le64dec(known + 80),
		.clockid = (int32_t)le32dec(known + 92),
		.sample_regs_intr = le64dec(known + 96),
		.sample_max_stack = le16dec(known + 108),
	};
	return 0;
}

bool
event_attr_is_shared(uint32_t type, uint64_t config)
{
	config &= UINT32_MAX;
	return type == PERF_TYPE_SOFTWARE && !event_attr_counts_time(type, config) &&
		config != PERF_COUNT_SW_DUMMY;
}

bool
event_attr_counts_time(uint32_t type, uint64_t config)
{
	return type == PERF_TYPE_SOFTWARE &&
		(config == PERF_COUNT_SW_CPU_CLOCK || config == PERF_COUNT_SW_TASK_CLOCK);
}
