/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Columns, in both directions. The first byte says which: 0, the rest is a payload to be
 * decoded, behind a u32 number of records; otherwise it is records to be encoded, behind a u32
 * sample_type, a u8 read_format and 2 bytes of nothing, and the same bytes have to come back.
 */
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "format/columns/columns.h"
#include "format/record/perf_record.h"
#include "tests/lab/attr_encode.h"

#define IDS 4
#define LIMIT (1u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check(bool ok)
{
	if (!ok)
		abort();
}

static uint32_t
count(struct span records)
{
	struct span record;
	uint32_t n = 0;

	while (perf_record_next(&records, &record) > 0)
		n++;
	check(records.len == 0);
	return n;
}

static void
decode(struct span s)
{
	struct buf out;
	uint32_t n;

	if (!span_u32(&s, &n))
		return;
	buf_init(&out);
	if (columns_decode(s, n, LIMIT, &out, NULL) == 0) {
		check(out.len <= LIMIT);
		check(count(buf_span(&out)) == n);
	} else {
		check(out.len == 0);
	}
	buf_done(&out);
}

/* One event of that shape, and one of another. */
static struct event_set *
events_of(uint64_t sample_type, uint64_t read_format)
{
	struct event_attr attr = { .size = 136, .read_format = read_format };
	struct event_set *events = event_set_new();
	uint8_t bytes[ATTR_ENCODE_MAX];

	check(events != NULL);
	for (size_t i = 0; i < 2; i++) {
		int n;

		attr.sample_type = i == 0 ? sample_type
					  : (uint64_t)PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP |
				PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN;
		n = attr_encode(&attr, bytes);
		check(n > 0 && event_set_add(events, span_of(bytes, (size_t)n), "e", NULL) == 0);
		for (uint64_t id = 1; id <= IDS; id++)
			check(event_set_add_id(events, i, id + i * IDS) == 0);
	}
	return events;
}

static void
encode(struct span s)
{
	struct columns_encoder *encoder = columns_encoder_new();
	struct event_set *events;
	struct buf payload, back;
	struct span record, all;
	uint32_t sample_type, n = 0;
	uint8_t read_format;

	check(encoder != NULL);
	buf_init(&payload);
	buf_init(&back);
	if (span_u32(&s, &sample_type) && span_u8(&s, &read_format) && span_skip(&s, 2)) {
		events = events_of(sample_type, read_format);
		all = s;
		while (perf_record_next(&s, &record) > 0)
			n++;
		all.len -= s.len;
		check(columns_encode(encoder, events, all, &payload) == 0);
		check(columns_decode(buf_span(&payload), n, all.len, &back, NULL) == 0);
		check(back.len == all.len);
		check(all.len == 0 || memcmp(back.p, all.p, all.len) == 0);
		event_set_free(events);
	}
	columns_encoder_free(encoder);
	buf_done(&payload);
	buf_done(&back);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span s = span_of(data, size);
	uint8_t what;

	if (!span_u8(&s, &what))
		return 0;
	if (what == 0)
		decode(s);
	else
		encode(s);
	return 0;
}
