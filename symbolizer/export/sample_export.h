/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sample_export: what a writer of single samples gets: one sample after another, in the order of their
 * times, each with its stack. Each form has a file of its own here.
 *
 * Nothing is kept but the text of frames, which stand in many samples: memory is bounded, however many
 * samples there are. Where the output has a limit (--max-size) the last samples are left out, and
 * counted.
 */
#ifndef SYMBOLIZER_EXPORT_SAMPLE_EXPORT_H
#define SYMBOLIZER_EXPORT_SAMPLE_EXPORT_H

#include <stdio.h>

#include "format/bytes/buf.h"
#include "format/record/tracepoint.h"
#include "symbolizer/profile/profile.h"

/* The text of a frame, after which others are forgotten: a name may have 64 KiB. */
#define SAMPLE_EXPORT_FRAMES_BYTES_MAX (64u << 20)

struct sample_export;

/* A sample, and whose it is. */
struct sample_facts {
	struct profile_stack stack;
	const char *event;  /* "[unknown]": none */
	const char *cgroup; /* NULL: not known */
	uint64_t time_ns;   /* on the recording's clock */
	uint64_t unix_ns;   /* since 1970; 0: the recording does not know */
	uint64_t period;
	const struct tracepoint *tracepoint; /* what raw means; NULL: it is of none, or not known */
	struct span raw;
	const struct perf_sample *values; /* see kept_values.h; NULL: it has none */
	const char *arch;		  /* of its registers; NULL: not known */
};

/* What was left out of an output with a limit. */
struct sample_left_out {
	uint64_t samples;
	uint64_t first_ns; /* time of the first of them, on the recording's clock */
};
/* A tail has no more than that to say of it. */
#define SAMPLE_EXPORT_TAIL_BYTES 256

struct sample_form {
	/* Once, before the first sample; NULL: nothing. */
	void (*head)(const struct sample_export *x, struct buf *out);
	/* A frame as it stands in any sample. */
	void (*frame)(const struct frame *f, struct buf *out);
	/* A sample; the text of its frames is sample_export_frame()'s. */
	void (*sample)(struct sample_export *x, const struct sample_facts *s, struct buf *out);
	/* Once, where something was left out, after the last sample; NULL: it has no place for that. */
	void (*tail)(const struct sample_left_out *left_out, uint64_t samples, struct buf *out);
};

/* Of what is exported, for a head; known when the first recording is open. */
struct sample_source {
	const char *name;	     /* of what is read */
	const char *const *hostname; /* NULL or "": not known */
	const char *const *arch;     /* likewise */
	const struct clock_triple *start;
};

/* All is borrowed. max_bytes 0: no limit. NULL: out of memory. */
struct sample_export *sample_export_new(const struct sample_form *form,
					const struct sample_source *source, uint64_t max_bytes,
					FILE *out);
void sample_export_free(struct sample_export *x);

/* arg: the sample_export. 0, -FMT_E_NOMEM, 1: writing failed, and ferror() knows. */
profile_sample_fn sample_export_take;
/* Once, after the last one: 0, -FMT_E_NOMEM. *ret is what was left out. */
int sample_export_end(struct sample_export *x, struct sample_left_out *ret);
/* Samples so far, written and left out. */
uint64_t sample_export_samples(const struct sample_export *x);

/* --- for forms ---------------------------------------------------------------------------- */

const struct sample_source *sample_export_source(const struct sample_export *x);
/* Appends a frame's text, as the form's frame() has it. */
void sample_export_frame(struct sample_export *x, uint32_t id, struct buf *out);
/* The frame itself. */
const struct frame *sample_export_frame_at(const struct sample_export *x, uint32_t id);

/* Appends its values, "addr=0x10 weight=7"; nothing where it has none. */
void sample_export_values(const struct sample_facts *s, struct buf *out);

/* Appends the fields of its tracepoint, "prev_comm=sh prev_pid=7", escaped; nothing where it has none. */
void sample_export_trace(const struct sample_facts *s, struct buf *out);

#define SAMPLE_EXPORT_TIME_BYTES 40
/* "2026-11-22T07:15:01.000000001Z" */
void sample_export_time(uint64_t unix_ns, char out[SAMPLE_EXPORT_TIME_BYTES]);

#endif
