/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/export/sample_export.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "format/block/recording_meta.h"
#include "format/bytes/array.h"
#include "format/bytes/fmt_error.h"
#include "format/bytes/time_text.h"
#include "symbolizer/export/sample_values.h"
#include "symbolizer/text/escape.h"

/* Where in texts that of a frame is. */
struct frame_text {
	size_t at, len; /* len 0: it has not been made */
};

struct sample_export {
	const struct sample_form *form;
	const struct sample_source *source;
	FILE *out;
	uint64_t max_bytes, bytes; /* 0: no limit; so far */
	uint64_t samples;
	bool begun, full;
	struct sample_left_out left_out;
	struct buf line;
	/* Texts of frames, by id, as long as the ids mean the same. */
	const struct profile *profile; /* of the sample */
	uint64_t epoch;
	struct buf texts;
	struct frame_text *frames;
	size_t nr_frames, cap_frames;
	bool nomem;
};

struct sample_export *
sample_export_new(const struct sample_form *form, const struct sample_source *source,
		  uint64_t max_bytes, FILE *out)
{
	struct sample_export *x = calloc(1, sizeof(*x));

	if (!x)
		return NULL;
	x->form = form;
	x->source = source;
	x->max_bytes = max_bytes;
	x->out = out;
	buf_init(&x->line);
	buf_init(&x->texts);
	return x;
}

void
sample_export_free(struct sample_export *x)
{
	if (!x)
		return;
	buf_done(&x->line);
	buf_done(&x->texts);
	free(x->frames);
	free(x);
}

const struct sample_source *
sample_export_source(const struct sample_export *x)
{
	return x->source;
}

uint64_t
sample_export_samples(const struct sample_export *x)
{
	return x->samples;
}

/* --- frames ------------------------------------------------------------------------------- */

static void
forget_frames(struct sample_export *x)
{
	buf_clear(&x->texts);
	x->nr_frames = 0;
}

/* Its place among the known ones, made if need be. NULL: out of memory. */
static struct frame_text *
frame_text_of(struct sample_export *x, uint32_t id)
{
	if (id >= x->nr_frames) {
		const size_t more = id + UINT64_C(1) - x->nr_frames;

		if (array_reserve(x->frames, x->nr_frames, x->cap_frames, more) != 0)
			return NULL;
		memset(&x->frames[x->nr_frames], 0, more * sizeof(*x->frames));
		x->nr_frames += more;
	}
	return &x->frames[id];
}

void
sample_export_frame(struct sample_export *x, uint32_t id, struct buf *out)
{
	struct frame_text *text;

	if (x->texts.len > SAMPLE_EXPORT_FRAMES_BYTES_MAX)
		forget_frames(x);
	text = frame_text_of(x, id);
	if (!text) {
		x->nomem = true;
		return;
	}
	if (text->len == 0) {
		text->at = x->texts.len;
		x->form->frame(profile_frame(x->profile, id), &x->texts);
		text->len = x->texts.len - text->at;
	}
	if (buf_failed(&x->texts))
		x->nomem = true;
	else
		buf_append(out, x->texts.p + text->at, text->len);
}

const struct frame *
sample_export_frame_at(const struct sample_export *x, uint32_t id)
{
	return profile_frame(x->profile, id);
}

void
sample_export_trace(const struct sample_facts *s, struct buf *out)
{
	struct buf text;

	if (!s->tracepoint)
		return;
	buf_init(&text);
	tracepoint_text(s->tracepoint, s->raw, &text);
	buf_u8(&text, 0);
	if (buf_failed(&text))
		out->failed = true;
	else
		escape(out, (const char *)text.p);
	buf_done(&text);
}

void
sample_export_values(const struct sample_facts *s, struct buf *out)
{
	if (s->values)
		sample_values_text(s->values, s->arch, out);
}

void
sample_export_time(uint64_t unix_ns, char out[SAMPLE_EXPORT_TIME_BYTES])
{
	const time_t seconds = (time_t)(unix_ns / SECOND_NS);
	struct tm tm = { 0 };
	size_t n;

	gmtime_r(&seconds, &tm);
	n = strftime(out, SAMPLE_EXPORT_TIME_BYTES, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(out + n, SAMPLE_EXPORT_TIME_BYTES - n, ".%09" PRIu64 "Z", unix_ns % SECOND_NS);
}

/* --- samples ------------------------------------------------------------------------------ */

/* The line goes out, if there is room for it. */
static bool
put(struct sample_export *x, size_t reserved)
{
	if (x->max_bytes && x->bytes + x->line.len + reserved > x->max_bytes)
		return false;
	fwrite(x->line.p, 1, x->line.len, x->out);
	x->bytes += x->line.len;
	return true;
}

static size_t
reserved(const struct sample_export *x)
{
	return x->form->tail ? SAMPLE_EXPORT_TAIL_BYTES : 0;
}

static int
failed(const struct sample_export *x)
{
	if (x->nomem || buf_failed(&x->line))
		return -FMT_E_NOMEM;
	return ferror(x->out) ? 1 : 0;
}

static int
put_head(struct sample_export *x)
{
	x->begun = true;
	buf_clear(&x->line);
	if (!x->form->head)
		return 0;
	x->form->head(x, &x->line);
	x->full = !put(x, reserved(x));
	return failed(x);
}

static uint64_t
unix_time(const struct sample_export *x, uint64_t time_ns)
{
	const struct clock_triple *start = x->source->start;

	return start->realtime ? time_ns + start->realtime - start->monotonic : 0;
}

int
sample_export_take(void *arg, const struct profile *p, const struct profile_sample *s)
{
	struct sample_export *x = arg;
	struct sample_facts facts = { .time_ns = s->time_ns,
				      .period = s->period,
				      .tracepoint = s->tracepoint,
				      .raw = s->values ? s->values->raw : span_of(NULL, 0),
				      .values = s->values,
				      .arch = *x->source->arch };
	int err = x->begun ? 0 : put_head(x);

	x->samples++;
	if (!x->full && err == 0) {
		if (x->epoch != profile_epoch(p))
			forget_frames(x);
		x->epoch = profile_epoch(p);
		x->profile = p;
		profile_stack_at(p, s->stack, &facts.stack);
		facts.event = profile_event_name(p, facts.stack.event);
		if (facts.stack.cgroup && strcmp(facts.stack.cgroup, "[unknown]") != 0)
			facts.cgroup = facts.stack.cgroup;
		facts.unix_ns = unix_time(x, s->time_ns);
		buf_clear(&x->line);
		x->form->sample(x, &facts, &x->line);
		err = failed(x);
		x->full = err == 0 && !put(x, reserved(x));
	}
	if (x->full && x->left_out.samples++ == 0)
		x->left_out.first_ns = s->time_ns;
	return err ? err : failed(x);
}

int
sample_export_end(struct sample_export *x, struct sample_left_out *ret)
{
	int err = x->begun ? 0 : put_head(x);

	buf_clear(&x->line);
	if (err == 0 && x->left_out.samples > 0 && x->form->tail) {
		x->form->tail(&x->left_out, x->samples, &x->line);
		put(x, 0);
	}
	if (buf_failed(&x->line))
		err = -FMT_E_NOMEM;
	*ret = x->left_out;
	return err < 0 ? err : 0;
}
