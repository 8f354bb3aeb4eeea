/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/profile/kept_values.h"

/* have; of a sample that has any, each number, and the branches and registers by their length; raw to the end. */

static void
put_span(struct span s, struct buf *out)
{
	buf_u64(out, s.len);
	buf_append(out, s.p, s.len);
}

static bool
get_span(struct span *s, struct span *ret)
{
	uint64_t len;

	return span_u64(s, &len) && span_take(s, len, ret);
}

static void
put_regs(const struct perf_regs *r, struct buf *out)
{
	buf_u64(out, r->mask);
	put_span(r->words, out);
}

static bool
get_regs(struct span *s, struct perf_regs *ret)
{
	return span_u64(s, &ret->mask) && get_span(s, &ret->words);
}

void
kept_values_put(const struct perf_sample *s, struct buf *out)
{
	const uint64_t have = s->have & KEPT_VALUES;

	buf_u64(out, have);
	if (have) {
		buf_u64(out, s->addr);
		buf_u64(out, s->weight);
		buf_u64(out, s->data_src);
		buf_u64(out, s->transaction);
		buf_u64(out, s->phys_addr);
		buf_u64(out, s->data_page_size);
		buf_u64(out, s->code_page_size);
		buf_u64(out, s->branch.nr);
		put_span(s->branch.entries, out);
		put_regs(&s->regs_user, out);
		put_regs(&s->regs_intr, out);
	}
	if (s->have & PERF_SAMPLE_RAW)
		buf_append(out, s->raw.p, s->raw.len);
}

bool
kept_values_get(struct span bytes, struct perf_sample *ret)
{
	struct perf_sample s = { .have = 0 };

	if (!span_u64(&bytes, &s.have))
		return false;
	if (s.have &&
	    !(span_u64(&bytes, &s.addr) && span_u64(&bytes, &s.weight) &&
	      span_u64(&bytes, &s.data_src) && span_u64(&bytes, &s.transaction) &&
	      span_u64(&bytes, &s.phys_addr) && span_u64(&bytes, &s.data_page_size) &&
	      span_u64(&bytes, &s.code_page_size) && span_u64(&bytes, &s.branch.nr) &&
	      get_span(&bytes, &s.branch.entries) && get_regs(&bytes, &s.regs_user) &&
	      get_regs(&bytes, &s.regs_intr)))
		return false;
	s.raw = bytes;
	*ret = s;
	return true;
}
