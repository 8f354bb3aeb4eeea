/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/unwind/cfi_expression.h"

#include <dwarf.h>

#include "symbolizer/object/leb128.h"

#define DEPTH_MAX 32

struct machine {
	struct span whole, rest;
	const struct cfi_registers *registers;
	struct stack_copy *memory;
	uint64_t v[DEPTH_MAX];
	size_t nr;
};

static bool
push(struct machine *m, uint64_t v)
{
	if (m->nr == DEPTH_MAX)
		return false;
	m->v[m->nr++] = v;
	return true;
}

/* Constants in the program, but for those of LEB128. */
static bool
constant(struct machine *m, unsigned bytes, bool is_signed)
{
	struct span b;
	uint64_t v = 0;

	if (!span_take(&m->rest, bytes, &b))
		return false;
	for (unsigned i = 0; i < bytes; i++)
		v |= (uint64_t)b.p[i] << (8 * i);
	if (is_signed && bytes < 8 && v >> (8 * bytes - 1))
		v |= UINT64_MAX << (8 * bytes);
	return push(m, v);
}

static bool
based(struct machine *m, uint64_t reg)
{
	int64_t offset;
	uint64_t v;

	return span_sleb(&m->rest, &offset) && cfi_register(m->registers, reg, &v) &&
		push(m, v + (uint64_t)offset);
}

static bool
jump(struct machine *m)
{
	const size_t at = m->whole.len - m->rest.len;
	uint16_t offset;
	size_t to;

	if (!span_u16(&m->rest, &offset))
		return false;
	to = at + 2 + (size_t)(int16_t)offset;
	m->rest = m->whole;
	return span_skip(&m->rest, to);
}

/* What has a number behind it in the program, or moves about. */
static bool
operate_on_program(struct machine *m, uint8_t op)
{
	uint64_t u;
	int64_t s;

	switch (op) {
	case DW_OP_addr:
		return constant(m, m->memory->narrow ? 4 : 8, false);
	case DW_OP_const8u:
	case DW_OP_const8s:
		return constant(m, 8, false);
	case DW_OP_const1u:
	case DW_OP_const1s:
		return constant(m, 1, op == DW_OP_const1s);
	case DW_OP_const2u:
	case DW_OP_const2s:
		return constant(m, 2, op == DW_OP_const2s);
	case DW_OP_const4u:
	case DW_OP_const4s:
		return constant(m, 4, op == DW_OP_const4s);
	case DW_OP_constu:
		return span_uleb(&m->rest, &u) && push(m, u);
	case DW_OP_consts:
		return span_sleb(&m->rest, &s) && push(m, (uint64_t)s);
	case DW_OP_bregx:
		return span_uleb(&m->rest, &u) && based(m, u);
	case DW_OP_pick: {
		uint8_t n;

		return span_u8(&m->rest, &n) && n < m->nr && push(m, m->v[m->nr - 1 - n]);
	}
	case DW_OP_plus_uconst:
		return m->nr > 0 && span_uleb(&m->rest, &u) && (m->v[m->nr - 1] += u, true);
	case DW_OP_skip:
		return jump(m);
	case DW_OP_bra:
		if (m->nr == 0)
			return false;
		return m->v[--m->nr] != 0 ? jump(m) : span_skip(&m->rest, 2);
	case DW_OP_nop:
		return true;
	}
	return false;
}

/* A word as a signed number; it has 32 bits where addresses have. */
static int64_t
signed_word(const struct machine *m, uint64_t v)
{
	return m->memory->narrow ? (int32_t)v : (int64_t)v;
}

/* Of the topmost word. */
static bool
operate_on_one(struct machine *m, uint8_t op, bool *ret)
{
	uint64_t *top = &m->v[m->nr - 1];

	*ret = true;
	switch (op) {
	case DW_OP_dup:
		*ret = push(m, *top);
		return true;
	case DW_OP_drop:
		m->nr--;
		return true;
	case DW_OP_deref:
		*ret = stack_copy_word(m->memory, *top, top);
		return true;
	case DW_OP_abs:
		*top = signed_word(m, *top) < 0 ? -*top : *top;
		return true;
	case DW_OP_neg:
		*top = -*top;
		return true;
	case DW_OP_not:
		*top = ~*top;
		return true;
	}
	return false;
}

static bool
binary(const struct machine *m, uint8_t op, uint64_t a, uint64_t b, uint64_t *ret)
{
	const int64_t x = signed_word(m, a), y = signed_word(m, b);

	switch (op) {
#define X(name, value)                                                                             \
	case DW_OP_##name:                                                                         \
		*ret = (uint64_t)(value);                                                          \
		return true;
		X(and, a & b)
		X(or, a | b)
		X(xor, a ^ b)
		X(plus, a + b)
		X(minus, a - b)
		X(mul, a * b)
		X(shl, b < 64 ? a << b : 0)
		X(shr, b < 64 ? a >> b : 0)
		X(shra, x >> (b < 63 ? b : 63))
		X(eq, x == y)
		X(ne, x != y)
		X(lt, x < y)
		X(le, x <= y)
		X(gt, x > y)
		X(ge, x >= y)
#undef X
	case DW_OP_div:
		/* The least number by -1 has no quotient. */
		*ret = y == -1 ? -a : y != 0 ? (uint64_t)(x / y) : 0;
		return y != 0;
	case DW_OP_mod:
		*ret = b != 0 ? a % b : 0;
		return b != 0;
	}
	return false;
}

/* Of the two topmost words, and of three. */
static bool
operate_on_more(struct machine *m, uint8_t op)
{
	uint64_t *second = &m->v[m->nr - 2], top = second[1], third;

	if (op == DW_OP_over)
		return push(m, *second);
	if (op == DW_OP_swap) {
		second[1] = second[0];
		second[0] = top;
		return true;
	}
	if (op == DW_OP_rot) {
		if (m->nr < 3)
			return false;
		third = second[-1];
		second[-1] = top;
		second[1] = second[0];
		second[0] = third;
		return true;
	}
	m->nr--;
	return binary(m, op, *second, top, second);
}

static bool
step(struct machine *m)
{
	bool good;
	uint8_t op;

	if (!span_u8(&m->rest, &op))
		return false;
	if (op >= DW_OP_lit0 && op <= DW_OP_lit31)
		return push(m, op - DW_OP_lit0);
	if (op >= DW_OP_breg0 && op <= DW_OP_breg31)
		return based(m, op - DW_OP_breg0);
	if (m->nr > 0 && operate_on_one(m, op, &good))
		return good;
	return operate_on_program(m, op) || (m->nr > 1 && operate_on_more(m, op));
}

bool
cfi_expression_value(struct span expression, const struct cfi_registers *registers,
		     struct stack_copy *stack, const uint64_t *cfa, unsigned *steps, uint64_t *ret)
{
	struct machine m = {
		.whole = expression, .rest = expression, .registers = registers, .memory = stack
	};

	if (cfa)
		push(&m, *cfa);
	for (; m.rest.len > 0; (*steps)--)
		if (*steps == 0 || !step(&m))
			return false;
		else if (stack->narrow && m.nr > 0)
			m.v[m.nr - 1] = (uint32_t)m.v[m.nr - 1];
	if (m.nr == 0)
		return false;
	*ret = m.v[m.nr - 1];
	return true;
}
