/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any text as the format of a tracepoint, and any bytes as a sample of it: what stands before the
 * first NUL is the format. And all of it as the TRACING_DATA section of a perf.data.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes/fmt_error.h"
#include "format/perfdata/perfdata_tracing.h"
#include "format/record/tracepoint.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Values lie in the bytes; names are fit for a terminal. */
static void
check(const struct tracepoint *t, struct span raw)
{
	struct tracepoint_value v;
	struct buf out;

	if (t->nr_fields > TRACEPOINT_FIELDS_MAX)
		abort();
	for (size_t i = 0; i < t->nr_fields; i++) {
		const struct tracepoint_field *f = &t->fields[i];

		if (strspn(f->name,
			   "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			   "0123456789_") != strlen(f->name) ||
		    !*f->name || !tracepoint_find(t, f->name, strlen(f->name)))
			abort();
		if (tracepoint_value(f, raw, &v) &&
		    (v.bytes.p < raw.p || v.bytes.p + v.bytes.len > raw.p + raw.len))
			abort();
	}
	buf_init(&out);
	tracepoint_text(t, raw, &out);
	if (!buf_failed(&out) && out.len && memchr(out.p, 0, out.len))
		abort();
	buf_done(&out);
}

static void
read_section(struct span section)
{
	struct event_set *events = event_set_new();
	uint8_t attr[64] = { 0 };

	le32enc(attr, 2);
	le32enc(attr + 4, sizeof(attr));
	for (uint8_t i = 0; events && i < 10; i++) {
		attr[8] = i / 2;
		if (event_set_add(events, span_of(attr, sizeof(attr)), "x", NULL) < 0)
			abort();
	}
	if (!events || perfdata_tracing_read(section, events) == -FMT_E_NOMEM)
		abort();
	event_set_free(events);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *nul = size ? memchr(data, 0, size) : NULL;
	const size_t head = nul ? (size_t)(nul - data) : size;
	char *format = strndup((const char *)data, head);
	uint8_t *raw = malloc(size - head + 1);
	struct tracepoint *t;

	if (!format || !raw)
		abort();
	if (size > head)
		memcpy(raw, data + head, size - head);
	if (tracepoint_parse(format, &t) == 0) {
		check(t, span_of(raw, size - head));
		tracepoint_free(t);
	}
	read_section(span_of(data, size));
	free(raw);
	free(format);
	return 0;
}
