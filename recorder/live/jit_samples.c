/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/live/jit_samples.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes/array.h"
#include "format/record/perf_record.h"

enum { TIME, PID_AND_COUNT, FIRST };

void
jit_samples_done(struct jit_samples *s)
{
	free(s->v);
	*s = (struct jit_samples){ 0 };
}

/* Where the user was is the first of its words; the others are return addresses. */
static size_t
put_chain(uint64_t *to, size_t room, struct span callchain)
{
	bool user = false, leaf = true;
	size_t nr = 0;

	for (size_t i = 0; i < span_words(callchain) && nr < room; i++) {
		uint64_t word = span_word(callchain, i);

		if (perf_context_marker(word)) {
			user = word == (uint64_t)PERF_CONTEXT_USER;
			leaf = true;
		} else if (user) {
			to[nr++] = leaf ? word : word - 1;
			leaf = false;
		}
	}
	return nr;
}

bool
jit_samples_add(struct jit_samples *s, const struct sample_glance *sample)
{
	const size_t words = FIRST + 1 + span_words(sample->callchain);
	const size_t most = words < JIT_SAMPLES_WORDS ? words : JIT_SAMPLES_WORDS;
	uint64_t *at;
	size_t nr = 0;

	if (most > JIT_SAMPLES_WORDS - s->nr || array_reserve(s->v, s->nr, s->cap, most) != 0)
		return false;
	at = s->v + s->nr;
	if ((sample->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_USER && sample->ip)
		at[FIRST + nr++] = sample->ip;
	nr += put_chain(at + FIRST + nr, most - FIRST - nr, sample->callchain);
	if (!nr)
		return true;
	at[TIME] = sample->time;
	at[PID_AND_COUNT] = (uint64_t)sample->pid << 32 | nr;
	s->nr += FIRST + nr;
	return true;
}

void
jit_samples_run(struct jit_samples *s, uint64_t until_ns, jit_samples_fn *fn, void *arg)
{
	size_t kept = 0, words;

	for (size_t i = 0; i < s->nr; i += words) {
		const uint64_t *at = s->v + i;
		const size_t nr = (uint32_t)at[PID_AND_COUNT];

		words = FIRST + nr;
		if (at[TIME] >= until_ns) {
			memmove(s->v + kept, at, words * sizeof(*at));
			kept += words;
			continue;
		}
		fn(arg, (uint32_t)(at[PID_AND_COUNT] >> 32), at[TIME], at + FIRST, nr);
	}
	s->nr = kept;
}
