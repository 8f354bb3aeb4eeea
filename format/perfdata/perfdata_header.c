/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/perfdata/perfdata_header.h"

#include <inttypes.h>

#define MAGIC_1 "PERFFILE"	 /* of perf before 2.6.33, in the writer's byte order */
#define MAGIC_SWAPPED "2ELIFREP" /* what a big-endian machine makes of the u64 */
#define HEADER_NO_FEATURES 72	 /* before 2.6.34 */
#define HEADER_BYTES_MAX 4096	 /* a later perf may append; nobody appends that much */

static bool
begins(struct span s, const char *magic)
{
	return s.len >= PERFDATA_MAGIC_BYTES && memcmp(s.p, magic, PERFDATA_MAGIC_BYTES) == 0;
}

bool
perfdata_header_probe(struct span s)
{
	return begins(s, PERFDATA_MAGIC) || begins(s, MAGIC_SWAPPED) || begins(s, MAGIC_1);
}

const char *
perfdata_record_name(uint32_t type)
{
	switch (type) {
#define X(number, name)                                                                            \
	case number:                                                                               \
		return #name;
		PERFDATA_RECORDS(X)
#undef X
	}
	return NULL;
}

static int
check_magic(struct span s, struct fmt_where *where)
{
	if (s.len == 0)
		return fmt_fail(where, FMT_E_EMPTY, 0, "no perf.data");
	if (begins(s, PERFDATA_MAGIC))
		return 0;
	if (begins(s, MAGIC_SWAPPED))
		return fmt_fail(where, FMT_E_UNSUPPORTED, 0,
				"a perf.data of a big-endian machine: its byte order is not read");
	if (begins(s, MAGIC_1))
		return fmt_fail(where, FMT_E_UNSUPPORTED, 0,
				"a perf.data of version 1, from a perf before Linux 2.6.33");
	return fmt_fail(where, FMT_E_NOT_RECORDING, 0, "not a perf.data");
}

static bool
get_section(struct span *s, struct perfdata_section *ret)
{
	return span_u64(s, &ret->offset) && span_u64(s, &ret->size);
}

static int
get_rest(struct span s, struct perfdata_header *h, struct fmt_where *where)
{
	size_t words = sizeof(h->features) / sizeof(h->features[0]);

	if (!span_u64(&s, &h->attr_size) || !get_section(&s, &h->attrs) ||
	    !get_section(&s, &h->data) || !get_section(&s, &h->event_types))
		return fmt_fail(where, FMT_E_TRUNCATED, 0, "ends inside its header");
	for (size_t i = 0; h->size >= PERFDATA_HEADER_BYTES && i < words; i++)
		if (!span_u64(&s, &h->features[i]))
			return fmt_fail(where, FMT_E_TRUNCATED, 0, "ends inside its header");
	return 0;
}

int
perfdata_header_decode(struct span s, struct perfdata_header *ret, struct fmt_where *where)
{
	struct perfdata_header h = { 0 };
	int error = check_magic(s, where);

	if (error)
		return error;
	span_skip(&s, PERFDATA_MAGIC_BYTES);
	if (!span_u64(&s, &h.size))
		return fmt_fail(where, FMT_E_TRUNCATED, 0, "ends inside its header");
	h.pipe = h.size == PERFDATA_PIPE_HEADER_BYTES;
	if (!h.pipe && h.size != HEADER_NO_FEATURES &&
	    (h.size < PERFDATA_HEADER_BYTES || h.size > HEADER_BYTES_MAX))
		return fmt_fail(where, FMT_E_CORRUPT, 8,
				"header of %" PRIu64 " bytes, which no perf record writes", h.size);
	if (!h.pipe)
		error = get_rest(s, &h, where);
	if (!error)
		*ret = h;
	return error;
}

static uint8_t *
put_section(uint8_t *p, const struct perfdata_section *section)
{
	le64enc(p, section->offset);
	le64enc(p + 8, section->size);
	return p + 16;
}

void
perfdata_header_encode(const struct perfdata_header *h, uint8_t out[PERFDATA_HEADER_BYTES])
{
	uint8_t *p = out + 24;

	memcpy(out, PERFDATA_MAGIC, PERFDATA_MAGIC_BYTES);
	le64enc(out + 8, PERFDATA_HEADER_BYTES);
	le64enc(out + 16, h->attr_size);
	p = put_section(p, &h->attrs);
	p = put_section(p, &h->data);
	p = put_section(p, &h->event_types);
	for (size_t i = 0; i < sizeof(h->features) / sizeof(h->features[0]); i++)
		le64enc(p + i * 8, h->features[i]);
}
