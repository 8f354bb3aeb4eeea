/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/export/perf_script.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

#include "format/block/recording_meta.h"
#include "format/bytes/time_text.h"
#include "format/record/perf_record.h"
#include "symbolizer/text/escape.h"

#define USEC_NS 1000

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

static void
perf_script_head(const struct sample_export *x, struct buf *out)
{
	const struct sample_source *source = sample_export_source(x);
	const time_t began = (time_t)(source->start->realtime / SECOND_NS);
	struct tm tm = { 0 };
	char text[64];

	buf_text(out, "# ========\n");
	if (began && gmtime_r(&began, &tm) &&
	    strftime(text, sizeof(text), "%a %b %e %H:%M:%S %Y", &tm))
		put(out, "# captured on    : %s\n", text);
	if (*source->hostname && **source->hostname) {
		buf_text(out, "# hostname : ");
		escape(out, *source->hostname);
		buf_u8(out, '\n');
	}
	buf_text(out, "# spoor: ");
	escape(out, source->name);
	buf_text(out, "\n# ========\n#\n");
}

/* An object's name without a space: readers take it for the end of the name. */
static void
put_object(const char *name, struct buf *out)
{
	const size_t from = out->len;
	struct buf whole;

	escape(out, name);
	if (buf_failed(out) || !memchr(out->p + from, ' ', out->len - from))
		return;
	buf_init(&whole);
	for (size_t i = from; i < out->len; i++)
		if (out->p[i] == ' ')
			buf_append(&whole, "\\040", 4);
		else
			buf_u8(&whole, out->p[i]);
	out->len = from;
	out->failed |= buf_failed(&whole);
	buf_append(out, whole.p, whole.len);
	buf_done(&whole);
}

static void
perf_script_frame(const struct frame *f, struct buf *out)
{
	put(out, "\t%16" PRIx64 " ", f->vaddr);
	escape(out, frame_is_named(f) ? f->symbol : "[unknown]");
	if (f->inlined) {
		buf_text(out, " (inlined)\n");
		return;
	}
	if (frame_is_named(f))
		put(out, "+0x%" PRIx64, f->symbol_offset);
	buf_text(out, " (");
	put_object(f->dso_path ? f->dso_path : "[unknown]", out);
	buf_text(out, ")\n");
}

/* Does what stands there read as a number and the end of a word? */
static bool
is_number(const uint8_t *p, const uint8_t *end)
{
	const uint8_t *from = p;

	while (p < end && (isdigit(*p) || *p == '/'))
		p++;
	return p == end || (p > from && *p == ' ');
}

/* A name that readers find the end of: what follows a space must not look like a pid. */
static void
put_comm(const char *name, struct buf *out)
{
	const size_t from = out->len;

	escape(out, name && *name ? name : "_");
	for (size_t i = from; !buf_failed(out) && i < out->len; i++)
		if (out->p[i] == ' ' && (i == from || is_number(&out->p[i + 1], out->p + out->len)))
			out->p[i] = '_';
}

static void
put_event(const char *name, struct buf *out)
{
	const size_t from = out->len;

	escape(out, name);
	for (size_t i = from; !buf_failed(out) && i < out->len; i++)
		if (out->p[i] == ' ')
			out->p[i] = '_';
}

static void
perf_script_sample(struct sample_export *x, const struct sample_facts *s, struct buf *out)
{
	const struct profile_stack *st = &s->stack;
	const size_t from = out->len;
	bool one;

	put_comm(st->comm, out);
	/* Readers want two characters: the second one is a space. */
	one = out->len == from + 1;
	put(out,
	    "%s %5" PRId32 "/%-5" PRId32 " [%03" PRIu32 "] %5" PRIu64 ".%06" PRIu64 ": %10" PRIu64
	    " ",
	    one ? " " : "", (int32_t)st->pid, (int32_t)st->tid, st->cpu, s->time_ns / SECOND_NS,
	    s->time_ns % SECOND_NS / USEC_NS, s->period);
	put_event(s->event, out);
	buf_text(out, ": ");
	sample_export_trace(s, out);
	if (s->tracepoint && s->values && s->values->have)
		buf_u8(out, ' ');
	sample_export_values(s, out);
	buf_u8(out, '\n');
	for (uint32_t i = 0; i < st->nr_frames; i++)
		sample_export_frame(x, st->frames[i], out);
	buf_u8(out, '\n');
}

static void
perf_script_tail(const struct sample_left_out *left_out, uint64_t samples, struct buf *out)
{
	put(out,
	    "# spoor: --max-size: the last %" PRIu64 " of %" PRIu64
	    " samples are left out, from %" PRIu64 ".%06" PRIu64 " on\n",
	    left_out->samples, samples, left_out->first_ns / SECOND_NS,
	    left_out->first_ns % SECOND_NS / USEC_NS);
}

const struct sample_form perf_script_form = {
	.head = perf_script_head,
	.frame = perf_script_frame,
	.sample = perf_script_sample,
	.tail = perf_script_tail,
};
