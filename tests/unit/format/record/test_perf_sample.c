/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/record/perf_record.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "format/bytes/fmt_error.h"
#include "tests/lab/record_sample.h"
#include "tests/lab/wire.h"

#define SAMPLE_BITS 25
#define ALL_BITS ((1u << SAMPLE_BITS) - 1)
#define BRANCH_COUNTERS (UINT64_C(1) << 19)

/* Everything that decides what a sample looks like. */
struct shape {
	uint64_t type;
	uint64_t read_format;
	uint64_t branch_type;
	uint64_t mask_user, mask_intr;
	uint64_t abi_user, abi_intr;
	uint64_t nr_read, nr_ips, nr_branches;
	size_t raw, stack, dyn, aux;
	bool no_branch_stack; /* the PMU gave none: nr alone */
};

static const struct shape plain = {
	.read_format = PERF_FORMAT_ID,
	.mask_user = 0xff0fff,
	.mask_intr = 0x5,
	.abi_user = PERF_SAMPLE_REGS_ABI_64,
	.abi_intr = PERF_SAMPLE_REGS_ABI_32,
	.nr_read = 1,
	.nr_ips = 5,
	.nr_branches = 2,
	.raw = 20,
	.stack = 24,
	.dyn = 17,
	.aux = 16,
};

static struct wire wire; /* too big for the stack */

static struct event_attr
attr_of(const struct shape *sh)
{
	return (struct event_attr){
		.sample_type = sh->type,
		.read_format = sh->read_format,
		.branch_sample_type = sh->branch_type,
		.sample_regs_user = sh->mask_user,
		.sample_regs_intr = sh->mask_intr,
		.flags = UINT64_C(1) << EVENT_ATTR_sample_id_all,
	};
}

/* A value that no other field has. */
static uint64_t
value(unsigned field, uint64_t i)
{
	return UINT64_C(0xa500000000000000) | (uint64_t)field << 40 | i << 8 | 0x81;
}

enum {
	F_ID,
	F_IP,
	F_TIME,
	F_ADDR,
	F_STREAM,
	F_PERIOD,
	F_READ,
	F_CHAIN,
	F_RAW,
	F_BRANCH,
	F_HW_IDX,
	F_COUNTER,
	F_USER,
	F_STACK,
	F_WEIGHT,
	F_SRC,
	F_TXN,
	F_INTR,
	F_PHYS,
	F_CGROUP,
	F_DPAGE,
	F_CPAGE,
	F_AUX,
	F_ENABLED,
	F_RUNNING,
	F_READ_ID,
	F_READ_LOST
};

#define PID 0x10203040u
#define TID 0x50607080u
#define CPU 0x01020304u

static unsigned
bits_in(uint64_t mask)
{
	unsigned n = 0;

	for (; mask; mask >>= 1)
		n += mask & 1;
	return n;
}

/* ---- the writer ---- */

static void
write_read_entry(const struct shape *sh, uint64_t i)
{
	if (sh->read_format & PERF_FORMAT_ID)
		wire_u64(&wire, value(F_READ_ID, i));
	if (sh->read_format & PERF_FORMAT_LOST)
		wire_u64(&wire, value(F_READ_LOST, i));
}

static void
write_read(const struct shape *sh)
{
	const bool group = sh->read_format & PERF_FORMAT_GROUP;

	wire_u64(&wire, group ? sh->nr_read : value(F_READ, 0));
	if (sh->read_format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		wire_u64(&wire, value(F_ENABLED, 0));
	if (sh->read_format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		wire_u64(&wire, value(F_RUNNING, 0));
	if (!group) {
		write_read_entry(sh, 0);
		return;
	}
	for (uint64_t i = 0; i < sh->nr_read; i++) {
		wire_u64(&wire, value(F_READ, i));
		write_read_entry(sh, i);
	}
}

static void
write_filler(unsigned field, size_t n)
{
	for (size_t i = 0; i < n; i++)
		wire_u8(&wire, (uint8_t)(field * 7 + i + 1));
}

static void
write_branches(const struct shape *sh)
{
	wire_u64(&wire, sh->nr_branches);
	if ((sh->branch_type & PERF_SAMPLE_BRANCH_HW_INDEX) && !sh->no_branch_stack)
		wire_u64(&wire, value(F_HW_IDX, 0));
	for (uint64_t i = 0; i < sh->nr_branches * 3; i++)
		wire_u64(&wire, value(F_BRANCH, i));
	if (sh->branch_type & BRANCH_COUNTERS)
		for (uint64_t i = 0; i < sh->nr_branches; i++)
			wire_u64(&wire, value(F_COUNTER, i));
}

static void
write_regs(unsigned field, uint64_t abi, uint64_t mask)
{
	wire_u64(&wire, abi);
	if (abi == 0)
		return;
	for (unsigned i = 0; i < bits_in(mask); i++)
		wire_u64(&wire, value(field, i));
}

static void
write_front(const struct shape *sh)
{
	if (sh->type & PERF_SAMPLE_IDENTIFIER)
		wire_u64(&wire, value(F_ID, 0));
	if (sh->type & PERF_SAMPLE_IP)
		wire_u64(&wire, value(F_IP, 0));
	if (sh->type & PERF_SAMPLE_TID) {
		wire_u32(&wire, PID);
		wire_u32(&wire, TID);
	}
	if (sh->type & PERF_SAMPLE_TIME)
		wire_u64(&wire, value(F_TIME, 0));
	if (sh->type & PERF_SAMPLE_ADDR)
		wire_u64(&wire, value(F_ADDR, 0));
	if (sh->type & PERF_SAMPLE_ID)
		wire_u64(&wire, value(F_ID, 0));
	if (sh->type & PERF_SAMPLE_STREAM_ID)
		wire_u64(&wire, value(F_STREAM, 0));
	if (sh->type & PERF_SAMPLE_CPU) {
		wire_u32(&wire, CPU);
		wire_u32(&wire, 0);
	}
	if (sh->type & PERF_SAMPLE_PERIOD)
		wire_u64(&wire, value(F_PERIOD, 0));
}

static void
write_middle(const struct shape *sh)
{
	if (sh->type & PERF_SAMPLE_READ)
		write_read(sh);
	if (sh->type & PERF_SAMPLE_CALLCHAIN) {
		wire_u64(&wire, sh->nr_ips);
		for (uint64_t i = 0; i < sh->nr_ips; i++)
			wire_u64(&wire, value(F_CHAIN, i));
	}
	if (sh->type & PERF_SAMPLE_RAW) {
		wire_u32(&wire, (uint32_t)sh->raw);
		write_filler(F_RAW, sh->raw);
	}
	if (sh->type & PERF_SAMPLE_BRANCH_STACK)
		write_branches(sh);
	if (sh->type & PERF_SAMPLE_REGS_USER)
		write_regs(F_USER, sh->abi_user, sh->mask_user);
	if (sh->type & PERF_SAMPLE_STACK_USER) {
		wire_u64(&wire, sh->stack);
		write_filler(F_STACK, sh->stack);
		if (sh->stack)
			wire_u64(&wire, sh->dyn);
	}
}

static void
write_back(const struct shape *sh)
{
	if (sh->type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
		wire_u64(&wire, value(F_WEIGHT, 0));
	if (sh->type & PERF_SAMPLE_DATA_SRC)
		wire_u64(&wire, value(F_SRC, 0));
	if (sh->type & PERF_SAMPLE_TRANSACTION)
		wire_u64(&wire, value(F_TXN, 0));
	if (sh->type & PERF_SAMPLE_REGS_INTR)
		write_regs(F_INTR, sh->abi_intr, sh->mask_intr);
	if (sh->type & PERF_SAMPLE_PHYS_ADDR)
		wire_u64(&wire, value(F_PHYS, 0));
	if (sh->type & PERF_SAMPLE_CGROUP)
		wire_u64(&wire, value(F_CGROUP, 0));
	if (sh->type & PERF_SAMPLE_DATA_PAGE_SIZE)
		wire_u64(&wire, value(F_DPAGE, 0));
	if (sh->type & PERF_SAMPLE_CODE_PAGE_SIZE)
		wire_u64(&wire, value(F_CPAGE, 0));
	if (sh->type & PERF_SAMPLE_AUX) {
		wire_u64(&wire, sh->aux);
		write_filler(F_AUX, sh->aux);
	}
}

static void
write_sample(const struct shape *sh)
{
	wire_begin(&wire, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	write_front(sh);
	write_middle(sh);
	write_back(sh);
	wire_end(&wire);
}

/* ---- the reader's answer ---- */

/* The value when the bit is set, else 0. */
static void
check_word(const struct shape *sh, uint64_t bits, uint64_t got, uint64_t want)
{
	assert_int_equal(got, sh->type & bits ? want : 0);
}

static void
check_words(struct span words, unsigned field, uint64_t n)
{
	assert_int_equal(span_words(words), n);
	for (uint64_t i = 0; i < n; i++)
		assert_int_equal(span_word(words, i), value(field, i));
}

static void
check_filler(struct span bytes, unsigned field, size_t n)
{
	assert_int_equal(bytes.len, n);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(bytes.p[i], (uint8_t)(field * 7 + i + 1));
}

static void
check_read(const struct shape *sh, const struct perf_read *read)
{
	const uint64_t f = sh->read_format;
	const uint64_t nr = f & PERF_FORMAT_GROUP ? sh->nr_read : 1;

	assert_int_equal(read->format, f);
	assert_int_equal(read->nr, nr);
	assert_int_equal(read->time_enabled,
			 f & PERF_FORMAT_TOTAL_TIME_ENABLED ? value(F_ENABLED, 0) : 0);
	assert_int_equal(read->time_running,
			 f & PERF_FORMAT_TOTAL_TIME_RUNNING ? value(F_RUNNING, 0) : 0);
	for (uint64_t i = 0; i < nr; i++) {
		struct perf_read_value v = perf_read_at(read, i);

		assert_int_equal(v.value, value(F_READ, i));
		assert_int_equal(v.id, f & PERF_FORMAT_ID ? value(F_READ_ID, i) : 0);
		assert_int_equal(v.lost, f & PERF_FORMAT_LOST ? value(F_READ_LOST, i) : 0);
	}
}

static void
check_branches(const struct shape *sh, const struct perf_sample *s)
{
	const bool hw_idx = (sh->branch_type & PERF_SAMPLE_BRANCH_HW_INDEX) && !sh->no_branch_stack;

	assert_int_equal(s->branch.nr, sh->nr_branches);
	assert_int_equal(s->branch.has_hw_idx, hw_idx);
	assert_int_equal(s->branch.hw_idx, hw_idx ? value(F_HW_IDX, 0) : 0);
	check_words(s->branch.entries, F_BRANCH, sh->nr_branches * 3);
	check_words(s->branch.counters, F_COUNTER,
		    sh->branch_type & BRANCH_COUNTERS ? sh->nr_branches : 0);
	for (uint64_t i = 0; i < sh->nr_branches; i++) {
		struct perf_branch b = perf_branch_at(s, i);

		assert_int_equal(b.from, value(F_BRANCH, i * 3));
		assert_int_equal(b.to, value(F_BRANCH, i * 3 + 1));
		assert_int_equal(b.flags, value(F_BRANCH, i * 3 + 2));
	}
}

static void
check_regs(const struct perf_regs *regs, unsigned field, uint64_t abi, uint64_t mask)
{
	assert_int_equal(regs->abi, abi);
	assert_int_equal(regs->mask, abi ? mask : 0);
	check_words(regs->words, field, abi ? bits_in(mask) : 0);
}

static void
check_sid(const struct shape *sh, const struct perf_sample_id *sid)
{
	assert_int_equal(sid->have,
			 sh->type &
				 (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
				  PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |
				  PERF_SAMPLE_IDENTIFIER));
	check_word(sh, PERF_SAMPLE_TID, sid->pid, PID);
	check_word(sh, PERF_SAMPLE_TID, sid->tid, TID);
	check_word(sh, PERF_SAMPLE_TIME, sid->time, value(F_TIME, 0));
	check_word(sh, PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER, sid->id, value(F_ID, 0));
	check_word(sh, PERF_SAMPLE_STREAM_ID, sid->stream_id, value(F_STREAM, 0));
	assert_int_equal(sid->cpu, sh->type & PERF_SAMPLE_CPU ? CPU : UINT32_MAX);
}

static void
check_fields(const struct shape *sh, const struct perf_sample *s)
{
	check_word(sh, PERF_SAMPLE_IP, s->ip, value(F_IP, 0));
	check_word(sh, PERF_SAMPLE_ADDR, s->addr, value(F_ADDR, 0));
	check_word(sh, PERF_SAMPLE_PERIOD, s->period, value(F_PERIOD, 0));
	check_word(sh, PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT, s->weight,
		   value(F_WEIGHT, 0));
	check_word(sh, PERF_SAMPLE_DATA_SRC, s->data_src, value(F_SRC, 0));
	check_word(sh, PERF_SAMPLE_TRANSACTION, s->transaction, value(F_TXN, 0));
	check_word(sh, PERF_SAMPLE_PHYS_ADDR, s->phys_addr, value(F_PHYS, 0));
	check_word(sh, PERF_SAMPLE_CGROUP, s->cgroup, value(F_CGROUP, 0));
	check_word(sh, PERF_SAMPLE_DATA_PAGE_SIZE, s->data_page_size, value(F_DPAGE, 0));
	check_word(sh, PERF_SAMPLE_CODE_PAGE_SIZE, s->code_page_size, value(F_CPAGE, 0));
}

static void
check_sample(const struct shape *sh, const struct perf_record *r)
{
	static const struct perf_sample empty;
	const struct perf_sample *s = &r->sample;

	assert_int_equal(r->type, REC_SAMPLE);
	assert_int_equal(r->misc & PERF_RECORD_MISC_CPUMODE_MASK, PERF_RECORD_MISC_USER);
	assert_int_equal(s->have, sh->type);
	check_sid(sh, &r->sid);
	check_fields(sh, s);
	if (sh->type & PERF_SAMPLE_READ)
		check_read(sh, &s->read);
	else
		assert_memory_equal(&s->read, &empty.read, sizeof(s->read));
	check_words(s->callchain, F_CHAIN, sh->type & PERF_SAMPLE_CALLCHAIN ? sh->nr_ips : 0);
	check_filler(s->raw, F_RAW, sh->type & PERF_SAMPLE_RAW ? sh->raw : 0);
	if (sh->type & PERF_SAMPLE_BRANCH_STACK)
		check_branches(sh, s);
	else
		assert_memory_equal(&s->branch, &empty.branch, sizeof(s->branch));
	check_regs(&s->regs_user, F_USER, sh->type & PERF_SAMPLE_REGS_USER ? sh->abi_user : 0,
		   sh->mask_user);
	check_regs(&s->regs_intr, F_INTR, sh->type & PERF_SAMPLE_REGS_INTR ? sh->abi_intr : 0,
		   sh->mask_intr);
	check_filler(s->stack_user, F_STACK, sh->type & PERF_SAMPLE_STACK_USER ? sh->stack : 0);
	assert_int_equal(s->stack_user_dyn_size,
			 sh->type & PERF_SAMPLE_STACK_USER && sh->stack ? sh->dyn : 0);
	check_filler(s->aux, F_AUX, sh->type & PERF_SAMPLE_AUX ? sh->aux : 0);
}

/* record_build makes the same bytes again from what was parsed. */
static void
check_build(const struct perf_record *r)
{
	struct buf b;

	buf_init(&b);
	assert_int_equal(record_sample_build(&b, &r->sid, &r->sample, r->misc), 0);
	assert_int_equal(b.len, r->raw.len);
	assert_memory_equal(b.p, r->raw.p, b.len);
	buf_done(&b);
}

static void
check_shape(const struct shape *sh)
{
	struct event_attr attr = attr_of(sh);
	struct perf_record r;

	write_sample(sh);
	assert_int_equal(wire_parse(wire.bytes, wire.len, &attr, &r), 0);
	assert_int_equal(r.trailing.len, 0);
	check_sample(sh, &r);
	check_build(&r);
}

static void
check_shape_and_cuts(const struct shape *sh)
{
	struct event_attr attr = attr_of(sh);

	check_shape(sh);
	wire_cut_everywhere(&wire, &attr);
}

/* ---- tests ---- */

static void
test_each_bit_alone(void **state)
{
	struct shape sh = plain;

	check_shape(&sh); /* and none at all */
	for (unsigned bit = 0; bit < SAMPLE_BITS; bit++) {
		sh.type = UINT64_C(1) << bit;
		check_shape_and_cuts(&sh);
	}
}

static void
test_each_pair_of_bits(void **state)
{
	struct shape sh = plain;

	for (unsigned i = 0; i < SAMPLE_BITS; i++) {
		for (unsigned j = 0; j < i; j++) {
			sh.type = UINT64_C(1) << i | UINT64_C(1) << j;
			check_shape(&sh);
		}
	}
}

static void
test_all_bits(void **state)
{
	struct shape sh = plain;

	sh.type = ALL_BITS;
	check_shape_and_cuts(&sh);
	sh.read_format = 31;
	sh.nr_read = 4;
	sh.branch_type = PERF_SAMPLE_BRANCH_HW_INDEX | BRANCH_COUNTERS;
	check_shape_and_cuts(&sh);
}

static void
test_each_read_format(void **state)
{
	struct shape sh = plain;

	for (uint64_t f = 0; f < 32; f++) {
		for (uint64_t nr = 0; nr < 4; nr++) {
			sh.read_format = f;
			sh.nr_read = nr;
			sh.type = PERF_SAMPLE_READ;
			check_shape_and_cuts(&sh);
			sh.type |= PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_CALLCHAIN;
			check_shape(&sh);
		}
	}
}

/* What read(2) gives is the same struct without a record around it. */
static void
test_read_from_descriptor(void **state)
{
	struct shape sh = plain;

	for (uint64_t f = 0; f < 32; f++) {
		struct perf_read read = { .nr = 77 };
		struct span s, whole;

		sh.read_format = f;
		sh.nr_read = 3;
		wire_clear(&wire);
		write_read(&sh);
		for (size_t n = 0; n < wire.len; n++) {
			whole = s = wire_guard(wire.bytes, n);
			assert_int_equal(perf_read_parse(&s, f, &read), -FMT_E_TRUNCATED);
			assert_int_equal(read.nr, 77);
			assert_ptr_equal(s.p, whole.p);
		}
		wire_u64(&wire, 1);
		s = wire_guard(wire.bytes, wire.len);
		assert_int_equal(perf_read_parse(&s, f, &read), 0);
		assert_int_equal(s.len, 8);
		check_read(&sh, &read);
	}
}

static void
test_read_format_unknown(void **state)
{
	struct shape sh = plain;
	struct event_attr attr;
	struct perf_record r;

	sh.type = PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN;
	attr = attr_of(&sh);
	write_sample(&sh);
	attr.read_format = 32;
	assert_int_equal(wire_parse(wire.bytes, wire.len, &attr, &r), -FMT_E_UNSUPPORTED);
	/* It matters only to who reads counters. */
	sh.type = PERF_SAMPLE_CALLCHAIN;
	attr = attr_of(&sh);
	attr.read_format = 32;
	write_sample(&sh);
	assert_int_equal(wire_parse(wire.bytes, wire.len, &attr, &r), 0);
}

static void
test_branch_shapes(void **state)
{
	struct shape sh = plain;

	for (unsigned i = 0; i < 4; i++) {
		sh.branch_type = (i & 1 ? PERF_SAMPLE_BRANCH_HW_INDEX : 0) |
			(i & 2 ? BRANCH_COUNTERS : 0) | PERF_SAMPLE_BRANCH_ANY;
		for (sh.nr_branches = 0; sh.nr_branches < 33; sh.nr_branches += 8) {
			sh.type = PERF_SAMPLE_BRANCH_STACK;
			check_shape(&sh);
			sh.type = ALL_BITS;
			check_shape(&sh);
		}
	}
}

/*
 * perf_output_sample() writes nr = 0 without hw_idx when the PMU has no branch stack to
 * give (kernel/events/core.c).
 */
static void
test_branch_stack_of_none(void **state)
{
	struct shape sh = plain;

	sh.branch_type = PERF_SAMPLE_BRANCH_HW_INDEX;
	sh.nr_branches = 0;
	sh.no_branch_stack = true;
	sh.type = PERF_SAMPLE_BRANCH_STACK;
	check_shape_and_cuts(&sh);
	sh.type = PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_IP | PERF_SAMPLE_WEIGHT;
	check_shape_and_cuts(&sh);
	sh.type = ALL_BITS;
	check_shape(&sh);
}

static void
test_regs_of_none(void **state)
{
	struct shape sh = plain;

	sh.type = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_REGS_INTR;
	sh.abi_user = PERF_SAMPLE_REGS_ABI_NONE;
	check_shape_and_cuts(&sh);
	sh.abi_intr = PERF_SAMPLE_REGS_ABI_NONE;
	check_shape_and_cuts(&sh);
	sh.type = ALL_BITS;
	check_shape_and_cuts(&sh);
	/* No register asked for, but an ABI told. */
	sh.abi_user = sh.abi_intr = PERF_SAMPLE_REGS_ABI_64;
	sh.mask_user = 0;
	sh.mask_intr = UINT64_MAX;
	check_shape(&sh);
}

static void
test_stack_of_none(void **state)
{
	struct shape sh = plain;

	sh.stack = 0;
	sh.type = PERF_SAMPLE_STACK_USER;
	check_shape_and_cuts(&sh);
	sh.type = ALL_BITS;
	check_shape_and_cuts(&sh);
	sh.stack = 8;
	sh.dyn = 0;
	check_shape(&sh);
	sh.dyn = 8;
	check_shape(&sh);
}

static void
test_stack_dyn_size_over(void **state)
{
	struct shape sh = plain;
	struct event_attr attr;
	struct perf_record r;

	sh.type = PERF_SAMPLE_STACK_USER;
	sh.dyn = sh.stack + 1;
	attr = attr_of(&sh);
	write_sample(&sh);
	assert_int_equal(wire_parse(wire.bytes, wire.len, &attr, &r), -FMT_E_CORRUPT);
}

static void
test_raw_sizes(void **state)
{
	struct shape sh = plain;
	struct event_attr attr;
	struct perf_record r;

	sh.type = PERF_SAMPLE_RAW | PERF_SAMPLE_REGS_USER;
	for (sh.raw = 4; sh.raw < 100; sh.raw += 8)
		check_shape(&sh);
	/* Empty: what follows is then not aligned, and read all the same. */
	sh.raw = 0;
	attr = attr_of(&sh);
	write_sample(&sh);
	wire_u32(&wire, 0);
	wire_end(&wire);
	assert_int_equal(wire_parse(wire.bytes, wire.len, &attr, &r), 0);
	check_sample(&sh, &r);
	assert_int_equal(r.trailing.len, 4);
}

/* Of IDENTIFIER and ID the first is believed: its place is the fixed one. */
static void
test_identifier_before_id(void **state)
{
	struct event_attr attr = { .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_ID };
	struct perf_record r;

	wire_begin(&wire, PERF_RECORD_SAMPLE, 0);
	wire_u64(&wire, 11);
	wire_u64(&wire, 22);
	wire_end(&wire);
	assert_int_equal(wire_parse(wire.bytes, wire.len, &attr, &r), 0);
	assert_int_equal(r.sid.id, 11);
}

/* A newer kernel's fields, by a bit that is not known or by none at all. */
static void
test_trailing_is_carried(void **state)
{
	struct shape sh = plain;
	struct event_attr attr;
	struct perf_record r;

	for (unsigned unknown = 0; unknown < 2; unknown++) {
		sh.type = ALL_BITS | (uint64_t)unknown << SAMPLE_BITS;
		attr = attr_of(&sh);
		write_sample(&sh);
		wire_u64(&wire, 0x1122334455667788);
		wire_u64(&wire, 0);
		wire_end(&wire);
		assert_int_equal(wire_parse(wire.bytes, wire.len, &attr, &r), 0);
		check_sample(&sh, &r);
		assert_int_equal(span_words(r.trailing), 2);
		assert_int_equal(span_word(r.trailing, 0), 0x1122334455667788);
	}
}

static void
test_without_attr(void **state)
{
	struct shape sh = plain;
	struct perf_record r;

	sh.type = PERF_SAMPLE_IP;
	write_sample(&sh);
	assert_int_equal(wire_parse(wire.bytes, wire.len, NULL, &r), -FMT_E_UNKNOWN_ID);
}

/* Any word as a count or a length: refused or read, never believed. */
static void
test_hostile_words(void **state)
{
	static const uint64_t hostile[] = {
		0,
		1,
		7,
		0xffff,
		0x10000,
		UINT32_MAX,
		UINT64_C(1) << 32,
		UINT64_C(1) << 60,
		UINT64_C(1) << 61,
		UINT64_MAX / 8,
		UINT64_MAX / 8 + 1,
		UINT64_MAX / 24 + 1,
		INT64_MAX,
		UINT64_MAX - 7,
		UINT64_MAX,
	};
	struct shape sh = plain;
	struct event_attr attr;
	struct perf_record r;
	uint8_t saved[8];

	sh.type = ALL_BITS;
	sh.read_format = 31;
	sh.branch_type = PERF_SAMPLE_BRANCH_HW_INDEX | BRANCH_COUNTERS;
	attr = attr_of(&sh);
	write_sample(&sh);
	for (size_t at = 8; at < wire.len; at += 4) {
		for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++) {
			size_t len = wire.len;

			memcpy(saved, wire.bytes + at, sizeof(saved));
			wire.len = at;
			wire_u64(&wire, hostile[i]);
			wire.len = len;
			if (wire_parse(wire.bytes, wire.len, &attr, &r) == 0) {
				assert_true(r.sample.branch.nr < wire.len);
				assert_true(r.sample.read.nr < wire.len);
				assert_true(r.sample.stack_user_dyn_size <=
					    r.sample.stack_user.len);
			}
			memcpy(wire.bytes + at, saved, sizeof(saved));
		}
	}
}

/* The longest record there is. */
static void
test_longest(void **state)
{
	struct shape sh = plain;

	sh.type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_CALLCHAIN;
	sh.nr_ips = (65528 - 24) / 8;
	check_shape(&sh);
}

static uint32_t
next_random(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

static void
test_mixtures(void **state)
{
	uint32_t seed = 1;

	for (unsigned i = 0; i < 3000; i++) {
		struct shape sh = plain;

		sh.type = (next_random(&seed) | next_random(&seed) << 20) & ALL_BITS;
		sh.read_format = next_random(&seed) % 32;
		sh.branch_type = (next_random(&seed) % 2 ? PERF_SAMPLE_BRANCH_HW_INDEX : 0) |
			(next_random(&seed) % 2 ? BRANCH_COUNTERS : 0);
		sh.abi_user = next_random(&seed) % 3;
		sh.abi_intr = next_random(&seed) % 3;
		sh.mask_user = next_random(&seed);
		sh.mask_intr = next_random(&seed);
		sh.nr_read = next_random(&seed) % 5;
		sh.nr_ips = next_random(&seed) % 150;
		sh.nr_branches = next_random(&seed) % 33;
		sh.raw = 4 + 8 * (next_random(&seed) % 9);
		sh.stack = 8 * (next_random(&seed) % 9);
		sh.dyn = sh.stack ? next_random(&seed) % (sh.stack + 1) : 0;
		sh.aux = 8 * (next_random(&seed) % 9);
		check_shape(&sh);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_bit_alone),
		cmocka_unit_test(test_each_pair_of_bits),
		cmocka_unit_test(test_all_bits),
		cmocka_unit_test(test_each_read_format),
		cmocka_unit_test(test_read_from_descriptor),
		cmocka_unit_test(test_read_format_unknown),
		cmocka_unit_test(test_branch_shapes),
		cmocka_unit_test(test_branch_stack_of_none),
		cmocka_unit_test(test_regs_of_none),
		cmocka_unit_test(test_stack_of_none),
		cmocka_unit_test(test_stack_dyn_size_over),
		cmocka_unit_test(test_raw_sizes),
		cmocka_unit_test(test_identifier_before_id),
		cmocka_unit_test(test_trailing_is_carried),
		cmocka_unit_test(test_without_attr),
		cmocka_unit_test(test_hostile_words),
		cmocka_unit_test(test_longest),
		cmocka_unit_test(test_mixtures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
