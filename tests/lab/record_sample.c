/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/lab/record_sample.h"

#include <linux/perf_event.h>

#include "format/bytes/fmt_error.h"

static void
put_bytes(struct buf *out, struct span s)
{
	buf_append(out, s.p, s.len);
}

static void
put_read(struct buf *out, const struct perf_read *read)
{
	if (read->format & PERF_FORMAT_GROUP) {
		buf_u64(out, read->nr);
		if (read->format & PERF_FORMAT_TOTAL_TIME_ENABLED)
			buf_u64(out, read->time_enabled);
		if (read->format & PERF_FORMAT_TOTAL_TIME_RUNNING)
			buf_u64(out, read->time_running);
	}
	put_bytes(out, read->values);
}

/* The kernel counts the padding into the size, so that what follows is aligned. */
static void
put_raw(struct buf *out, struct span raw)
{
	const size_t pad = (8 - (sizeof(uint32_t) + raw.len) % 8) % 8;

	buf_u32(out, (uint32_t)(raw.len + pad));
	put_bytes(out, raw);
	buf_zero(out, pad);
}

static void
put_branch_stack(struct buf *out, const struct perf_sample *sample)
{
	buf_u64(out, sample->branch.nr);
	if (sample->branch.has_hw_idx)
		buf_u64(out, sample->branch.hw_idx);
	put_bytes(out, sample->branch.entries);
	put_bytes(out, sample->branch.counters);
}

static void
put_regs(struct buf *out, const struct perf_regs *regs)
{
	buf_u64(out, regs->abi);
	if (regs->abi != PERF_SAMPLE_REGS_ABI_NONE)
		put_bytes(out, regs->words);
}

static void
put_stack_user(struct buf *out, const struct perf_sample *sample)
{
	buf_u64(out, sample->stack_user.len);
	if (sample->stack_user.len == 0)
		return;
	put_bytes(out, sample->stack_user);
	buf_u64(out, sample->stack_user_dyn_size);
}

static void
put_identity(struct buf *out, const struct perf_sample_id *sid, const struct perf_sample *sample)
{
	const uint64_t have = sample->have;

	if (have & PERF_SAMPLE_IDENTIFIER)
		buf_u64(out, sid->id);
	if (have & PERF_SAMPLE_IP)
		buf_u64(out, sample->ip);
	if (have & PERF_SAMPLE_TID) {
		buf_u32(out, sid->pid);
		buf_u32(out, sid->tid);
	}
	if (have & PERF_SAMPLE_TIME)
		buf_u64(out, sid->time);
	if (have & PERF_SAMPLE_ADDR)
		buf_u64(out, sample->addr);
	if (have & PERF_SAMPLE_ID)
		buf_u64(out, sid->id);
	if (have & PERF_SAMPLE_STREAM_ID)
		buf_u64(out, sid->stream_id);
	if (have & PERF_SAMPLE_CPU) {
		buf_u32(out, sid->cpu);
		buf_u32(out, 0);
	}
	if (have & PERF_SAMPLE_PERIOD)
		buf_u64(out, sample->period);
}

static void
put_stacks(struct buf *out, const struct perf_sample *sample)
{
	const uint64_t have = sample->have;

	if (have & PERF_SAMPLE_READ)
		put_read(out, &sample->read);
	if (have & PERF_SAMPLE_CALLCHAIN) {
		buf_u64(out, span_words(sample->callchain));
		put_bytes(out, sample->callchain);
	}
	if (have & PERF_SAMPLE_RAW)
		put_raw(out, sample->raw);
	if (have & PERF_SAMPLE_BRANCH_STACK)
		put_branch_stack(out, sample);
	if (have & PERF_SAMPLE_REGS_USER)
		put_regs(out, &sample->regs_user);
	if (have & PERF_SAMPLE_STACK_USER)
		put_stack_user(out, sample);
}

static void
put_rest(struct buf *out, const struct perf_sample *sample)
{
	const uint64_t have = sample->have;

	if (have & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
		buf_u64(out, sample->weight);
	if (have & PERF_SAMPLE_DATA_SRC)
		buf_u64(out, sample->data_src);
	if (have & PERF_SAMPLE_TRANSACTION)
		buf_u64(out, sample->transaction);
	if (have & PERF_SAMPLE_REGS_INTR)
		put_regs(out, &sample->regs_intr);
	if (have & PERF_SAMPLE_PHYS_ADDR)
		buf_u64(out, sample->phys_addr);
	if (have & PERF_SAMPLE_CGROUP)
		buf_u64(out, sample->cgroup);
	if (have & PERF_SAMPLE_DATA_PAGE_SIZE)
		buf_u64(out, sample->data_page_size);
	if (have & PERF_SAMPLE_CODE_PAGE_SIZE)
		buf_u64(out, sample->code_page_size);
	if (have & PERF_SAMPLE_AUX) {
		buf_u64(out, sample->aux.len);
		put_bytes(out, sample->aux);
	}
}

/* Header and body are whole words: a record_build of another type has padding and a trailer. */
static int
end(struct buf *out, size_t start)
{
	if (buf_failed(out)) {
		out->len = start;
		return -FMT_E_NOMEM;
	}
	if (out->len - start > (PERF_RECORD_MAX_BYTES & ~7)) {
		out->len = start;
		return -FMT_E_TOO_BIG;
	}
	le16enc(out->p + start + 6, (uint16_t)(out->len - start));
	return 0;
}

static size_t
begin(struct buf *out, uint32_t type, uint16_t misc)
{
	const size_t start = out->len;

	buf_u32(out, type);
	buf_u16(out, misc);
	buf_u16(out, 0); /* end() knows */
	return start;
}

int
record_sample_build(struct buf *out, const struct perf_sample_id *sid,
		    const struct perf_sample *sample, uint16_t misc)
{
	const size_t start = begin(out, REC_SAMPLE, misc);

	put_identity(out, sid, sample);
	put_stacks(out, sample);
	put_rest(out, sample);
	buf_zero(out, (8 - (out->len - start) % 8) % 8);
	return end(out, start);
}
