/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/profile/detail_finder.h"

#include "symbolizer/profile/callchain.h"

int
detail_finder_place(struct detail_finder *f, const struct replay_sample *s,
		    enum sample_detail_kind kind, uint64_t ip, uint32_t *ret)
{
	const struct callchain_address code = { callchain_mode_of(ip), false, ip,
						CALLCHAIN_NO_FRAME };

	if (kind == SAMPLE_DETAIL_DATA)
		return place_finder_data(f->places, s->pid, ip, ret);
	return place_finder_find(f->places, s->pid, &code, s->time_ns, ret);
}

int
detail_finder_find(struct detail_finder *f, const struct replay_sample *s,
		   const struct perf_branch *branch, uint32_t *ret)
{
	uint32_t words[SAMPLE_DETAIL_WORDS], place;
	size_t nr = 0;
	int err = 0;

	*ret = 0;
	if (!f->asked || !s->copied)
		return 0;
	for (enum sample_detail d = 0; d < SAMPLE_DETAILS_MAX && err == 0; d++) {
		const enum sample_detail_kind kind = sample_detail_kind(d);
		uint64_t value;

		if (!sample_details_have(f->asked, d))
			continue;
		value = sample_detail_of(d, s->copied, branch);
		if (kind != SAMPLE_DETAIL_VALUE) {
			err = detail_finder_place(f, s, kind, value, &place);
			value = err ? 0 : place;
		}
		sample_detail_put(words, nr, value);
		nr += 2;
	}
	return err ? err : word_lists_number(&f->raw->details, words, nr, ret);
}

uint64_t
detail_finder_weight(const struct replay_sample *s)
{
	const uint64_t weight = s->copied ? sample_weight(s->copied) : 0;

	return weight ? weight : 1;
}
