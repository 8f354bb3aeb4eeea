/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/export/sample_values.h"

#include <inttypes.h>
#include <stdio.h>

#include "format/record/perf_sample.h"
#include "symbolizer/dump/register_name.h"
#include "symbolizer/profile/kept_values.h"
#include "symbolizer/profile/sample_detail.h"

struct writing {
	struct buf *out;
	const char *arch;
	bool json;
	bool some;
};

/* Before a value: what is between it and the one before, and its name. */
static void
put_name(struct writing *w, const char *name)
{
	if (w->some)
		buf_text(w->out, w->json ? "," : " ");
	w->some = true;
	buf_text(w->out, w->json ? "\"" : "");
	buf_text(w->out, name);
	buf_text(w->out, w->json ? "\":" : "=");
}

static void
put_hex(const struct writing *w, uint64_t value)
{
	char text[32];

	(void)snprintf(text, sizeof(text), w->json ? "\"0x%" PRIx64 "\"" : "0x%" PRIx64, value);
	buf_text(w->out, text);
}

static void
put_number(struct writing *w, const char *name, uint64_t value)
{
	char text[24];

	put_name(w, name);
	/* As in the fields of tracepoints, readers of JSON have no integers beyond. */
	(void)snprintf(text, sizeof(text),
		       w->json && value > INT64_MAX ? "\"%" PRIu64 "\"" : "%" PRIu64, value);
	buf_text(w->out, text);
}

static void
put_bits(struct writing *w, const char *name, uint64_t value)
{
	put_name(w, name);
	put_hex(w, value);
}

/* The newest first, with the flags as the kernel has them. */
static void
put_branches(struct writing *w, const struct perf_sample *s)
{
	put_name(w, "branches");
	buf_text(w->out, w->json ? "[" : "");
	for (uint64_t i = 0; i < s->branch.nr; i++) {
		const struct perf_branch b = perf_branch_at(s, i);

		buf_text(w->out, i > 0 ? "," : "");
		buf_text(w->out, w->json ? "{\"from\":" : "");
		put_hex(w, b.from);
		buf_text(w->out, w->json ? ",\"to\":" : "/");
		put_hex(w, b.to);
		buf_text(w->out, w->json ? ",\"flags\":" : "/");
		put_hex(w, b.flags);
		buf_text(w->out, w->json ? "}" : "");
	}
	buf_text(w->out, w->json ? "]" : "");
}

static void
put_registers(struct writing *w, const char *key, const struct perf_regs *regs)
{
	uint64_t mask = regs->mask;
	char number[16];

	put_name(w, key);
	buf_text(w->out, w->json ? "{" : "");
	for (size_t i = 0; i < span_words(regs->words) && mask; i++, mask &= mask - 1) {
		const unsigned bit = (unsigned)__builtin_ctzll(mask);
		const char *name = register_name(w->arch, bit);

		(void)snprintf(number, sizeof(number), "r%u", bit);
		buf_text(w->out, i > 0 ? "," : "");
		buf_text(w->out, w->json ? "\"" : "");
		buf_text(w->out, name ? name : number);
		buf_text(w->out, w->json ? "\":" : "=");
		put_hex(w, span_word(regs->words, i));
	}
	buf_text(w->out, w->json ? "}" : "");
}

static void
put_values(struct writing *w, const struct perf_sample *s)
{
	if (s->have & PERF_SAMPLE_ADDR)
		put_bits(w, "addr", s->addr);
	if (s->have & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
		put_number(w, "weight", sample_weight(s));
	if (s->have & PERF_SAMPLE_WEIGHT_STRUCT)
		put_number(w, "ins_lat", sample_latency(s));
	if (s->have & PERF_SAMPLE_DATA_SRC)
		put_bits(w, "data_src", s->data_src);
	if (s->have & PERF_SAMPLE_TRANSACTION)
		put_bits(w, "transaction", s->transaction);
	if (s->have & PERF_SAMPLE_PHYS_ADDR)
		put_bits(w, "phys_addr", s->phys_addr);
	if (s->have & PERF_SAMPLE_DATA_PAGE_SIZE)
		put_number(w, "data_page_size", s->data_page_size);
	if (s->have & PERF_SAMPLE_CODE_PAGE_SIZE)
		put_number(w, "code_page_size", s->code_page_size);
	if (s->have & PERF_SAMPLE_BRANCH_STACK)
		put_branches(w, s);
	if (s->have & PERF_SAMPLE_REGS_USER)
		put_registers(w, "regs_user", &s->regs_user);
	if (s->have & PERF_SAMPLE_REGS_INTR)
		put_registers(w, "regs_intr", &s->regs_intr);
}

void
sample_values_text(const struct perf_sample *s, const char *arch, struct buf *out)
{
	struct writing w = { .out = out, .arch = arch };

	put_values(&w, s);
}

void
sample_values_json(const struct perf_sample *s, const char *arch, struct buf *out)
{
	struct writing w = { .out = out, .arch = arch, .json = true };

	if (!(s->have & KEPT_VALUES))
		return;
	buf_text(out, ",\"values\":{");
	put_values(&w, s);
	buf_text(out, "}");
}
