/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wait_samples: the event off-cpu of a recording as samples of waits (waits.h), each when it is over.
 *
 * They are events that the recording does not have, one for each reason: off-cpu:blocked, off-cpu:io,
 * off-cpu:runnable, off-cpu:preempted. A wait whose thread was woken is two of them: blocked, or for a device, until
 * then, and runnable from then on.
 */
#ifndef SYMBOLIZER_PROFILE_WAIT_SAMPLES_H
#define SYMBOLIZER_PROFILE_WAIT_SAMPLES_H

#include <stddef.h>
#include <stdint.h>

#include "format/model/task_model.h"
#include "format/recording/record_stream.h"
#include "symbolizer/profile/callchain.h"
#include "symbolizer/profile/waits.h"
#include "symbolizer/resolve/kernel_symbols.h"

struct wait_samples;

/*
 * *ret: NULL if the recording has no such event. The others are borrowed for its life, and are as of the
 * records that it sees. 0, -FMT_E_NOMEM.
 */
int wait_samples_open(const struct record_stream *stream, const struct task_model *model,
		      const struct kernel_symbols *kernel, struct wait_samples **ret);
void wait_samples_free(struct wait_samples *w);

#define WAIT_SAMPLES_PARTS 2

struct wait_sample {
	const struct perf_record
		*record; /* as the thread left its CPU; until the next call, as is chain */
	/*
	 * Without the scheduler's own frames, in which all samples are taken: what is left is where the
	 * thread waited.
	 */
	struct callchain_words chain;
	/* Of its end; how long it was, times the switches it stands for. */
	uint64_t time_ns;
	struct waker waker; /* of one that was preempted: none */
	struct wait_part {
		int event;
		uint64_t period_ns;
	} parts[WAIT_SAMPLES_PARTS];
};

/*
 * A record, in the order of times. How many parts of a wait *ret has, 0: it is none; -FMT_E_NOMEM. *event is the
 * record's, and becomes WAIT_SAMPLES_TAKEN for a sample that is none of itself; others go up by those events that are
 * new.
 */
#define WAIT_SAMPLES_TAKEN (-2)
int wait_samples_see(struct wait_samples *w, const struct perf_record *record, int *event,
		     struct wait_sample *ret);

/* The number of another event of the recording, as names have it; -1: it is the one of waits. */
int wait_samples_number(const struct wait_samples *w, int event);
/* The name of an event of waits; NULL: *event is one of the recording, and made the stream's number. */
const char *wait_samples_event(const struct wait_samples *w, size_t *event);
/* The number of the first event of waits, as names have it: those of the recording that come later go up. */
size_t wait_samples_first(const struct wait_samples *w);
/* The stream's number of such an event; -1: it is one of waits. first: theirs; SIZE_MAX: there are none. */
int wait_samples_stream_event(size_t first, int event);

/* The stream has been told of another gap, or of the end of one. */
void wait_samples_gaps_changed(struct wait_samples *w);

struct waits_counts wait_samples_counts(const struct wait_samples *w);

#endif
