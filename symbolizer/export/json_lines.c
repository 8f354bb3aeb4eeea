/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/export/json_lines.h"

#include <inttypes.h>
#include <stdarg.h>

#include "symbolizer/export/sample_values.h"
#include "symbolizer/text/json_value.h"

static __attribute__((format(printf, 2, 3))) void
put(struct buf *out, const char *format, ...)
{
	char text[160];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	buf_text(out, text);
}

/* ,"key":"text", or null where there is none. */
static void
put_text(struct buf *out, const char *key, const char *s)
{
	put(out, ",\"%s\":", key);
	if (s)
		json_value_append(out, s);
	else
		buf_text(out, "null");
}

static void
json_lines_frame(const struct frame *f, struct buf *out)
{
	buf_text(out, "{\"symbol\":");
	if (f->symbol)
		json_value_append(out, f->symbol);
	else
		buf_text(out, "null");
	put_text(out, "dso", f->dso_path);
	put(out, ",\"address\":\"0x%" PRIx64 "\"", f->vaddr);
	put_text(out, "file", f->file);
	if (f->line)
		put(out, ",\"line\":%" PRIu32, f->line);
	else
		buf_text(out, ",\"line\":null");
	put(out, ",\"inlined\":%s,\"kernel\":%s}", f->inlined ? "true" : "false",
	    f->kernel ? "true" : "false");
}

static void
put_value(struct buf *out, const struct tracepoint_value *v)
{
	struct buf text;

	buf_init(&text);
	tracepoint_value_text(v, &text);
	buf_u8(&text, 0);
	if (buf_failed(&text))
		out->failed = true;
	else if (v->kind == TRACEPOINT_NUMBER && (v->is_signed || v->number <= INT64_MAX))
		buf_text(out, (const char *)text.p);
	else
		json_value_append(out, (const char *)text.p);
	buf_done(&text);
}

static void
put_numbers(struct buf *out, const struct tracepoint_value *v)
{
	struct tracepoint_value one = { .kind = TRACEPOINT_NUMBER, .is_signed = v->is_signed };

	buf_u8(out, '[');
	for (size_t i = 0; tracepoint_number_at(v, i, &one.number); i++) {
		buf_text(out, i > 0 ? "," : "");
		put_value(out, &one);
	}
	buf_u8(out, ']');
}

/* Of a tracepoint alone: ,"trace":{"prev_comm":"sh","prev_pid":7}. */
static void
put_trace(const struct sample_facts *s, struct buf *out)
{
	const struct tracepoint *t = s->tracepoint;
	const char *separator = "";
	struct tracepoint_value v;
	size_t end;

	if (!t)
		return;
	buf_text(out, ",\"trace\":{");
	end = out->len + TRACEPOINT_TEXT_MAX;
	for (size_t i = 0; i < t->nr_fields && out->len < end; i++) {
		if (t->fields[i].common || !tracepoint_value(&t->fields[i], s->raw, &v))
			continue;
		buf_text(out, separator);
		json_value_append(out, t->fields[i].name);
		buf_u8(out, ':');
		if (v.kind == TRACEPOINT_NUMBERS)
			put_numbers(out, &v);
		else
			put_value(out, &v);
		separator = ",";
	}
	buf_u8(out, '}');
}

static void
json_lines_sample(struct sample_export *x, const struct sample_facts *s, struct buf *out)
{
	const struct profile_stack *st = &s->stack;
	char time[SAMPLE_EXPORT_TIME_BYTES];

	if (s->unix_ns) {
		sample_export_time(s->unix_ns, time);
		put(out, "{\"time\":\"%s\"", time);
	} else {
		buf_text(out, "{\"time\":null");
	}
	put(out,
	    ",\"clock_ns\":%" PRIu64 ",\"cpu\":%" PRIu32 ",\"pid\":%" PRId32 ",\"tid\":%" PRId32,
	    s->time_ns, st->cpu, (int32_t)st->pid, (int32_t)st->tid);
	put_text(out, "comm", st->comm);
	put_text(out, "event", s->event);
	put(out, ",\"period\":%" PRIu64, s->period);
	put_text(out, "cgroup", s->cgroup);
	put_trace(s, out);
	if (s->values)
		sample_values_json(s->values, s->arch, out);
	buf_text(out, ",\"stack\":[");
	for (uint32_t i = 0; i < st->nr_frames; i++) {
		if (i > 0)
			buf_u8(out, ',');
		sample_export_frame(x, st->frames[i], out);
	}
	buf_text(out, "]}\n");
}

static void
json_lines_tail(const struct sample_left_out *left_out, uint64_t samples, struct buf *out)
{
	put(out,
	    "{\"left_out\":{\"samples\":%" PRIu64 ",\"of\":%" PRIu64 ",\"from_clock_ns\":%" PRIu64
	    "}}\n",
	    left_out->samples, samples, left_out->first_ns);
}

const struct sample_form json_lines_form = {
	.frame = json_lines_frame,
	.sample = json_lines_sample,
	.tail = json_lines_tail,
};
