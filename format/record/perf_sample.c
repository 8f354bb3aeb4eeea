/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/record/perf_sample.h"

#include <stddef.h>

#include "format/bytes/fmt_error.h"

#define WORDS_PER_BRANCH 3

/* ---- struct read_format ---- */

static unsigned
read_bit(const struct perf_read *read, uint64_t bit)
{
	return (read->format & bit) != 0;
}

static int
read_times(struct span *s, struct perf_read *read)
{
	if ((read->format & PERF_FORMAT_TOTAL_TIME_ENABLED) && !span_u64(s, &read->time_enabled))
		return -FMT_E_TRUNCATED;
	if ((read->format & PERF_FORMAT_TOTAL_TIME_RUNNING) && !span_u64(s, &read->time_running))
		return -FMT_E_TRUNCATED;
	return 0;
}

static unsigned
read_words_per_value(const struct perf_read *read)
{
	return 1 + read_bit(read, PERF_FORMAT_ID) + read_bit(read, PERF_FORMAT_LOST);
}

static int
read_group(struct span *s, struct perf_read *read)
{
	int r;

	if (!span_u64(s, &read->nr))
		return -FMT_E_TRUNCATED;
	r = read_times(s, read);
	if (r < 0)
		return r;
	if (!span_take_words(s, read->nr, read_words_per_value(read), &read->values))
		return -FMT_E_TRUNCATED;
	return 0;
}

/* The times stand between the value and its id: values spans the whole struct. */
static int
read_one(struct span *s, struct perf_read *read)
{
	struct span whole = *s;
	uint64_t value;
	int r;

	read->nr = 1;
	if (!span_u64(s, &value))
		return -FMT_E_TRUNCATED;
	r = read_times(s, read);
	if (r < 0)
		return r;
	if (!span_skip(s, (read_words_per_value(read) - 1) * sizeof(uint64_t)))
		return -FMT_E_TRUNCATED;
	read->values = span_of(whole.p, whole.len - s->len);
	return 0;
}

int
perf_read_parse(struct span *s, uint64_t read_format, struct perf_read *ret)
{
	struct span rest = *s;
	struct perf_read read = { .format = read_format };
	int r;

	/* A bit we do not know moves everything behind it: no guess is right. */
	if (read_format >= PERF_FORMAT_LOST << 1)
		return -FMT_E_UNSUPPORTED;
	if (read_format & PERF_FORMAT_GROUP)
		r = read_group(&rest, &read);
	else
		r = read_one(&rest, &read);
	if (r < 0)
		return r;
	*s = rest;
	*ret = read;
	return 0;
}

struct perf_read_value
perf_read_at(const struct perf_read *read, uint64_t i)
{
	struct perf_read_value v = { 0 };
	size_t at, next;

	if (read->format & PERF_FORMAT_GROUP) {
		at = (size_t)i * read_words_per_value(read);
		next = at + 1;
	} else {
		at = 0;
		next = 1 + read_bit(read, PERF_FORMAT_TOTAL_TIME_ENABLED) +
			read_bit(read, PERF_FORMAT_TOTAL_TIME_RUNNING);
	}
	v.value = span_word(read->values, at);
	if (read->format & PERF_FORMAT_ID)
		v.id = span_word(read->values, next++);
	if (read->format & PERF_FORMAT_LOST)
		v.lost = span_word(read->values, next);
	return v;
}

/* ---- fields of a sample ---- */

struct sample_parser {
	struct span s;
	struct perf_record *r;
	bool omit_hw_idx; /* see get_branch_stack() */
	bool empty_branches;
};

static int
get_tid(struct sample_parser *p)
{
	if (!span_u32(&p->s, &p->r->sid.pid) || !span_u32(&p->s, &p->r->sid.tid))
		return -FMT_E_TRUNCATED;
	return 0;
}

static int
get_id(struct sample_parser *p)
{
	uint64_t id;

	if (!span_u64(&p->s, &id))
		return -FMT_E_TRUNCATED;
	if (!(p->r->attr->sample_type & PERF_SAMPLE_IDENTIFIER))
		p->r->sid.id = id;
	return 0;
}

static int
get_cpu(struct sample_parser *p)
{
	uint32_t reserved;

	if (!span_u32(&p->s, &p->r->sid.cpu) || !span_u32(&p->s, &reserved))
		return -FMT_E_TRUNCATED;
	return 0;
}

static int
get_read(struct sample_parser *p)
{
	return perf_read_parse(&p->s, p->r->attr->read_format, &p->r->sample.read);
}

static int
get_callchain(struct sample_parser *p)
{
	uint64_t nr;

	if (!span_u64(&p->s, &nr) || !span_take_words(&p->s, nr, 1, &p->r->sample.callchain))
		return -FMT_E_TRUNCATED;
	return 0;
}

static int
get_raw(struct sample_parser *p)
{
	uint32_t size;

	if (!span_u32(&p->s, &size) || !span_take(&p->s, size, &p->r->sample.raw))
		return -FMT_E_TRUNCATED;
	return 0;
}

/*
 * With BRANCH_HW_INDEX the kernel writes hw_idx after nr, except when the PMU gave it no
 * branch stack at all: then it writes nr = 0 and nothing else. The two cannot be told
 * apart here; perf_sample_parse() tries the one and then the other.
 */
static int
get_branch_stack(struct sample_parser *p)
{
	const uint64_t type = p->r->attr->branch_sample_type;
	struct perf_sample *sample = &p->r->sample;
	uint64_t nr;

	if (!span_u64(&p->s, &nr))
		return -FMT_E_TRUNCATED;
	sample->branch.nr = nr;
	sample->branch.has_hw_idx = false;
	if (type & PERF_SAMPLE_BRANCH_HW_INDEX) {
		p->empty_branches = nr == 0;
		if (!(p->empty_branches && p->omit_hw_idx)) {
			if (!span_u64(&p->s, &sample->branch.hw_idx))
				return -FMT_E_TRUNCATED;
			sample->branch.has_hw_idx = true;
		}
	}
	if (!span_take_words(&p->s, nr, WORDS_PER_BRANCH, &sample->branch.entries))
		return -FMT_E_TRUNCATED;
	if ((type & PERF_BRANCH_COUNTERS) &&
	    !span_take_words(&p->s, nr, 1, &sample->branch.counters))
		return -FMT_E_TRUNCATED;
	return 0;
}

static int
get_regs(struct sample_parser *p, uint64_t mask, struct perf_regs *regs)
{
	if (!span_u64(&p->s, &regs->abi))
		return -FMT_E_TRUNCATED;
	if (regs->abi == PERF_SAMPLE_REGS_ABI_NONE)
		return 0;
	regs->mask = mask;
	if (!span_take_words(&p->s, (uint64_t)__builtin_popcountll(mask), 1, &regs->words))
		return -FMT_E_TRUNCATED;
	return 0;
}

/* What stands between these two places belongs to the copy of the user's registers and stack. */
static void
add_user_copy(struct sample_parser *p, const uint8_t *from)
{
	struct span *copy = &p->r->sample.user_copy;

	if (!copy->p)
		copy->p = from;
	copy->len = (size_t)(p->s.p - copy->p);
}

static int
get_regs_user(struct sample_parser *p)
{
	const uint8_t *from = p->s.p;
	int r = get_regs(p, p->r->attr->sample_regs_user, &p->r->sample.regs_user);

	add_user_copy(p, from);
	return r;
}

static int
get_regs_intr(struct sample_parser *p)
{
	return get_regs(p, p->r->attr->sample_regs_intr, &p->r->sample.regs_intr);
}

static int
get_stack(struct sample_parser *p)
{
	struct perf_sample *sample = &p->r->sample;
	uint64_t size;

	if (!span_u64(&p->s, &size))
		return -FMT_E_TRUNCATED;
	if (size == 0)
		return 0;
	if (size > p->s.len || !span_take(&p->s, (size_t)size, &sample->stack_user) ||
	    !span_u64(&p->s, &sample->stack_user_dyn_size))
		return -FMT_E_TRUNCATED;
	if (sample->stack_user_dyn_size > size)
		return -FMT_E_CORRUPT;
	return 0;
}

static int
get_stack_user(struct sample_parser *p)
{
	const uint8_t *from = p->s.p;
	int r = get_stack(p);

	add_user_copy(p, from);
	return r;
}

static int
get_aux(struct sample_parser *p)
{
	uint64_t size;

	if (!span_u64(&p->s, &size) || size > p->s.len ||
	    !span_take(&p->s, (size_t)size, &p->r->sample.aux))
		return -FMT_E_TRUNCATED;
	return 0;
}

struct sample_field {
	uint64_t bits; /* any of them: the field is there, once */
	size_t member; /* of struct perf_record: a plain word, when get is NULL */
	int (*get)(struct sample_parser *p);
};

#define WORD(bits, name)                                                                           \
	{                                                                                          \
		(bits), offsetof(struct perf_record, name), NULL                                   \
	}
#define SHAPE(bit, get)                                                                            \
	{                                                                                          \
		(bit), 0, (get)                                                                    \
	}

/* In the kernel's order, which is not the order of the bits. */
static const struct sample_field fields[] = {
	WORD(PERF_SAMPLE_IDENTIFIER, sid.id),
	WORD(PERF_SAMPLE_IP, sample.ip),
	SHAPE(PERF_SAMPLE_TID, get_tid),
	WORD(PERF_SAMPLE_TIME, sid.time),
	WORD(PERF_SAMPLE_ADDR, sample.addr),
	SHAPE(PERF_SAMPLE_ID, get_id),
	WORD(PERF_SAMPLE_STREAM_ID, sid.stream_id),
	SHAPE(PERF_SAMPLE_CPU, get_cpu),
	WORD(PERF_SAMPLE_PERIOD, sample.period),
	SHAPE(PERF_SAMPLE_READ, get_read),
	SHAPE(PERF_SAMPLE_CALLCHAIN, get_callchain),
	SHAPE(PERF_SAMPLE_RAW, get_raw),
	SHAPE(PERF_SAMPLE_BRANCH_STACK, get_branch_stack),
	SHAPE(PERF_SAMPLE_REGS_USER, get_regs_user),
	SHAPE(PERF_SAMPLE_STACK_USER, get_stack_user),
	WORD(PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT, sample.weight),
	WORD(PERF_SAMPLE_DATA_SRC, sample.data_src),
	WORD(PERF_SAMPLE_TRANSACTION, sample.transaction),
	SHAPE(PERF_SAMPLE_REGS_INTR, get_regs_intr),
	WORD(PERF_SAMPLE_PHYS_ADDR, sample.phys_addr),
	WORD(PERF_SAMPLE_CGROUP, sample.cgroup),
	WORD(PERF_SAMPLE_DATA_PAGE_SIZE, sample.data_page_size),
	WORD(PERF_SAMPLE_CODE_PAGE_SIZE, sample.code_page_size),
	SHAPE(PERF_SAMPLE_AUX, get_aux),
};

static int
get_fields(struct sample_parser *p)
{
	const uint64_t sample_type = p->r->attr->sample_type;
	size_t i;
	int r;

	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		const struct sample_field *f = &fields[i];

		if (!(sample_type & f->bits))
			continue;
		if (f->get) {
			r = f->get(p);
			if (r < 0)
				return r;
		} else {
			uint64_t word;

			if (!span_u64(&p->s, &word))
				return -FMT_E_TRUNCATED;
			memcpy((uint8_t *)p->r + f->member, &word, sizeof(word));
		}
	}
	return 0;
}

static int
parse_as(struct span *s, struct perf_record *r, bool omit_hw_idx, bool *ret_empty_branches)
{
	struct sample_parser p = { .s = *s, .r = r, .omit_hw_idx = omit_hw_idx };
	int error;

	r->sample.have = r->attr->sample_type;
	r->sid.have = r->attr->sample_type & SAMPLE_ID_FIELDS;
	error = get_fields(&p);
	*ret_empty_branches = p.empty_branches;
	*s = p.s;
	return error;
}

int
perf_sample_parse(struct span *s, struct perf_record *r)
{
	struct span rest = *s;
	bool empty_branches;
	int error, error_without;

	error = parse_as(&rest, r, false, &empty_branches);
	if (empty_branches && (error < 0 || rest.len > 0)) {
		struct span rest_without = *s;
		bool again;

		memset(&r->sample, 0, sizeof(r->sample));
		error_without = parse_as(&rest_without, r, true, &again);
		if (error_without == 0 && (error < 0 || rest_without.len == 0)) {
			*s = rest_without;
			return 0;
		}
		rest = *s;
		memset(&r->sample, 0, sizeof(r->sample));
		error = parse_as(&rest, r, false, &again);
	}
	*s = rest;
	return error;
}

struct perf_branch
perf_branch_at(const struct perf_sample *sample, uint64_t i)
{
	const size_t at = (size_t)i * WORDS_PER_BRANCH;

	return (struct perf_branch){
		.from = span_word(sample->branch.entries, at),
		.to = span_word(sample->branch.entries, at + 1),
		.flags = span_word(sample->branch.entries, at + 2),
	};
}
