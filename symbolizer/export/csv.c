/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/export/csv.h"

#include <inttypes.h>
#include <string.h>

#include "symbolizer/export/stack_export.h"
#include "symbolizer/text/escape.h"

#define COLUMNS                                                                                    \
	"time,clock_ns,cpu,pid,tid,comm,event,period,cgroup,symbol,dso,stack,trace,values\r\n"

static void
csv_head(const struct sample_export *x, struct buf *out)
{
	(void)x;
	buf_text(out, COLUMNS);
}

/* Text that was escaped already, in quotes. */
static void
put_quoted(struct buf *out, const uint8_t *p, size_t n)
{
	buf_u8(out, '"');
	if (n > 0 && strchr("=+-@", p[0]))
		buf_u8(out, '\'');
	for (size_t i = 0; i < n; i++) {
		if (p[i] == '"')
			buf_u8(out, '"');
		buf_u8(out, p[i]);
	}
	buf_u8(out, '"');
}

static void
put_text(struct buf *out, const char *s)
{
	struct buf text;

	buf_init(&text);
	escape(&text, s);
	out->failed |= buf_failed(&text);
	buf_u8(out, ',');
	put_quoted(out, text.p, text.len);
	buf_done(&text);
}

/* As in a folded stack. */
static void
csv_frame(const struct frame *f, struct buf *out)
{
	stack_export_frame_name(&(struct stack_export){ 0 }, f, escape_folded, out);
}

static void
put_stack(struct sample_export *x, const struct profile_stack *st, struct buf *out)
{
	struct buf text;

	buf_init(&text);
	for (uint32_t i = st->nr_frames; i-- > 0;) {
		sample_export_frame(x, st->frames[i], &text);
		if (i > 0)
			buf_u8(&text, ';');
	}
	out->failed |= buf_failed(&text);
	buf_u8(out, ',');
	put_quoted(out, text.p, text.len);
	buf_done(&text);
}

typedef void text_fn(const struct sample_facts *s, struct buf *out);

static void
put_fields(const struct sample_facts *s, text_fn *put, struct buf *out)
{
	struct buf text;

	buf_init(&text);
	put(s, &text);
	out->failed |= buf_failed(&text);
	buf_u8(out, ',');
	put_quoted(out, text.p, text.len);
	buf_done(&text);
}

static void
csv_sample(struct sample_export *x, const struct sample_facts *s, struct buf *out)
{
	const struct profile_stack *st = &s->stack;
	const struct frame *leaf = sample_export_frame_at(x, st->frames[0]);
	char text[SAMPLE_EXPORT_TIME_BYTES + 80];

	text[0] = '\0';
	if (s->unix_ns)
		sample_export_time(s->unix_ns, text);
	buf_text(out, text);
	snprintf(text, sizeof(text), ",%" PRIu64 ",%" PRIu32 ",%" PRId32 ",%" PRId32, s->time_ns,
		 st->cpu, (int32_t)st->pid, (int32_t)st->tid);
	buf_text(out, text);
	put_text(out, st->comm);
	put_text(out, s->event);
	snprintf(text, sizeof(text), ",%" PRIu64, s->period);
	buf_text(out, text);
	put_text(out, s->cgroup ? s->cgroup : "");
	put_text(out, leaf->symbol ? leaf->symbol : "");
	put_text(out, leaf->dso_path ? leaf->dso_path : "");
	put_stack(x, st, out);
	put_fields(s, sample_export_trace, out);
	put_fields(s, sample_export_values, out);
	buf_text(out, "\r\n");
}

const struct sample_form csv_form = {
	.head = csv_head,
	.frame = csv_frame,
	.sample = csv_sample,
};
