/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/record/event_attr.h"

#include <stddef.h>
#include <string.h>

#include "format/bytes/fmt_error.h"

/* Where each field stands in the kernel's struct, and where in ours. */
#define ATTR_FIELDS(X)                                                                             \
	X(0, type)                                                                                 \
	X(4, size)                                                                                 \
	X(8, config)                                                                               \
	X(16, sample_period)                                                                       \
	X(24, sample_type)                                                                         \
	X(32, read_format)                                                                         \
	X(40, flags)                                                                               \
	X(48, wakeup)                                                                              \
	X(52, bp_type)                                                                             \
	X(56, config1)                                                                             \
	X(64, config2)                                                                             \
	X(72, branch_sample_type)                                                                  \
	X(80, sample_regs_user)                                                                    \
	X(88, sample_stack_user)                                                                   \
	X(92, clockid)                                                                             \
	X(96, sample_regs_intr)                                                                    \
	X(104, aux_watermark)                                                                      \
	X(108, sample_max_stack)                                                                   \
	X(110, reserved2)                                                                          \
	X(112, aux_sample_size)                                                                    \
	X(116, aux_action)                                                                         \
	X(120, sig_data)                                                                           \
	X(128, config3)                                                                            \
	X(136, config4)

struct attr_field {
	uint16_t at;
	uint16_t member;
	uint16_t bytes;
};

static const struct attr_field fields[] = {
#define X(offset, name)                                                                            \
	{ offset, offsetof(struct event_attr, name), sizeof(((struct event_attr *)NULL)->name) },
	ATTR_FIELDS(X)
#undef X
};

#define NR_FIELDS (sizeof(fields) / sizeof(fields[0]))

_Static_assert(EVENT_ATTR_SIZE_KNOWN == 136 + 8, "the last field ends the known attr");

static void
field_decode(const struct attr_field *f, const uint8_t *bytes, struct event_attr *a)
{
	uint8_t *member = (uint8_t *)a + f->member;
	uint64_t v64;
	uint32_t v32;
	uint16_t v16;

	switch (f->bytes) {
	case 8:
		v64 = le64dec(bytes + f->at);
		memcpy(member, &v64, sizeof(v64));
		break;
	case 4:
		v32 = le32dec(bytes + f->at);
		memcpy(member, &v32, sizeof(v32));
		break;
	default:
		v16 = le16dec(bytes + f->at);
		memcpy(member, &v16, sizeof(v16));
		break;
	}
}

static void
field_encode(const struct attr_field *f, const struct event_attr *a, uint8_t *bytes)
{
	const uint8_t *member = (const uint8_t *)a + f->member;
	uint64_t v64;
	uint32_t v32;
	uint16_t v16;

	switch (f->bytes) {
	case 8:
		memcpy(&v64, member, sizeof(v64));
		le64enc(bytes + f->at, v64);
		break;
	case 4:
		memcpy(&v32, member, sizeof(v32));
		le32enc(bytes + f->at, v32);
		break;
	default:
		memcpy(&v16, member, sizeof(v16));
		le16enc(bytes + f->at, v16);
		break;
	}
}

static int
size_check(uint32_t size)
{
	if (size < EVENT_ATTR_SIZE_MIN || size > EVENT_ATTR_SIZE_MAX || size % 8)
		return -FMT_E_CORRUPT;
	return 0;
}

int
event_attr_parse(struct span *s, struct event_attr *ret)
{
	uint8_t known[EVENT_ATTR_SIZE_KNOWN] = { 0 };
	struct span raw;
	uint32_t size;
	size_t i;
	int r;

	if (s->len < 8)
		return -FMT_E_TRUNCATED;
	size = le32dec(s->p + 4);
	if (size == 0)
		size = EVENT_ATTR_SIZE_MIN;
	r = size_check(size);
	if (r < 0)
		return r;
	if (!span_take(s, size, &raw))
		return -FMT_E_TRUNCATED;

	memcpy(known, raw.p, raw.len < sizeof(known) ? raw.len : sizeof(known));
	memset(ret, 0, sizeof(*ret));
	for (i = 0; i < NR_FIELDS; i++)
		field_decode(&fields[i], known, ret);
	ret->size = size;
	return 0;
}

int
event_attr_encode(const struct event_attr *a, uint8_t *out, size_t cap)
{
	uint8_t known[EVENT_ATTR_SIZE_KNOWN] = { 0 };
	uint32_t size = a->size ? a->size : EVENT_ATTR_SIZE_MIN;
	size_t i;
	int r;

	r = size_check(size);
	if (r < 0)
		return r;
	if (size > cap)
		return -FMT_E_TOO_BIG;
	for (i = 0; i < NR_FIELDS; i++)
		field_encode(&fields[i], a, known);
	le32enc(known + 4, size);
	memset(out, 0, size);
	memcpy(out, known, size < sizeof(known) ? size : sizeof(known));
	return (int)size;
}
