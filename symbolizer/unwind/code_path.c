/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/unwind/code_path.h"

#include <string.h>

#include "symbolizer/unwind/x86_code.h"

#define STRAIGHT_MAX 8 /* instructions from a call to the end of the thread */

struct paths {
	const struct code_path_query *q;
	const struct cfi_arch *arch;
	struct code_ways *w;
};

/* DWARF's number of a register of an instruction. */
static unsigned
dwarf_number(const struct paths *p, uint8_t reg)
{
	static const uint8_t of_64[] = { 0, 2, 1, 3, 7, 6, 4, 5 };

	return p->arch->word == 8 && reg < 8 ? of_64[reg] : reg;
}

static bool
value_of(const struct paths *p, uint8_t reg, uint64_t *ret)
{
	return cfi_register(&p->w->now.r, dwarf_number(p, reg), ret);
}

static void
set(struct paths *p, uint8_t reg, bool known, uint64_t value)
{
	const unsigned n = dwarf_number(p, reg);

	if (reg == X86_NO_REGISTER)
		return;
	if (known)
		cfi_register_set(&p->w->now.r, n, p->arch->word == 4 ? (uint32_t)value : value);
	else
		p->w->now.r.known &= ~(UINT32_C(1) << n);
}

/* What was there when the frame was sampled; below it lies what the way itself has saved. */
static bool
word_at(struct paths *p, uint8_t reg, uint64_t at, uint64_t *ret)
{
	if (at >= p->q->stack->base && at >= p->q->now->value[p->arch->sp])
		return stack_copy_word(p->q->stack, at, ret);
	return reg != X86_NO_REGISTER && cfi_register(p->q->now, dwarf_number(p, reg), ret);
}

static void
pop(struct paths *p, uint8_t reg)
{
	uint64_t sp = 0, v = 0;
	bool known = value_of(p, X86_SP, &sp), read = known && word_at(p, reg, sp, &v);

	set(p, X86_SP, known, sp + p->arch->word);
	set(p, reg, read, v);
}

static void
carry_out(struct paths *p, const struct x86_code *c)
{
	const uint64_t value = (uint64_t)c->value;
	uint64_t v = 0;
	bool known;

	switch (c->kind) {
	case X86_PUSH:
		known = value_of(p, X86_SP, &v);
		set(p, X86_SP, known, v - p->arch->word);
		break;
	case X86_POP:
		pop(p, c->reg);
		break;
	case X86_ADD:
		known = value_of(p, c->reg, &v);
		set(p, c->reg, known, v + value);
		break;
	case X86_AND:
		known = value_of(p, c->reg, &v);
		set(p, c->reg, known, v & value);
		break;
	case X86_MOVE:
		known = value_of(p, c->base, &v);
		set(p, c->reg, known, v + value);
		break;
	case X86_LOAD:
		known = value_of(p, c->base, &v) && word_at(p, c->reg, v + value, &v);
		set(p, c->reg, known, v);
		break;
	case X86_LOSE:
		set(p, X86_SP, false, 0);
		break;
	case X86_LEAVE:
		known = value_of(p, X86_FP, &v);
		set(p, X86_SP, known, v);
		pop(p, X86_FP);
		break;
	default:
		break;
	}
}

/* Is there a return address on top of the stack? *caller and *ra are those behind it. */
static bool
returns(struct paths *p, uint64_t arguments, struct cfi_registers *caller, uint64_t *ra)
{
	uint64_t sp, at;

	if (!value_of(p, X86_SP, &sp) || sp < p->q->now->value[p->arch->sp])
		return false;
	if (!stack_copy_word(p->q->stack, sp, &at)) {
		p->w->cut |= sp - p->q->stack->base >= p->q->stack->bytes.len;
		return false;
	}
	if (!p->q->is_return(p->q->arg, at))
		return false;
	*caller = p->w->now.r;
	caller->known &= p->arch->preserved;
	cfi_register_set(caller, p->arch->sp, sp + p->arch->word + arguments);
	*ra = at;
	return true;
}

/* Was this way taken before? */
static bool
pass(struct paths *p, uint64_t vaddr)
{
	const uint64_t bit = (vaddr ^ vaddr >> 12) % CODE_PASSED_BITS,
		       mask = UINT64_C(1) << bit % 64;
	const bool was = p->w->passed[bit / 64] & mask;

	p->w->passed[bit / 64] |= mask;
	return was;
}

static bool
other_way(struct paths *p)
{
	if (p->w->nr == 0)
		return false;
	p->w->now = p->w->v[--p->w->nr];
	return true;
}

/* A branch. False: it leads nowhere else. */
static bool
branch(struct paths *p, const struct x86_code *c, uint64_t vaddr)
{
	if (pass(p, vaddr))
		return other_way(p);
	p->w->now.straight = STRAIGHT_MAX + 1;
	if (p->w->nr < CODE_WAYS_MAX) {
		p->w->v[p->w->nr] = p->w->now;
		p->w->v[p->w->nr++].vaddr = c->target;
	}
	p->w->now.vaddr = vaddr + c->len;
	return true;
}

/* Does it give what was returned to it to the function that it calls? */
static bool
gives_result(const struct paths *p)
{
	static const uint8_t move[] = { 0x48, 0x89,
					0xc7 }; /* mov %rax,%rdi; without the first mov %eax,%edi */
	const struct span s = cfi_gap_from(p->q->cfi, p->q->vaddr);

	return p->arch->word == 8 && s.len >= sizeof(move) &&
		(memcmp(s.p, move, sizeof(move)) == 0 ||
		 memcmp(s.p, move + 1, sizeof(move) - 1) == 0);
}

static bool
is_end(const struct paths *p, const struct x86_code *c)
{
	return c->kind == X86_CALL && c->is_direct && cfi_never_returns(p->q->cfi, c->target);
}

/* exit(main()), or a hlt after the call that does not return: nothing of this frame is for a caller. */
static bool
ends_straight(const struct paths *p, const struct x86_code *c)
{
	return p->w->now.straight <= STRAIGHT_MAX &&
		(c->kind == X86_HALT || (is_end(p, c) && gives_result(p)));
}

#define GO_ON (CODE_PATH_ENDS + 1)

/* After an instruction that is not just carried out. */
static int
turn(struct paths *p, const struct x86_code *c, uint64_t vaddr, struct cfi_registers *caller,
     uint64_t *ra)
{
	bool on = true;

	switch (c->kind) {
	case X86_RETURN:
	case X86_JUMP_THROUGH:
		if (returns(p, c->kind == X86_RETURN ? (uint64_t)c->value : 0, caller, ra))
			return CODE_PATH_RETURNS;
		on = other_way(p);
		break;
	case X86_JUMP:
		on = !pass(p, vaddr) || other_way(p);
		if (on && p->w->now.vaddr == vaddr)
			p->w->now.vaddr = c->target;
		break;
	case X86_BRANCH:
		on = branch(p, c, vaddr);
		break;
	case X86_CALL:
		if (is_end(p, c))
			on = other_way(p);
		else
			p->w->now.r.known &= p->arch->preserved;
		break;
	case X86_JUMP_AWAY:
		p->w->left = p->w->left || returns(p, 0, &p->w->left_caller, &p->w->left_ra);
		on = other_way(p);
		break;
	case X86_HALT:
	case X86_TRAP:
		on = other_way(p);
		break;
	default:
		carry_out(p, c);
		break;
	}
	return on ? GO_ON : CODE_PATH_LOST;
}

/* At the next instruction. What jumps to code that has rules, or is not here, has left its function as it returns. */
static int
one_step(struct paths *p, struct cfi_registers *caller, uint64_t *ra)
{
	const uint64_t vaddr = p->w->now.vaddr;
	struct x86_code c;
	struct span bytes = cfi_gap_from(p->q->cfi, vaddr);

	if (bytes.len == 0 && returns(p, 0, caller, ra))
		return CODE_PATH_RETURNS;
	if (bytes.len == 0 || !x86_code_read(bytes, vaddr, p->arch->word == 4, &c))
		return other_way(p) ? GO_ON : CODE_PATH_LOST;
	p->w->now.straight++;
	if (ends_straight(p, &c))
		return CODE_PATH_ENDS;
	if (c.kind != X86_JUMP && c.kind != X86_BRANCH)
		p->w->now.vaddr += c.len;
	return turn(p, &c, vaddr, caller, ra);
}

enum code_path_end
code_path(const struct code_path_query *q, struct cfi_registers *caller, uint64_t *ra)
{
	struct paths p = { .q = q, .arch = cfi_arch(q->cfi), .w = q->ways };
	int end = GO_ON;

	if (cfi_gap_from(q->cfi, q->vaddr).len == 0)
		return CODE_PATH_LOST;
	q->ways->now = (struct code_way){ .vaddr = q->vaddr, .r = *q->now };
	q->ways->nr = 0;
	q->ways->cut = q->ways->left = false;
	memset(q->ways->passed, 0, sizeof(q->ways->passed));
	while (end == GO_ON && *q->steps > 0) {
		--*q->steps;
		end = one_step(&p, caller, ra);
	}
	if (end != GO_ON && end != CODE_PATH_LOST)
		return (enum code_path_end)end;
	if (!p.w->left)
		return p.w->cut ? CODE_PATH_CUT : CODE_PATH_LOST;
	*caller = p.w->left_caller;
	*ra = p.w->left_ra;
	return CODE_PATH_RETURNS;
}
