/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/callchain.h"

#include <linux/perf_event.h>

/* Linux 6.19: the user part comes later; its cookie is the next word. */
#define CONTEXT_USER_DEFERRED ((uint64_t)-640)

/* The mode that a marker switches to; false: nobody knows it, and it is passed over. */
static bool
marker_mode(uint64_t word, enum callchain_mode *ret)
{
	switch (word) {
	case PERF_CONTEXT_KERNEL:
		*ret = CALLCHAIN_KERNEL;
		return true;
	case PERF_CONTEXT_USER:
		*ret = CALLCHAIN_USER;
		return true;
	case PERF_CONTEXT_HV:
		*ret = CALLCHAIN_HYPERVISOR;
		return true;
	case PERF_CONTEXT_GUEST:
	case PERF_CONTEXT_GUEST_KERNEL:
		*ret = CALLCHAIN_GUEST_KERNEL;
		return true;
	case PERF_CONTEXT_GUEST_USER:
		*ret = CALLCHAIN_GUEST_USER;
		return true;
	}
	return false;
}

/* From ip, or else from the chain, which begins with it. */
void
callchain_begin(struct callchain *c, const struct perf_record *r, struct callchain_address *ret)
{
	const struct span words = r->sample.callchain;
	enum callchain_mode mode = (enum callchain_mode)perf_record_cpumode(r);
	uint64_t ip = r->sample.have & PERF_SAMPLE_IP ? r->sample.ip : 0;

	for (size_t i = 0; !(r->sample.have & PERF_SAMPLE_IP) && i < span_words(words) && !ip;
	     i++) {
		if (perf_context_marker(span_word(words, i)))
			marker_mode(span_word(words, i), &mode);
		else
			ip = span_word(words, i);
	}
	if (mode == CALLCHAIN_UNKNOWN && ip)
		mode = ip >> 63 ? CALLCHAIN_KERNEL : CALLCHAIN_USER;
	*ret = (struct callchain_address){ .mode = mode, .ip = ip };
	*c = (struct callchain){ .words = words, .leaf_mode = mode, .mode = mode, .first = true };
}

/*
 * The first word of the context that was sampled repeats the leaf, which was given already. The
 * first word of any other context is where that context was left (the instruction after a
 * syscall, or the interrupted one): no return address either.
 */
bool
callchain_next(struct callchain *c, struct callchain_address *ret)
{
	while (c->next < span_words(c->words)) {
		uint64_t word = span_word(c->words, c->next++);
		bool first = c->first;

		if (perf_context_marker(word)) {
			c->next += word == CONTEXT_USER_DEFERRED;
			c->first = marker_mode(word, &c->mode) || c->first;
			continue;
		}
		c->first = false;
		if (first && !c->leaf_seen && c->mode == c->leaf_mode) {
			c->leaf_seen = true;
			continue;
		}
		*ret = (struct callchain_address){ c->mode, !first, word };
		return true;
	}
	return false;
}
