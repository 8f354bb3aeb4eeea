/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/event/sample_bound.h"

#include "format/bytes/time_text.h"
#include "recorder/ground/session_error.h"

/* What may be saved up, and so be taken at once; off and on again are no more frequent than this. */
#define SAVED_NS UINT64_C(500000000)
/* Frequencies are bounded to four fifths, so that they do not overdraw the account by chance. */
#define ADMITTED(rate) ((rate) / 5 * 4)

/* The kernel makes a longer period of a shorter one (perf_swevent_start_hrtimer()). */
#define CLOCK_PERIOD_NS 10000u

/* --- prices ------------------------------------------------------------------------------ */

/* Where the kernel comes by anyway. */
static bool
is_trace(const struct perf_event_attr *attr)
{
	return (attr->type == PERF_TYPE_SOFTWARE && !event_attr_is_clock(attr)) ||
		attr->type == PERF_TYPE_TRACEPOINT;
}

bool
sample_bound_traces(const struct event_plan *plan)
{
	for (size_t i = 0; i < plan->nr; i++)
		if (event_def_samples(&plan->defs[i]) && is_trace(&plan->defs[i].attr))
			return true;
	return false;
}

static uint64_t
interrupt_ns(const struct event_plan *plan)
{
	const uint64_t measured = plan->interrupt_ns / 4 * 5;

	return measured > SAMPLE_INTERRUPT_NS ? measured : SAMPLE_INTERRUPT_NS;
}

/* Of a sample of one event, without a copy that is to be unwound. */
static uint64_t
sample_ns(const struct event_plan *plan, const struct event_def *def)
{
	const uint64_t measured = plan->trace_ns * SAMPLE_TRACE_FAULTS;
	const uint64_t trace = measured > SAMPLE_TRACE_NS ? measured : SAMPLE_TRACE_NS;

	return (is_trace(&def->attr) ? trace : interrupt_ns(plan)) +
		(uint64_t)def->attr.sample_stack_user * SAMPLE_STACK_BYTE_NS;
}

uint64_t
sample_bound_price_ns(const struct event_plan *plan)
{
	uint64_t dearest = 0;

	for (size_t i = 0; i < plan->nr; i++)
		if (event_def_samples(&plan->defs[i]) && sample_ns(plan, &plan->defs[i]) > dearest)
			dearest = sample_ns(plan, &plan->defs[i]);
	return dearest;
}

/* Of a copy that is to be unwound: the smallest one where its size is not given. */
static uint64_t
copy_ns(const struct event_plan *plan)
{
	uint64_t dearest = 0;

	for (size_t i = 0; i < plan->nr; i++) {
		const struct event_def *def = &plan->defs[i];
		const uint64_t bytes = event_def_sizes_stack(def) ? SESSION_STACK_BYTES_LEAST
								  : def->unwind_bytes;

		dearest = bytes > dearest ? bytes : dearest;
	}
	return dearest * SAMPLE_UNWIND_BYTE_NS;
}

uint64_t
sample_bound_hit_ns(const struct event_def *def)
{
	if (!event_def_samples(def))
		return 0;
	if (def->attr.type == PERF_TYPE_BREAKPOINT || def->probe)
		return SAMPLE_HIT_TRAP_NS;
	return is_trace(&def->attr) ? SAMPLE_HIT_NS : 0;
}

/* --- the plan ---------------------------------------------------------------------------- */

/* How often in a second it counts, at most; 0: that cannot be known. */
static uint64_t
counts_a_second(const struct perf_event_attr *attr)
{
	if (event_attr_is_clock(attr))
		return SECOND_NS;
	if (attr->type != PERF_TYPE_HARDWARE)
		return 0;
	/* By the fastest clock that there is, and of eight instructions in each of its cycles. */
	switch (attr->config & UINT32_MAX) {
	case PERF_COUNT_HW_CPU_CYCLES:
	case PERF_COUNT_HW_BUS_CYCLES:
	case PERF_COUNT_HW_REF_CPU_CYCLES:
		return 6 * SECOND_NS;
	case PERF_COUNT_HW_INSTRUCTIONS:
		return 48 * SECOND_NS;
	default:
		return 0;
	}
}

static uint64_t
samples_a_second(const struct perf_event_attr *attr)
{
	uint64_t period = attr->sample_period;

	if (!period) /* a member of a group: its leader samples */
		return 0;
	if (event_attr_is_clock(attr) && period < CLOCK_PERIOD_NS)
		period = CLOCK_PERIOD_NS;
	return counts_a_second(attr) / period;
}

static int
refuse_period(const struct event_def *def, uint64_t allowed, struct session_error *error)
{
	uint64_t least = counts_a_second(&def->attr) / (allowed ? allowed : 1) + 1;

	return session_usage(
		error,
		"%s with a period of %llu can be %llu samples a second on a CPU, and "
		"capture_cpu leaves %llu: give a period of %llu or more, or a frequency",
		def->name, (unsigned long long)def->attr.sample_period,
		(unsigned long long)samples_a_second(&def->attr), (unsigned long long)allowed,
		(unsigned long long)least);
}

void
sample_bound_lower(struct event_plan *plan, uint64_t hz, const char *reason, struct buf *notes)
{
	uint64_t was = 0;

	for (size_t i = 0; i < plan->nr; i++) {
		struct perf_event_attr *attr = &plan->defs[i].attr;

		if (plan->defs[i].sideband || !attr->freq || attr->sample_freq <= hz)
			continue;
		was = attr->sample_freq > was ? attr->sample_freq : was;
		attr->sample_freq = hz;
	}
	if (was)
		session_note(notes, "frequency lowered from %llu to %llu Hz: %s",
			     (unsigned long long)(was > plan->frequency_hz ? was
									   : plan->frequency_hz),
			     (unsigned long long)hz, reason);
	if (plan->frequency_hz_effective > hz)
		plan->frequency_hz_effective = hz;
}

int
sample_bound_plan(struct event_plan *plan, uint32_t share, struct buf *notes,
		  struct session_error *error)
{
	uint64_t a_second = (uint64_t)share * (SECOND_NS / SAMPLE_SHARE_ALL), left, with = 0;

	if (plan->nr > SAMPLE_EVENTS_MAX + 1)
		return session_usage(error, "%zu events; a capture has %d at most", plan->nr - 1,
				     SAMPLE_EVENTS_MAX);
	left = ADMITTED(a_second / (sample_bound_price_ns(plan) + copy_ns(plan)));
	for (size_t i = 0; i < plan->nr; i++) {
		const struct event_def *def = &plan->defs[i];

		if (def->sideband)
			continue;
		if (def->attr.freq) {
			with++;
			continue;
		}
		if (samples_a_second(&def->attr) > left)
			return refuse_period(def, left, error);
		left -= samples_a_second(&def->attr);
	}
	if (with && left < with)
		return session_usage(
			error,
			"%llu events with a frequency: capture_cpu leaves %llu samples "
			"a second on a CPU",
			(unsigned long long)with, (unsigned long long)left);
	if (with) {
		sample_bound_lower(plan, left / with, "capture_cpu", notes);
		plan->frequency_hz_max = left / with;
	}
	return 0;
}

uint64_t
sample_bound_copied(const struct event_plan *plan, uint32_t share)
{
	const uint64_t a_second = (uint64_t)share * (SECOND_NS / SAMPLE_SHARE_ALL);
	uint64_t ns = 0;

	for (size_t i = 0; i < plan->nr; i++) {
		const struct event_def *def = &plan->defs[i];

		if (event_def_samples(def))
			ns += (def->attr.freq ? def->attr.sample_freq
					      : samples_a_second(&def->attr)) *
				sample_ns(plan, def);
	}
	return a_second > ns ? (a_second - ns) / SAMPLE_UNWIND_BYTE_NS : 0;
}

/* --- the account ------------------------------------------------------------------------- */

uint64_t
sample_account_owed_ns(const struct sample_account *a, uint32_t share)
{
	return share ? (uint64_t)a->spent_ns / share * SAMPLE_SHARE_ALL : 0;
}

bool
sample_account_pay(struct sample_account *a, uint32_t share, uint64_t now_ns, uint64_t cost_ns)
{
	int64_t most = (int64_t)(SAVED_NS / SAMPLE_SHARE_ALL * share), got;
	uint64_t passed_ns = a->at_ns ? now_ns - a->at_ns : 0;

	if (!a->at_ns)
		a->left_ns = most;
	a->at_ns = now_ns;
	got = (int64_t)(passed_ns / 1000 * share / (SAMPLE_SHARE_ALL / 1000));
	a->left_ns += got - (int64_t)cost_ns;
	if (a->left_ns > most)
		a->left_ns = most;
	a->spent_ns += (int64_t)cost_ns - got;
	if (a->spent_ns < 0)
		a->spent_ns = 0;
	/* Off until half of it is there again: each turn costs something itself. */
	return a->left_ns >= (a->off_since_ns ? most / 2 : 0);
}

void
sample_account_turn(struct sample_account *a, bool on, uint64_t now_ns)
{
	if (on) {
		a->off_ns += now_ns - a->off_since_ns;
		a->off_since_ns = 0;
	} else {
		a->off_since_ns = now_ns;
	}
}

uint64_t
sample_account_off_ns(const struct sample_account *a, uint64_t now_ns)
{
	return a->off_ns + (a->off_since_ns ? now_ns - a->off_since_ns : 0);
}
