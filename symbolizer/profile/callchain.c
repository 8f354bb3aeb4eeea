/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/profile/callchain.h"

#include <linux/perf_event.h>

#include "format/columns/columns_view.h"

#define BRANCH_WORDS 3 /* of an entry of a branch stack */

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

/*
 * The user's part is the last: its words come out of the memory of the process, which may have
 * any.
 */
static bool
is_last(uint64_t marker)
{
	return marker == PERF_CONTEXT_USER || marker == PERF_CONTEXT_GUEST_USER;
}

enum callchain_mode
callchain_mode_of(uint64_t ip)
{
	if (ip >= CALLCHAIN_VSYSCALL && ip < CALLCHAIN_VSYSCALL_END)
		return CALLCHAIN_USER;
	return ip >> 63 ? CALLCHAIN_KERNEL : CALLCHAIN_USER;
}

void
callchain_of_record(const struct perf_record *r, struct callchain_words *ret)
{
	*ret = (struct callchain_words){ .misc = r->misc,
					 .has_ip = r->sample.have & PERF_SAMPLE_IP,
					 .ip = r->sample.ip,
					 .ip_frame = CALLCHAIN_NO_FRAME,
					 .nr = span_words(r->sample.callchain),
					 .words = r->sample.callchain };
	if (r->attr && (r->attr->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK) &&
	    (r->sample.have & PERF_SAMPLE_BRANCH_STACK)) {
		ret->calls = r->sample.branch.entries;
		ret->nr_calls = r->sample.branch.nr;
	}
}

void
callchain_of_columns(const struct columns_view *view, uint32_t source, uint32_t stack,
		     struct callchain_words *ret)
{
	struct columns_view_stack s;
	const uint64_t *frames;

	columns_view_stack(view, source, stack, &s);
	columns_view_frames(view, &frames);
	*ret = (struct callchain_words){ .misc = s.misc,
					 .has_ip = s.has_ip,
					 .ip = s.has_ip ? frames[s.ip] : 0,
					 .ip_frame = s.ip,
					 .nr = s.chain_words,
					 .index = s.chain,
					 .frames = frames };
}

bool
callchain_cookie(struct span words, size_t *ret_at)
{
	const size_t nr = span_words(words);

	/* Behind the marker of a user's part all words are his own. */
	for (size_t i = 0; i + 1 < nr && !is_last(span_word(words, i)); i++)
		if (span_word(words, i) == CONTEXT_USER_DEFERRED) {
			*ret_at = i;
			return true;
		}
	return false;
}

static uint64_t
word_at(const struct callchain_words *w, size_t i)
{
	return w->index ? w->frames[w->index[i]] : span_word(w->words, i);
}

static uint32_t
frame_at(const struct callchain_words *w, size_t i)
{
	return w->index ? w->index[i] : CALLCHAIN_NO_FRAME;
}

bool
callchain_has_user(const struct callchain_words *w)
{
	for (size_t i = 0; i + 1 < w->nr; i++)
		if (word_at(w, i) == PERF_CONTEXT_USER)
			return true;
	return false;
}

/* From ip, or else from the chain, which begins with it. */
void
callchain_begin(struct callchain *c, const struct callchain_words *w, struct callchain_address *ret)
{
	enum callchain_mode mode = (enum callchain_mode)(w->misc & PERF_RECORD_MISC_CPUMODE_MASK);
	uint64_t ip = w->has_ip ? w->ip : 0;
	uint32_t frame = w->ip_frame;
	bool last = false;

	for (size_t i = 0; !w->has_ip && i < w->nr && !ip; i++) {
		uint64_t word = word_at(w, i);

		if (!perf_context_marker(word)) {
			ip = word;
			frame = frame_at(w, i);
		} else if (!last) {
			marker_mode(word, &mode);
		}
		last |= is_last(word);
	}
	if (mode == CALLCHAIN_UNKNOWN && ip)
		mode = callchain_mode_of(ip);
	*ret = (struct callchain_address){ .mode = mode,
					   .ip = ip,
					   .frame = ip ? frame : CALLCHAIN_NO_FRAME };
	*c = (struct callchain){ .words = w,
				 .leaf_mode = mode,
				 .mode = mode,
				 .first = true,
				 .calls = mode == CALLCHAIN_USER && w->nr_calls > 0 };
}

/* Where the user was is the leaf, unless the kernel was sampled. */
static bool
next_user(struct callchain *c, struct callchain_address *ret)
{
	const struct callchain_words *w = c->words;
	const struct unwind_frame *f;

	if (c->next_user == 0 && c->leaf_mode == CALLCHAIN_USER)
		c->next_user = 1;
	if (c->next_user >= w->nr_user)
		return false;
	f = &w->user[c->next_user++];
	*ret = (struct callchain_address){ CALLCHAIN_USER, f->is_return, f->ip,
					   CALLCHAIN_NO_FRAME };
	return true;
}

/*
 * The function that made the innermost call of all is where it went; of the others, and of that one's
 * caller, the calls themselves are known, not where they return to. Of a user's sample that place is the
 * leaf.
 */
static bool
next_call(struct callchain *c, struct callchain_address *ret)
{
	const struct callchain_words *w = c->words;
	size_t i;

	if (c->next_user == 0 && c->leaf_mode == CALLCHAIN_USER)
		c->next_user = 1;
	if (!c->calls || c->next_user > w->nr_calls)
		return false;
	i = c->next_user++;
	*ret = (struct callchain_address){ CALLCHAIN_USER, false,
					   span_word(w->calls, i ? (i - 1) * BRANCH_WORDS : 1),
					   CALLCHAIN_NO_FRAME };
	return true;
}

/*
 * The first word of the context that was sampled repeats the leaf, which was given already. The
 * first word of any other context is where that context was left (the instruction after a
 * syscall, or the interrupted one): no return address either.
 */
bool
callchain_next(struct callchain *c, struct callchain_address *ret)
{
	while (c->next < c->words->nr && !c->calls) {
		const size_t i = c->next++;
		uint64_t word = word_at(c->words, i);
		bool first = c->first;

		if (perf_context_marker(word)) {
			if (c->last)
				continue;
			c->next += word == CONTEXT_USER_DEFERRED;
			c->first = marker_mode(word, &c->mode) || c->first;
			c->last = is_last(word);
			c->calls |= word == PERF_CONTEXT_USER && c->words->nr_calls > 0;
			if (c->calls)
				break;
			continue;
		}
		c->first = false;
		if (first && !c->leaf_seen && c->mode == c->leaf_mode) {
			c->leaf_seen = true;
			continue;
		}
		*ret = (struct callchain_address){ c->mode, !first, word, frame_at(c->words, i) };
		return true;
	}
	return c->words->nr_calls ? next_call(c, ret) : next_user(c, ret);
}
