/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples whose stacks are unwound before they are written. */
#include <errno.h>

#include "recorder/host/host.h"
#include "recorder/unwind/unwinding.h"
#include "recorder/writer/writer_internal.h"

#define LAST_NS UINT64_C(1000000000) /* that the end of a file waits for stacks */

static void
reach(void *arg, uint64_t time_ns)
{
	unwinding_reach(arg, time_ns);
}

int
writer_unwind_open(struct writer *w)
{
	const struct unwinding_options o = { .live = w->options.live,
					     .events = w->meta->events,
					     .opened = w->options.opened,
					     .stacks_bytes = w->options.stacks_bytes,
					     .size = w->options.stack_size };
	int r;

	if (!o.opened)
		return 0;
	r = unwinding_new(&o, &w->unwinding);
	if (r == 0) {
		live_on_reach(o.live, reach, w->unwinding);
		/* The process begins while the first samples come. */
		unwinding_step(w->unwinding, host_now_ns());
	}
	w->options.opened = NULL;
	return r;
}

void
writer_unwind_close(struct writer *w)
{
	if (w->unwinding)
		live_on_reach(w->options.live, NULL, NULL);
	unwinding_free(w->unwinding);
	w->unwinding = NULL;
}

/* The records at the front of *records that are samples, or are not. */
static struct span
take_run(struct span *records, bool *ret_samples)
{
	const struct span all = *records;
	struct span rest = all, record;
	size_t bytes = 0;

	*ret_samples = all.len >= 4 && le32dec(all.p) == REC_SAMPLE;
	while (perf_record_next(&rest, &record) > 0 &&
	       (le32dec(record.p) == REC_SAMPLE) == *ret_samples)
		bytes += record.len;
	/* Bytes that are no record: their reader says so. */
	if (!bytes)
		bytes = all.len;
	*records = span_of(all.p + bytes, all.len - bytes);
	return span_of(all.p, bytes);
}

int
writer_unwind_take(struct writer *w, struct span records)
{
	int r = 0;

	while (records.len > 0 && r == 0) {
		uint64_t left_out = 0;
		bool samples;
		struct span run = take_run(&records, &samples);

		if (!samples)
			r = writer_records(w, run);
		else if (unwinding_put(w->unwinding, &run, &left_out) < 0)
			writer_count_lost(w, run);
		if (left_out)
			writer_count(w, UINT32_MAX, LOSS_DROPPED, left_out);
	}
	/* What is behind records that there was no memory for. */
	if (r == -FMT_E_NOMEM)
		writer_count_lost(w, records);
	return r == 0 ? writer_unwind_give(w) : r;
}

int
writer_unwind_give(struct writer *w)
{
	const uint64_t now_ns = host_now_ns();
	uint64_t complete_ns;
	int r = 0;

	while (r == 0 && unwinding_next(w->unwinding, now_ns, &w->unwound, &complete_ns)) {
		if (w->error)
			writer_count_lost(w, buf_span(&w->unwound));
		else if (w->unwound.len > 0)
			r = writer_records(w, buf_span(&w->unwound));
		if (complete_ns && !w->error)
			recording_writer_pass(w->file.writer, complete_ns);
		if (r == 0 && buf_failed(&w->unwound))
			r = w->error ? -FMT_E_NOMEM
				     : fmt_fail(&w->where, FMT_E_NOMEM, 0, "unwound samples");
		buf_clear(&w->unwound);
	}
	return r;
}

int
writer_unwind_pass(struct writer *w, uint64_t now_ns)
{
	unwinding_end_pass(w->unwinding, live_model_ns(w->options.live), now_ns);
	return writer_unwind_give(w);
}

/* What the drain has no room for in the queue is lost. */
static bool
is_crowded(void *arg)
{
	return queue_crowded(((struct writer *)arg)->queue);
}

int
writer_unwind_all(struct writer *w)
{
	const uint64_t now_ns = host_now_ns();

	unwinding_begin_pass(w->unwinding, 0);
	unwinding_end_pass(w->unwinding, UINT64_MAX, now_ns);
	unwinding_drain(w->unwinding, w->error ? 0 : now_ns + LAST_NS, is_crowded, w);
	return writer_unwind_give(w);
}
