/* SPDX-License-Identifier: GPL-2.0-or-later */
/* attr_encode: a decoded attr as bytes again, as the kernel and files have it. */
#ifndef TESTS_LAB_ATTR_ENCODE_H
#define TESTS_LAB_ATTR_ENCODE_H

#include <assert.h>

#include "format/record/event_attr.h"

#define ATTR_ENCODE_MAX 144 /* bytes of an attr up to config4 (Linux 6.19) */

/* Writes a->size bytes, a published size of 64 to ATTR_ENCODE_MAX, and returns it. */
static inline int
attr_encode(const struct event_attr *a, uint8_t out[ATTR_ENCODE_MAX])
{
	uint8_t bytes[ATTR_ENCODE_MAX] = { 0 };
	const uint32_t size = a->size ? a->size : EVENT_ATTR_SIZE_MIN;

	assert(size >= EVENT_ATTR_SIZE_MIN && size <= sizeof(bytes));
	le32enc(bytes, a->type);
	le32enc(bytes + 4, size);
	le64enc(bytes + 8, a->config);
	le64enc(bytes + 16, a->sample_period);
	le64enc(bytes + 24, a->sample_type);
	le64enc(bytes + 32, a->read_format);
	le64enc(bytes + 40, a->flags);
	le64enc(bytes + 72, a->branch_sample_type);
	le64enc(bytes + 80, a->sample_regs_user);
	le32enc(bytes + 92, (uint32_t)a->clockid);
	le64enc(bytes + 96, a->sample_regs_intr);
	memcpy(out, bytes, size);
	return (int)size;
}

#endif
