/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/profile/wait_samples.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/sys/endian.h>

#include "format/bytes/array.h"
#include "format/record/off_cpu.h"
#include "format/record/tracepoint.h"

/* common_flags: TRACE_FLAG_HARDIRQ and TRACE_FLAG_SOFTIRQ of <linux/trace_events.h> */
#define TRACE_FLAG_INTERRUPTS 0x18u

struct wait_samples {
	const struct record_stream *stream;
	const struct task_model *model;
	const struct kernel_symbols *kernel;
	struct waits *waits;
	int off_cpu;	  /* number of the event */
	size_t nr_events; /* of the recording, at its beginning; those of waits stand behind them */
	uint64_t min_ns;
	/* Times without samples: by their beginnings, each with the latest end up to it. */
	struct wait_gap {
		uint64_t from_ns, until_ns;
		size_t at; /* in the stream's list */
	} * gaps;
	size_t nr_gaps, cap_gaps;
	bool gaps_known;
	struct tracepoints tracepoints;
	bool wakeups_known; /* fields of tracepoints have pids of the host's first PID namespace */
	/* Of the last wait. */
	struct perf_record record;
	uint64_t *words;
	size_t cap_words;
};

/* The first of the recording. */
static bool
find_off_cpu(struct wait_samples *w)
{
	const struct event_set *events = record_stream_events(w->stream);
	struct off_cpu_terms terms;

	w->nr_events = event_set_count(events);
	for (size_t i = 0; i < w->nr_events; i++)
		if (off_cpu_event(event_set_at(events, i), &terms)) {
			w->off_cpu = (int)i;
			w->min_ns = terms.min_ns;
			return true;
		}
	return false;
}

int
wait_samples_open(const struct record_stream *stream, const struct task_model *model,
		  const struct kernel_symbols *kernel, struct wait_samples **ret)
{
	struct wait_samples found = { .stream = stream, .model = model, .kernel = kernel }, *w;

	*ret = NULL;
	if (!find_off_cpu(&found))
		return 0;
	w = calloc(1, sizeof(*w));
	if (!w)
		return -FMT_E_NOMEM;
	*w = found;
	w->wakeups_known = record_stream_meta(stream)->pid_namespace == 0;
	w->waits = waits_new();
	if (!w->waits) {
		free(w);
		return -FMT_E_NOMEM;
	}
	*ret = w;
	return 0;
}

void
wait_samples_free(struct wait_samples *w)
{
	if (!w)
		return;
	waits_free(w->waits);
	tracepoints_done(&w->tracepoints);
	free(w->words);
	free(w->gaps);
	free(w);
}

const char *
wait_samples_event(const struct wait_samples *w, size_t *event)
{
	if (*event < w->nr_events)
		return NULL;
	if (*event - w->nr_events < OFF_CPU_WHYS_MAX)
		return off_cpu_name((enum off_cpu_why)(*event - w->nr_events));
	*event -= OFF_CPU_WHYS_MAX;
	return NULL;
}

size_t
wait_samples_first(const struct wait_samples *w)
{
	return w->nr_events;
}

int
wait_samples_stream_event(size_t first, int event)
{
	if (event < 0 || (size_t)event < first)
		return event;
	return (size_t)event - first < OFF_CPU_WHYS_MAX ? -1 : event - OFF_CPU_WHYS_MAX;
}

int
wait_samples_number(const struct wait_samples *w, int event)
{
	if (event == w->off_cpu)
		return -1;
	return event < (int)w->nr_events ? event : event + OFF_CPU_WHYS_MAX;
}

struct waits_counts
wait_samples_counts(const struct wait_samples *w)
{
	return waits_count(w->waits);
}

/* --- stacks ------------------------------------------------------------------------------ */

/* How many kernel frames are the scheduler's. *ret_io: of a wait that is accounted as one for a device. */
static size_t
scheduler_frames(const struct wait_samples *w, struct span words, bool *ret_io)
{
	struct kernel_symbol symbol;
	size_t n = 0;

	*ret_io = false;
	if (span_words(words) == 0 || span_word(words, 0) != PERF_CONTEXT_KERNEL)
		return 0;
	for (; n + 1 < span_words(words); n++) {
		const uint64_t word = span_word(words, n + 1);

		if (perf_context_marker(word) ||
		    !kernel_symbols_find_frame(w->kernel, word, n > 0, &symbol) ||
		    !strstr(symbol.name, "schedule"))
			break;
		*ret_io |= strstr(symbol.name, "io_schedule") != NULL;
	}
	return n;
}

/* Leaves out the first of the kernel's frames, if anything is behind them. */
static int
cut_chain(struct wait_samples *w, size_t frames, struct callchain_words *chain)
{
	const size_t nr = chain->nr - frames;
	uint64_t mode = PERF_CONTEXT_KERNEL, ip = 0;
	size_t end = chain->nr;

	/* Behind its marker stands a cookie, and no address. */
	(void)callchain_cookie(chain->words, &end);
	for (size_t i = frames + 1; ip == 0 && i < end; i++) {
		const uint64_t word = span_word(chain->words, i);

		if (perf_context_marker(word))
			mode = word;
		else
			ip = word;
	}
	if (frames == 0 || ip == 0)
		return 0;
	if (array_reserve(w->words, 0, w->cap_words, nr) != 0)
		return -FMT_E_NOMEM;
	for (size_t i = 0; i < nr; i++)
		w->words[i] = htole64(span_word(chain->words, i ? i + frames : 0));
	if (mode == PERF_CONTEXT_USER)
		chain->misc = PERF_RECORD_MISC_USER;
	chain->ip = ip;
	chain->words = span_of((const uint8_t *)w->words, nr * sizeof(*w->words));
	chain->nr = nr;
	return 0;
}

/* --- records ----------------------------------------------------------------------------- */

void
wait_samples_gaps_changed(struct wait_samples *w)
{
	w->gaps_known = false;
}

/* How many gaps begin before a time. */
static size_t
gaps_before(const struct wait_samples *w, uint64_t time_ns)
{
	size_t low = 0, high = w->nr_gaps;

	while (low < high) {
		const size_t mid = low + (high - low) / 2;

		if (w->gaps[mid].from_ns < time_ns)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Are those that were taken where they were? At the end of a window the list loses those that do not reach into it. */
static bool
gaps_stay(const struct wait_samples *w, const struct gap_list *l)
{
	for (size_t i = 0; i < w->nr_gaps; i++)
		if (w->gaps[i].at >= l->nr || l->gaps[w->gaps[i].at].from_ns != w->gaps[i].from_ns)
			return false;
	return true;
}

/* A list that grows does so with time, mostly; of a gap that it has, the end alone changes. */
static int
take_gaps(struct wait_samples *w)
{
	const struct gap_list *l = record_stream_gaps(w->stream);
	uint64_t latest_ns = 0;

	if (array_reserve(w->gaps, 0, w->cap_gaps, l->nr) != 0)
		return -FMT_E_NOMEM;
	if (!gaps_stay(w, l))
		w->nr_gaps = 0;
	for (; w->nr_gaps < l->nr; w->nr_gaps++) {
		const uint64_t from_ns = l->gaps[w->nr_gaps].from_ns;
		const size_t at = gaps_before(w, from_ns);

		memmove(&w->gaps[at + 1], &w->gaps[at], (w->nr_gaps - at) * sizeof(*w->gaps));
		w->gaps[at] = (struct wait_gap){ .from_ns = from_ns, .at = w->nr_gaps };
	}
	w->gaps_known = true;
	for (size_t i = 0; i < l->nr; i++) {
		const struct gap *g = &l->gaps[w->gaps[i].at];

		if (g->until_ns == 0)
			latest_ns = UINT64_MAX;
		else if (g->until_ns > latest_ns)
			latest_ns = g->until_ns;
		w->gaps[i].until_ns = latest_ns;
	}
	return 0;
}

/* Was anything not recorded meanwhile, on purpose or for want of room? */
static bool
in_gap(const struct wait_samples *w, const struct wait *wait)
{
	const size_t before = gaps_before(w, wait->until_ns);

	return before > 0 && w->gaps[before - 1].until_ns > wait->from_ns;
}

/* A time that is too short, or no time of a wait that has two, is left out. *nr: parts so far. */
static void
add_part(const struct wait_samples *w, const struct wait *wait, enum off_cpu_why why, uint64_t ns,
	 struct wait_sample *ret, int *nr)
{
	if (ns < w->min_ns || (ns == 0 && wait->until_ns > wait->from_ns))
		return;
	ret->parts[(*nr)++] = (struct wait_part){ .event = (int)w->nr_events + (int)why,
						  .period_ns = ns * wait->switches };
}

static int
make_sample(struct wait_samples *w, const struct wait *wait, struct wait_sample *ret)
{
	const uint64_t blocked_ns = wait->woken_ns - wait->from_ns,
		       runnable_ns = wait->until_ns - wait->woken_ns;
	int nr = 0;
	bool io;
	/* Of so many gaps it is not known when all of them were. */
	const bool anywhere = record_stream_gaps(w->stream)->more > 0;
	int err;

	if (!anywhere && !w->gaps_known && take_gaps(w) != 0)
		return -FMT_E_NOMEM;
	if (anywhere || in_gap(w, wait)) {
		waits_cut(w->waits);
		return 0;
	}
	if (wait->until_ns - wait->from_ns < w->min_ns ||
	    event_set_parse(record_stream_events(w->stream), wait->sample, &w->record, NULL) != 0)
		return 0;
	*ret = (struct wait_sample){ .record = &w->record, .time_ns = wait->until_ns };
	callchain_of_record(&w->record, &ret->chain);
	err = cut_chain(w, scheduler_frames(w, ret->chain.words, &io), &ret->chain);
	if (err)
		return err;
	if (!wait->preempted)
		ret->waker = wait->waker;
	if (wait->preempted) {
		add_part(w, wait, OFF_CPU_PREEMPTED, wait->until_ns - wait->from_ns, ret, &nr);
		return nr;
	}
	add_part(w, wait, io ? OFF_CPU_IO : OFF_CPU_BLOCKED, blocked_ns, ret, &nr);
	if (runnable_ns > 0)
		add_part(w, wait, OFF_CPU_RUNNABLE, runnable_ns, ret, &nr);
	return nr;
}

/* Of the idle task nobody asks; a thread that is no more has no number. */
static bool
has_tid(const struct perf_record *r)
{
	return r->sid.tid != 0 && r->sid.tid != UINT32_MAX;
}

/* One that has told its end goes once more, and is not back. */
static bool
has_ended(const struct wait_samples *w, const struct perf_record *r)
{
	const struct task *task = task_model_task(w->model, r->sid.pid, r->sid.tid);

	return task && task->exited;
}

static int
see_sample(struct wait_samples *w, const struct perf_record *r)
{
	const uint64_t switches = r->sample.have & PERF_SAMPLE_PERIOD ? r->sample.period
								      : event_attr_period(r->attr);

	if (!has_tid(r) || has_ended(w, r))
		return 0;
	return waits_sample(w->waits, r->sid.tid, r->raw, switches);
}

static bool
number_of(const struct tracepoint *t, const char *name, struct span raw, uint64_t *ret)
{
	const struct tracepoint_field *field = tracepoint_find(t, name, strlen(name));
	struct tracepoint_value value;

	if (!field || !tracepoint_value(field, raw, &value) || value.kind != TRACEPOINT_NUMBER)
		return false;
	*ret = value.number;
	return true;
}

static void
see_wakeup(struct wait_samples *w, const struct perf_record *r, int event)
{
	const struct event_set *events = record_stream_events(w->stream);
	const struct tracepoint *t = tracepoints_of(&w->tracepoints, events, event);
	struct waker waker = { .pid = r->sid.pid, .tid = r->sid.tid };
	uint64_t pid, flags;

	if (!w->wakeups_known || !t || !number_of(t, "pid", r->sample.raw, &pid))
		return;
	waker.known = number_of(t, "common_flags", r->sample.raw, &flags);
	waker.interrupt = waker.known && flags & TRACE_FLAG_INTERRUPTS;
	waits_woken(w->waits, (uint32_t)pid, r->sid.time, &waker);
}

static bool
is_wakeups(const struct wait_samples *w, int event)
{
	return event >= 0 &&
		off_cpu_wakeups(event_set_at(record_stream_events(w->stream), (size_t)event));
}

static int
see_switch(struct wait_samples *w, const struct perf_record *r, struct wait_sample *ret)
{
	struct wait wait;

	if (!has_tid(r))
		return 0;
	if (r->misc & PERF_RECORD_MISC_SWITCH_OUT)
		waits_out(w->waits, r->sid.tid, r->sid.time,
			  r->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT);
	else if (waits_in(w->waits, r->sid.tid, r->sid.time, &wait))
		return make_sample(w, &wait, ret);
	return 0;
}

/* Side-band has rings of its own, with no SWITCH record in them. */
static bool
is_sideband(const struct wait_samples *w, int event)
{
	const struct event_attr *a;

	if (event < 0)
		return false;
	a = &event_set_at(record_stream_events(w->stream), (size_t)event)->attr;
	return a->type == PERF_TYPE_SOFTWARE && a->config == PERF_COUNT_SW_DUMMY;
}

int
wait_samples_see(struct wait_samples *w, const struct perf_record *r, int *event,
		 struct wait_sample *ret)
{
	const int of = *event;

	if (perf_record_is_switch(r->type))
		return of == w->off_cpu ? see_switch(w, r, ret) : 0;
	switch (r->type) {
	case REC_SAMPLE:
		if (of == w->off_cpu) {
			*event = WAIT_SAMPLES_TAKEN;
			return see_sample(w, r);
		}
		if (is_wakeups(w, of)) {
			*event = WAIT_SAMPLES_TAKEN;
			see_wakeup(w, r, of);
			return 0;
		}
		*event = wait_samples_number(w, of);
		return 0;
	case REC_LOST:
	case REC_LOST_SAMPLES:
		if (!is_sideband(w, of))
			waits_lost(w->waits);
		return 0;
	case REC_FORK:
		/* That of a snapshot is of a thread that there was all along. */
		if (!(r->misc & TASK_MISC_FORK_FRESH))
			waits_fork(w->waits, r->task.tid);
		return 0;
	default:
		return 0;
	}
}
