/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/unwind/unwind.h"

#include <stdlib.h>

#include <linux/perf_event.h>

#include "format/bytes/fmt_error.h"
#include "format/bytes/slots.h"
#include "symbolizer/unwind/code_path.h"
#include "symbolizer/unwind/signal_frame.h"
#include "symbolizer/unwind/x86_code.h"

#define GO_ON UNWIND_STOPS_NR
#define KNOWN_RULES 4096 /* a power of two */
/*
 * Of all expressions of a walk. A realigned frame takes 4, a stub 11, a signal's 60; a hostile file
 * could have 8,000 in each of its frames.
 */
#define EXPRESSION_STEPS_MAX 32768
#define CODE_STEPS_MAX                                                                             \
	16384 /* instructions of all code without rules of a walk; a function takes 50 */
#define FRAME_BYTES_MAX (1u << 20) /* of one function that keeps a frame pointer */

struct known_rule {
	const struct cfi *cfi; /* NULL: none */
	uint64_t vaddr;
	bool is_return;
	const struct signal_code *signal; /* as cfi_signal_code() */
	uint64_t offset;		  /* in it */
	int found; /* as cfi_find(), which is not asked where there is a signal */
	uint32_t rule;
};

struct unwinder {
	struct known_rule known[KNOWN_RULES];
	struct unwind_frame frames[UNWIND_FRAMES_MAX];
	size_t nr;
	uint64_t used; /* by the last walk, of the copied stack */
	struct code_ways ways;
};

struct walk {
	struct unwinder *u;
	const struct cfi_arch *arch;
	struct cfi_registers now;
	struct unwind_frame frame; /* whose caller is looked for */
	bool by_record;		   /* it was found by a frame pointer */
	struct stack_copy stack;
	unsigned steps;	     /* of expressions, that are left */
	unsigned code_steps; /* likewise of code_path */
	unwind_find_fn *find;
	void *arg;
};

struct unwinder *
unwinder_new(void)
{
	return calloc(1, sizeof(struct unwinder));
}

void
unwinder_free(struct unwinder *u)
{
	free(u);
}

void
unwinder_forget(struct unwinder *u, const struct cfi *cfi)
{
	for (size_t i = 0; i < KNOWN_RULES; i++)
		if (u->known[i].cfi == cfi)
			u->known[i].cfi = NULL;
}

/* --- the sample -------------------------------------------------------------------------- */

static bool
perf_register(const struct perf_regs *regs, unsigned number, uint64_t *ret)
{
	uint64_t below;

	if (number >= 64 || !(regs->mask >> number & 1))
		return false;
	below = regs->mask & ((UINT64_C(1) << number) - 1);
	*ret = span_word(regs->words, (size_t)__builtin_popcountll(below));
	return true;
}

bool
unwind_sample_of(const struct cfi_arch *arch, const struct perf_sample *s,
		 struct unwind_sample *ret)
{
	const struct perf_regs *regs = &s->regs_user;
	uint64_t v;

	if (regs->abi != (arch->word == 8 ? PERF_SAMPLE_REGS_ABI_64 : PERF_SAMPLE_REGS_ABI_32))
		return false;
	*ret = (struct unwind_sample){ .arch = arch };
	for (unsigned i = 0; i < CFI_REGISTERS; i++)
		if (perf_register(regs, arch->perf[i], &v))
			cfi_register_set(&ret->registers, i, v);
	if (!cfi_register(&ret->registers, arch->sp, &ret->stack.base) ||
	    !perf_register(regs, arch->perf_ip, &ret->ip))
		return false;
	ret->stack.narrow = arch->word == 4;
	ret->stack.bytes = span_of(s->stack_user.p, (size_t)s->stack_user_dyn_size);
	ret->is_short = s->stack_user_dyn_size < s->stack_user.len;
	return true;
}

/* --- what is at an address --------------------------------------------------------------- */

/*
 * What cfi_signal_code() and cfi_find() say, which take several searches; most addresses come again and again. NULL: there
 * is no memory. Valid until the next call.
 */
static const struct known_rule *
find_rule(struct unwinder *u, const struct unwind_code *code, bool is_return)
{
	const uint64_t h = slots_mix((uint64_t)(uintptr_t)code->cfi, code->vaddr * 2 + is_return);
	struct known_rule *known = &u->known[h & (KNOWN_RULES - 1)];

	if (known->cfi == code->cfi && known->vaddr == code->vaddr && known->is_return == is_return)
		return known;
	*known = (struct known_rule){ .vaddr = code->vaddr, .is_return = is_return };
	known->found =
		cfi_signal_code(code->cfi, code->vaddr, is_return, &known->signal, &known->offset);
	if (known->found == 0 && !known->signal)
		known->found = cfi_find(code->cfi, code->vaddr, &known->rule);
	if (known->found == -FMT_E_NOMEM)
		return NULL;
	known->cfi = code->cfi;
	return known;
}

static bool
is_code(struct walk *w, uint64_t ra)
{
	struct unwind_code code;

	ra &= w->arch->pc_mask;
	return ra != 0 && w->find(w->arg, ra - 1, &code);
}

/* Is it a return address? Its code has rules, a signal handler returns to it, or the bytes before it are a call. */
static bool
is_return_address(void *arg, uint64_t ra)
{
	struct walk *w = arg;
	struct unwind_code code = { .cfi = NULL };
	const struct known_rule *known;
	struct span before;

	ra &= w->arch->pc_mask;
	if (ra == 0 || !w->find(w->arg, ra - 1, &code))
		return false;
	if (!code.cfi || cfi_arch(code.cfi) != w->arch)
		return true;
	known = find_rule(w->u, &code, true);
	if (!known || known->signal || known->found != 0)
		return true;
	before = cfi_gap_before(code.cfi, code.vaddr + 1);
	return before.len > 0 && x86_code_ends_with_call(before);
}

/* --- by rule ----------------------------------------------------------------------------- */

static bool
place_value(struct walk *w, const struct cfi *cfi, const struct cfi_place *p, const uint64_t *cfa,
	    uint64_t *ret)
{
	uint64_t v = 0;

	switch ((enum cfi_how)p->how) {
	case CFI_AT_CFA:
		return stack_copy_word(&w->stack, *cfa + (uint64_t)(int64_t)p->offset, ret);
	case CFI_IS_CFA:
		*ret = *cfa + (uint64_t)(int64_t)p->offset;
		return true;
	case CFI_REGISTER:
		if (!cfi_register(&w->now, p->reg, &v))
			return false;
		*ret = v + (uint64_t)(int64_t)p->offset;
		return true;
	case CFI_AT_EXPRESSION:
	case CFI_IS_EXPRESSION:
		if (!cfi_expression_value(cfi_expression(cfi, p), &w->now, &w->stack, cfa,
					  &w->steps, &v))
			return false;
		*ret = v;
		return p->how == CFI_IS_EXPRESSION || stack_copy_word(&w->stack, v, ret);
	case CFI_UNDEFINED:
		break;
	}
	return false;
}

/*
 * What could not be read was not copied, or is nowhere near the stack. Of two stacks, where a
 * signal handler has its own, only one was.
 */
static int
unread(const struct walk *w)
{
	const uint64_t at = w->now.value[w->arch->sp] - w->stack.base;

	return w->stack.beyond || at > w->stack.bytes.len ? UNWIND_CUT : UNWIND_BAD_CFI;
}

/* On to the caller. */
static int
step_to(struct walk *w, const struct cfi_registers *caller, uint64_t ra, bool is_return)
{
	const uint64_t sp = caller->value[w->arch->sp], old = w->now.value[w->arch->sp];
	const bool on_stack = sp - w->stack.base < w->stack.bytes.len;

	/* A leaf may have left the stack as it was; a signal may have come on another stack. */
	if (is_return ? sp <= old && !(sp == old && !w->frame.is_return) : sp <= old && on_stack)
		return UNWIND_BAD_CFI;
	ra &= w->arch->pc_mask;
	if (ra == 0)
		return UNWIND_END;
	w->now = *caller;
	w->by_record = false;
	w->frame = (struct unwind_frame){ ra, is_return };
	return GO_ON;
}

/*
 * Compilers leave the rule of a register as it was when it has been popped in an epilogue. The
 * memory is below the stack pointer then, and was not copied; the register has the value again.
 */
static bool
is_popped(const struct walk *w, const struct cfi_place *p, uint64_t cfa)
{
	return p->how == CFI_AT_CFA &&
		cfa + (uint64_t)(int64_t)p->offset < w->now.value[w->arch->sp];
}

/* A register that is lost, but for the return address, is no trouble until somebody needs it. */
static int
restore(struct walk *w, const struct cfi *cfi, const struct cfi_rule *rule, uint64_t cfa,
	struct cfi_registers *caller)
{
	const unsigned ra = w->arch->ra;

	for (size_t i = 1; i < rule->nr; i++) {
		const struct cfi_place p = cfi_rule_place(rule, i);
		uint64_t v;

		if (p.how == CFI_UNDEFINED && p.target == ra)
			return UNWIND_END;
		if (p.target != ra && is_popped(w, &p, cfa))
			continue;
		if (place_value(w, cfi, &p, &cfa, &v))
			cfi_register_set(caller, p.target, v);
		else if (p.target == ra)
			return unread(w);
		else
			caller->known &= ~(UINT32_C(1) << p.target);
	}
	return GO_ON;
}

/*
 * Hand-written assembler pushes a word around a loop and leaves its rule as it was (glibc's memcpy() for i386): what the
 * rule finds is that word, and the return address is above it. Only an interrupted instruction can be there.
 */
static void
pass_pushed(struct walk *w, const struct cfi_place *first, struct cfi_registers *caller,
	    uint64_t *ra)
{
	const unsigned sp = w->arch->sp;
	uint64_t above;

	if (w->frame.is_return || w->arch->link_register || first->how != CFI_REGISTER ||
	    first->reg != sp || is_code(w, *ra) ||
	    !stack_copy_word(&w->stack, caller->value[sp], &above) || !is_return_address(w, above))
		return;
	caller->value[sp] += w->arch->word;
	*ra = above;
}

static int
by_rule(struct walk *w, const struct cfi *cfi, uint32_t number)
{
	const struct cfi_rule rule = cfi_rule(cfi, number);
	const struct cfi_place first = cfi_rule_place(&rule, 0);
	const bool signal_frame = first.target == CFI_SIGNAL_FRAME;
	const unsigned sp = w->arch->sp, ra = w->arch->ra;
	struct cfi_registers caller = w->now;
	uint64_t cfa, to;
	int stop;

	w->stack.beyond = false;
	if (!place_value(w, cfi, &first, NULL, &cfa))
		return unread(w);
	if (!signal_frame)
		caller.known &= w->arch->preserved;
	caller.known &= ~(UINT32_C(1) << ra);
	cfi_register_set(&caller, sp, cfa);
	stop = restore(w, cfi, &rule, cfa, &caller);
	if (stop != GO_ON)
		return stop;
	if (!cfi_register(&caller, sp, &to))
		return UNWIND_BAD_CFI;
	/* No rule for it: a leaf has it in the link register still. */
	if (!cfi_register(&caller, ra, &to) &&
	    !(w->arch->link_register && cfi_register(&w->now, ra, &to)))
		return UNWIND_BAD_CFI;
	if (!signal_frame)
		pass_pushed(w, &first, &caller, &to);
	return step_to(w, &caller, to, !signal_frame);
}

/* --- without a rule ---------------------------------------------------------------------- */

/* A frame record: the caller's frame pointer, and above it the return address. */
static int
by_frame_pointer(struct walk *w, int why)
{
	const uint64_t sp = w->now.value[w->arch->sp], word = w->arch->word;
	struct cfi_registers caller = { .known = 0 };
	uint64_t fp, saved, ra;
	int stop;

	if (!cfi_register(&w->now, w->arch->fp, &fp))
		return why;
	/* A chain of records ends with a 0. */
	if (fp == 0 && w->by_record)
		return UNWIND_END;
	if (fp % word != 0 || fp < sp)
		return why;
	w->stack.beyond = false;
	if (!stack_copy_word(&w->stack, fp, &saved) || !stack_copy_word(&w->stack, fp + word, &ra))
		return w->stack.beyond && fp - sp < FRAME_BYTES_MAX ? UNWIND_CUT : why;
	/* The outermost record has zeros. */
	if (ra == 0 && saved == 0)
		return UNWIND_END;
	if (!is_code(w, ra))
		return why;
	cfi_register_set(&caller, w->arch->fp, saved);
	cfi_register_set(&caller, w->arch->sp, fp + 2 * word);
	stop = step_to(w, &caller, ra, true);
	w->by_record = stop == GO_ON;
	return stop;
}

/* What was interrupted may have been called just now, and has done nothing yet. */
static int
by_call(struct walk *w, int why)
{
	struct cfi_registers caller = w->now;
	const unsigned sp = w->arch->sp;
	uint64_t ra;

	if (w->arch->link_register) {
		if (!cfi_register(&w->now, w->arch->ra, &ra) || !is_code(w, ra))
			return why;
		caller.known &= ~(UINT32_C(1) << w->arch->ra);
	} else {
		if (!stack_copy_word(&w->stack, w->now.value[sp], &ra) || !is_code(w, ra))
			return why;
		caller.value[sp] += w->arch->word;
	}
	return step_to(w, &caller, ra, true);
}

static int
without_rule(struct walk *w, bool frameless, int why)
{
	int stop = frameless ? why : by_frame_pointer(w, why);

	if (stop == why && !w->frame.is_return)
		stop = by_call(w, why);
	return stop;
}

/*
 * Was the address of a function's first instruction put where a return address is, as makecontext() puts that of
 * __start_context()? There the stack of a coroutine begins.
 */
static bool
is_pushed(struct walk *w, const struct unwind_code *code)
{
	struct unwind_code first = { .cfi = code->cfi, .vaddr = code->vaddr + 1 };
	const struct known_rule *known;
	struct cfi_rule rule;
	struct cfi_place cfa;

	if (!w->frame.is_return || !cfi_begins_apart(code->cfi, first.vaddr))
		return false;
	known = find_rule(w->u, &first, false);
	if (!known || known->found <= 0)
		return false;
	rule = cfi_rule(code->cfi, known->rule);
	cfa = cfi_rule_place(&rule, 0);
	return cfa.target != CFI_SIGNAL_FRAME && cfa.how == CFI_REGISTER && cfa.reg == w->arch->sp;
}

/* By what the code does from here on. */
static int
by_code(struct walk *w, const struct unwind_code *code, int why)
{
	struct cfi_registers caller;
	uint64_t ra;
	const struct code_path_query q = { .cfi = code->cfi,
					   .vaddr = code->vaddr + w->frame.is_return,
					   .now = &w->now,
					   .stack = &w->stack,
					   .ways = &w->u->ways,
					   .steps = &w->code_steps,
					   .is_return = is_return_address,
					   .arg = w };

	switch (code_path(&q, &caller, &ra)) {
	case CODE_PATH_RETURNS:
		return step_to(w, &caller, ra, true);
	case CODE_PATH_CUT:
		return UNWIND_CUT;
	case CODE_PATH_ENDS:
		return w->frame.is_return ? UNWIND_END : why;
	case CODE_PATH_LOST:
		break;
	}
	return why;
}

/* On to what a signal interrupted, by what the kernel saved. */
static int
by_signal_code(struct walk *w, const struct signal_code *code, uint64_t offset)
{
	struct cfi_registers interrupted;
	uint64_t ip;

	w->stack.beyond = false;
	if (!signal_frame_registers(code, offset, w->now.value[w->arch->sp], &w->stack,
				    &interrupted, &ip))
		return unread(w);
	return step_to(w, &interrupted, ip, false);
}

/* --- the walk ---------------------------------------------------------------------------- */

static int
step(struct walk *w)
{
	struct unwinder *u = w->u;
	struct unwind_code code = { .cfi = NULL };
	const struct known_rule *known = NULL;
	int stop = UNWIND_NO_CFI;
	const bool mapped = w->find(w->arg, w->frame.ip - w->frame.is_return, &code);

	/* The sampled place is one, whatever is there. */
	if (!mapped && u->nr > 0)
		return UNWIND_NO_MAP;
	if (u->nr == UNWIND_FRAMES_MAX)
		return UNWIND_LIMIT;
	u->frames[u->nr++] = w->frame;
	/* A file of another machine is no code of this process, such as the vDSO of a 32-bit one. */
	if (code.cfi && cfi_arch(code.cfi) != w->arch)
		code.cfi = NULL;
	if (mapped && code.cfi && cfi_ends_stack(code.cfi, code.vaddr, w->frame.is_return))
		return UNWIND_END;
	if (mapped && code.cfi) {
		known = find_rule(u, &code, w->frame.is_return);
		if (!known)
			return -FMT_E_NOMEM;
		if (known->signal)
			return by_signal_code(w, known->signal, known->offset);
	}
	/* In expressions of machines without one, its column is the address of the instruction. */
	if (!w->arch->link_register)
		cfi_register_set(&w->now, w->arch->ra, w->frame.ip);
	if (known && known->found > 0)
		stop = by_rule(w, code.cfi, known->rule);
	else if (known && known->found < 0)
		stop = UNWIND_BAD_CFI;
	if (stop == UNWIND_NO_CFI && code.cfi)
		stop = by_code(w, &code, stop);
	if (stop == UNWIND_NO_CFI && code.cfi &&
	    (cfi_is_entry(code.cfi, code.vaddr) || is_pushed(w, &code)))
		return UNWIND_END;
	if (stop == UNWIND_BAD_CFI || stop == UNWIND_NO_CFI)
		stop = without_rule(w, code.frameless, mapped ? stop : UNWIND_NO_MAP);
	return stop;
}

int
unwind(struct unwinder *u, const struct unwind_sample *s, unwind_find_fn *find, void *arg,
       const struct unwind_frame **ret, size_t *ret_nr)
{
	struct walk w = {
		.u = u,
		.arch = s->arch,
		.now = s->registers,
		.frame = { .ip = s->ip },
		.stack = s->stack,
		.steps = EXPRESSION_STEPS_MAX,
		.code_steps = CODE_STEPS_MAX,
		.find = find,
		.arg = arg,
	};
	int stop;

	u->nr = 0;
	do
		stop = step(&w);
	while (stop == GO_ON);
	*ret = u->frames;
	*ret_nr = u->nr;
	u->used = w.stack.used;
	return stop == UNWIND_CUT && s->is_short ? UNWIND_SHORT : stop;
}

uint64_t
unwinder_used(const struct unwinder *u)
{
	return u->used;
}
