/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/event/event_extra.h"

#include "recorder/event/event_open.h"
#include "recorder/ground/session_error.h"

/* What a kernel may not have; what stands in for it, tried next. */
static const struct extra_type {
	uint64_t bit, instead;
	const char *what;
} extra_types[] = {
	{ PERF_SAMPLE_WEIGHT_STRUCT, PERF_SAMPLE_WEIGHT, NULL },
	{ PERF_SAMPLE_ADDR, 0, "the addresses of data" },
	{ PERF_SAMPLE_WEIGHT, 0, "weights" },
	{ PERF_SAMPLE_DATA_SRC, 0, "where data came from" },
	{ PERF_SAMPLE_TRANSACTION, 0, "transactions" },
	{ PERF_SAMPLE_PHYS_ADDR, 0, "physical addresses" },
	{ PERF_SAMPLE_DATA_PAGE_SIZE, 0, "the size of pages of data" },
	{ PERF_SAMPLE_CODE_PAGE_SIZE, 0, "the size of pages of code" },
};

/* Linux 6.19: the user's part is taken when the task returns there, and comes in a record of its own. */
static bool
gives_deferred(const struct perf_event_attr *scratch, struct buf *notes)
{
	struct perf_event_attr attr = *scratch;

	attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
	attr.exclude_callchain_kernel = 1; /* which takes a right: see event_settle */
	attr.defer_callchain = attr.defer_output = 1;
	if (event_open_try(&attr, 0, -1) >= 0)
		return true;
	session_note(notes, "call chains are not deferred: this kernel does not do that");
	return false;
}

struct event_extra_found
event_extra_probe(const struct session_extra *extra, const struct perf_event_attr *scratch,
		  struct buf *notes)
{
	uint64_t types = extra->sample_type;
	bool deferred = extra->deferred && gives_deferred(scratch, notes);

	for (size_t i = 0; i < sizeof(extra_types) / sizeof(extra_types[0]); i++) {
		const struct extra_type *t = &extra_types[i];
		struct perf_event_attr attr = *scratch;

		attr.sample_type |= t->bit;
		if (!(types & t->bit) || event_open_try(&attr, 0, -1) >= 0)
			continue;
		types = (types & ~t->bit) | t->instead;
		if (t->what)
			session_note(
				notes,
				"samples do not tell %s: this kernel, or this user, gives none",
				t->what);
	}
	return (struct event_extra_found){ types, deferred };
}

void
event_extra_apply(const struct session_extra *extra, struct event_extra_found found,
		  struct perf_event_attr *attr)
{
	attr->sample_type |= found.types;
	if (extra->branches) {
		attr->sample_type |= PERF_SAMPLE_BRANCH_STACK;
		attr->branch_sample_type = extra->branches;
	}
	/* Each switch is taken in the kernel: without that side of it there is none. */
	if (extra->all_user && attr->context_switch)
		attr->exclude_callchain_kernel = 1;
	else if (extra->all_user)
		attr->exclude_kernel = 1;
	if (extra->all_kernel)
		attr->exclude_user = 1;
	if (extra->user_callchains)
		attr->exclude_callchain_kernel = 1;
	if (extra->kernel_callchains)
		attr->exclude_callchain_user = 1;
	attr->defer_callchain = found.deferred && attr->sample_type & PERF_SAMPLE_CALLCHAIN &&
		!attr->exclude_callchain_user;
	/* The kernel maps no ring of an event that is inherited and of no CPU. */
	if (extra->no_inherit || extra->per_thread)
		attr->inherit = 0;
	if (extra->user_regs) {
		attr->sample_type |= PERF_SAMPLE_REGS_USER;
		attr->sample_regs_user |= extra->user_regs;
	}
	if (extra->intr_regs) {
		attr->sample_type |= PERF_SAMPLE_REGS_INTR;
		attr->sample_regs_intr = extra->intr_regs;
	}
	if (extra->no_buffering) {
		attr->watermark = 0;
		attr->wakeup_events = 1;
	}
	/* The event's own term comes first. */
	if (!attr->sample_max_stack)
		attr->sample_max_stack = extra->max_stack;
	attr->inherit_stat = attr->inherit && extra->stat;
}

void
event_extra_sideband(const struct session_extra *extra, struct event_extra_found found,
		     struct perf_event_attr *attr)
{
	attr->context_switch = extra->switch_events;
	attr->defer_output = found.deferred;
}
