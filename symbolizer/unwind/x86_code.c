/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/unwind/x86_code.h"

#define REX_B 1
#define REX_X 2
#define REX_R 4
#define REX_W 8

/* What follows an opcode. */
#define M 1 /* ModRM */
#define B 2 /* a byte */
#define Z 4 /* 4 bytes, or 2 with an operand size prefix */
#define W 8 /* 2 bytes */
#define BAD 16

/* By opcode: of the map without a prefix, and of 0f. Prefixes and what is read apart are BAD. */
static const uint8_t one_byte[256] = {
	M,     M,     M,   M,	  B,   Z,   BAD,   BAD,
	M,     M,     M,   M,	  B,   Z,   BAD,   BAD, /* 00 */
	M,     M,     M,   M,	  B,   Z,   BAD,   BAD,
	M,     M,     M,   M,	  B,   Z,   BAD,   BAD, /* 10 */
	M,     M,     M,   M,	  B,   Z,   BAD,   BAD,
	M,     M,     M,   M,	  B,   Z,   BAD,   BAD, /* 20 */
	M,     M,     M,   M,	  B,   Z,   BAD,   BAD,
	M,     M,     M,   M,	  B,   Z,   BAD,   BAD, /* 30 */
	0,     0,     0,   0,	  0,   0,   0,	   0,
	0,     0,     0,   0,	  0,   0,   0,	   0, /* 40 */
	0,     0,     0,   0,	  0,   0,   0,	   0,
	0,     0,     0,   0,	  0,   0,   0,	   0, /* 50 */
	BAD,   BAD,   BAD, M,	  BAD, BAD, BAD,   BAD,
	Z,     M | Z, B,   M | B, 0,   0,   0,	   0, /* 60 */
	B,     B,     B,   B,	  B,   B,   B,	   B,
	B,     B,     B,   B,	  B,   B,   B,	   B, /* 70 */
	M | B, M | Z, BAD, M | B, M,   M,   M,	   M,
	M,     M,     M,   M,	  M,   M,   M,	   M, /* 80 */
	0,     0,     0,   0,	  0,   0,   0,	   0,
	0,     0,     BAD, 0,	  0,   0,   0,	   0, /* 90 */
	BAD,   BAD,   BAD, BAD,	  0,   0,   0,	   0,
	B,     Z,     0,   0,	  0,   0,   0,	   0, /* a0 */
	B,     B,     B,   B,	  B,   B,   B,	   B,
	Z,     Z,     Z,   Z,	  Z,   Z,   Z,	   Z, /* b0 */
	M | B, M | B, W,   0,	  BAD, BAD, M | B, M | Z,
	BAD,   0,     BAD, BAD,	  0,   B,   BAD,   BAD, /* c0 */
	M,     M,     M,   M,	  BAD, BAD, BAD,   0,
	M,     M,     M,   M,	  M,   M,   M,	   M, /* d0 */
	B,     B,     B,   B,	  B,   B,   B,	   B,
	Z,     Z,     BAD, B,	  0,   0,   0,	   0, /* e0 */
	BAD,   0,     BAD, BAD,	  0,   0,   M,	   M,
	0,     0,     0,   0,	  0,   0,   M,	   M, /* f0 */
};
static const uint8_t two_bytes[256] = {
	M,     M,     M,     M,	    BAD,   0,	  0,	 0,
	0,     0,     BAD,   0,	    BAD,   M,	  0,	 BAD, /* 00 */
	M,     M,     M,     M,	    M,	   M,	  M,	 M,
	M,     M,     M,     M,	    M,	   M,	  M,	 M, /* 10 */
	M,     M,     M,     M,	    BAD,   BAD,	  BAD,	 BAD,
	M,     M,     M,     M,	    M,	   M,	  M,	 M, /* 20 */
	0,     0,     0,     0,	    0,	   0,	  BAD,	 0,
	BAD,   BAD,   BAD,   BAD,   BAD,   BAD,	  BAD,	 BAD, /* 30 */
	M,     M,     M,     M,	    M,	   M,	  M,	 M,
	M,     M,     M,     M,	    M,	   M,	  M,	 M, /* 40 */
	M,     M,     M,     M,	    M,	   M,	  M,	 M,
	M,     M,     M,     M,	    M,	   M,	  M,	 M, /* 50 */
	M,     M,     M,     M,	    M,	   M,	  M,	 M,
	M,     M,     M,     M,	    M,	   M,	  M,	 M, /* 60 */
	M | B, M | B, M | B, M | B, M,	   M,	  M,	 0,
	M,     M,     BAD,   BAD,   M,	   M,	  M,	 M, /* 70 */
	Z,     Z,     Z,     Z,	    Z,	   Z,	  Z,	 Z,
	Z,     Z,     Z,     Z,	    Z,	   Z,	  Z,	 Z, /* 80 */
	M,     M,     M,     M,	    M,	   M,	  M,	 M,
	M,     M,     M,     M,	    M,	   M,	  M,	 M, /* 90 */
	0,     0,     0,     M,	    M | B, M,	  BAD,	 BAD,
	0,     0,     0,     M,	    M | B, M,	  M,	 M, /* a0 */
	M,     M,     M,     M,	    M,	   M,	  M,	 M,
	M,     M,     M | B, M,	    M,	   M,	  M,	 M, /* b0 */
	M,     M,     M | B, M,	    M | B, M | B, M | B, M,
	0,     0,     0,     0,	    0,	   0,	  0,	 0, /* c0 */
	M,     M,     M,     M,	    M,	   M,	  M,	 M,
	M,     M,     M,     M,	    M,	   M,	  M,	 M, /* d0 */
	M,     M,     M,     M,	    M,	   M,	  M,	 M,
	M,     M,     M,     M,	    M,	   M,	  M,	 M, /* e0 */
	M,     M,     M,     M,	    M,	   M,	  M,	 M,
	M,     M,     M,     M,	    M,	   M,	  M,	 M, /* f0 */
};

struct reading {
	struct span left;
	bool narrow, operand16, good;
	uint8_t rex;
	uint8_t map; /* 0; 1: 0f; 2: 0f 38; 3: 0f 3a */
	bool vector; /* VEX or EVEX */
	uint8_t op;
	/* ModRM: */
	uint8_t mod, reg, rm; /* with REX */
	bool has_base,
		fixed; /* memory at rm + displacement alone; memory at an address that the code has */
	int32_t displacement;
	int64_t immediate;
};

static uint8_t
next(struct reading *r)
{
	uint8_t byte = 0;

	r->good = r->good && span_u8(&r->left, &byte);
	return byte;
}

static int32_t
next_signed(struct reading *r, unsigned bytes)
{
	uint32_t v = 0;

	for (unsigned i = 0; i < bytes; i++)
		v |= (uint32_t)next(r) << (8 * i);
	if (bytes == 1)
		return (int8_t)v;
	return bytes == 2 ? (int16_t)v : (int32_t)v;
}

static bool
is_prefix(uint8_t byte)
{
	switch (byte) {
	case 0x26:
	case 0x2e:
	case 0x36:
	case 0x3e:
	case 0x64:
	case 0x65:
	case 0x66:
	case 0x67:
	case 0xf0:
	case 0xf2:
	case 0xf3:
		return true;
	default:
		return false;
	}
}

/* Of VEX (c4, c5) and EVEX (62), whose bits are those of REX, inverted. */
static void
read_vector(struct reading *r, uint8_t first)
{
	const uint8_t second = next(r);

	r->vector = true;
	r->rex = (second & 0x80) == 0 ? REX_R : 0;
	r->map = 1;
	if (first != 0xc5) {
		r->map = second & (first == 0x62 ? 0x07 : 0x1f);
		r->rex |= ((second & 0x40) == 0 ? REX_X : 0) | ((second & 0x20) == 0 ? REX_B : 0);
		next(r);
	}
	if (first == 0x62)
		next(r);
	r->op = next(r);
	r->good = r->good && r->map >= 1 && r->map <= 3;
}

/* In 32-bit code what VEX and EVEX begin with is les, lds and bound, of which the second byte names memory. */
static bool
is_vector(const struct reading *r, uint8_t byte)
{
	if (byte != 0xc4 && byte != 0xc5 && byte != 0x62)
		return false;
	return !r->narrow || (r->left.len > 0 && r->left.p[0] >= 0xc0);
}

static void
read_opcode(struct reading *r)
{
	uint8_t byte = next(r);

	for (; r->good && is_prefix(byte); byte = next(r)) {
		r->operand16 |= byte == 0x66;
		/* 16-bit addresses. */
		r->good = r->good && !(byte == 0x67 && r->narrow);
	}
	if (!r->narrow && (byte & 0xf0) == 0x40) {
		r->rex = byte & 0x0f;
		byte = next(r);
	}
	if (is_vector(r, byte)) {
		read_vector(r, byte);
		return;
	}
	if (byte == 0x0f) {
		r->map = 1;
		byte = next(r);
		if (byte == 0x38 || byte == 0x3a) {
			r->map = byte == 0x38 ? 2 : 3;
			byte = next(r);
		}
	}
	r->op = byte;
}

static void
read_modrm(struct reading *r)
{
	const uint8_t byte = next(r);
	uint8_t base = byte & 7;
	bool index = false;

	r->mod = byte >> 6;
	r->reg = (byte >> 3 & 7) | (r->rex & REX_R ? 8 : 0);
	if (r->mod != 3 && base == 4) {
		const uint8_t sib = next(r);

		base = sib & 7;
		index = (sib >> 3 & 7) != 4 || (r->rex & REX_X);
	}
	r->rm = base | (r->rex & REX_B ? 8 : 0);
	r->has_base = r->mod != 3 && !index;
	if (r->mod == 0 && base == 5) {
		r->has_base = false;
		r->fixed = !index;
		r->displacement = next_signed(r, 4);
	} else if (r->mod == 1 || r->mod == 2) {
		r->displacement = next_signed(r, r->mod == 1 ? 1 : 4);
	}
}

static unsigned
immediate_bytes(const struct reading *r, uint8_t follows)
{
	const uint8_t digit = r->reg & 7;
	const bool is_test = r->map == 0 && (r->op == 0xf6 || r->op == 0xf7) && digit <= 1;
	const bool is_near = (r->map == 0 && (r->op == 0xe8 || r->op == 0xe9)) ||
		(r->map == 1 && (r->op & 0xf0) == 0x80);

	if (is_test)
		follows |= r->op == 0xf6 ? B : Z;
	if (follows & B)
		return 1;
	if (follows & W)
		return 2;
	if (!(follows & Z))
		return 0;
	return r->operand16 && !(r->rex & REX_W) && !(is_near && !r->narrow) ? 2 : 4;
}

static void
read_operands(struct reading *r)
{
	uint8_t follows = r->map == 0 ? one_byte[r->op]
		: r->map == 1	      ? two_bytes[r->op]
				      : (r->map == 2 ? M : M | B);

	if (r->vector && r->map == 1 && follows != 0)
		follows = M | (follows & B);
	if (r->map == 0 && r->op >= 0xa0 && r->op <= 0xa3) {
		r->good = r->good && span_skip(&r->left, r->narrow ? 4 : 8);
		return;
	}
	if (r->map == 0 && (r->op & 0xf8) == 0xb8 && (r->rex & REX_W)) {
		r->good = r->good && span_skip(&r->left, 8);
		return;
	}
	if (follows & BAD)
		r->good = false;
	if (follows & M)
		read_modrm(r);
	r->immediate = next_signed(r, immediate_bytes(r, follows));
}

/* --- what it does ------------------------------------------------------------------------------ */

/* Does it work on whole words? Of one that does not the upper bits are another matter. */
static bool
is_word(const struct reading *r)
{
	return !r->operand16 && (r->narrow || (r->rex & REX_W));
}

static void
move(struct x86_code *ret, enum x86_kind kind, uint8_t to, uint8_t base, int64_t value)
{
	ret->kind = kind;
	ret->reg = to;
	ret->base = base;
	ret->value = value;
}

/* 81 and 83: add, or, adc, sbb, and, sub, xor, cmp of a constant. */
static void
of_constant(const struct reading *r, struct x86_code *ret)
{
	const uint8_t digit = r->reg & 7;

	if (r->mod != 3 || digit == 7)
		return;
	if (digit == 0 || digit == 5)
		move(ret, X86_ADD, r->rm, r->rm, digit == 0 ? r->immediate : -r->immediate);
	else if (digit == 4)
		move(ret, X86_AND, r->rm, r->rm, r->immediate);
	else if (r->rm == X86_SP)
		ret->kind = X86_LOSE;
}

/* ff: inc, dec, call, far call, jmp, far jmp, push. */
static void
of_group5(const struct reading *r, struct x86_code *ret)
{
	switch (r->reg & 7) {
	case 2:
		ret->kind = X86_CALL;
		break;
	case 4:
		ret->kind = r->mod != 3 && r->fixed ? X86_JUMP_THROUGH : X86_JUMP_AWAY;
		break;
	case 6:
		ret->kind = X86_PUSH;
		break;
	default:
		break;
	}
}

/* Does an operation of registers, or of one and memory, leave its result in the stack pointer? */
static bool
is_into_sp(const struct reading *r)
{
	const bool alu = r->op < 0x40 && (r->op & 7) < 4 && (r->op & 0x38) != 0x38;

	if (r->map == 1)
		return (r->op & 0xf0) == 0x40 && r->reg == X86_SP;
	if (alu && (r->op & 2))
		return r->reg == X86_SP;
	if (r->op == 0x87)
		return r->reg == X86_SP || (r->mod == 3 && r->rm == X86_SP);
	return (alu || r->op == 0xc7) && r->mod == 3 && r->rm == X86_SP;
}

static void
of_moves(const struct reading *r, struct x86_code *ret)
{
	const uint8_t from = r->op == 0x89 ? r->reg : r->rm, to = r->op == 0x89 ? r->rm : r->reg;

	if (r->op == 0x8d) {
		if (is_word(r) && r->has_base)
			move(ret, X86_MOVE, r->reg, r->rm, r->displacement);
		else if (r->reg == X86_SP)
			ret->kind = X86_LOSE;
	} else if (r->mod == 3) {
		if (is_word(r))
			move(ret, X86_MOVE, to, from, 0);
		else if (to == X86_SP)
			ret->kind = X86_LOSE;
	} else if (r->op == 0x8b) {
		if (is_word(r) && r->has_base)
			move(ret, X86_LOAD, r->reg, r->rm, r->displacement);
		else if (r->reg == X86_SP)
			ret->kind = X86_LOSE;
	}
}

static void
of_jumps(const struct reading *r, struct x86_code *ret, uint64_t next_vaddr)
{
	const bool near = r->op == 0xe8 || r->op == 0xe9 || r->op == 0xeb;

	ret->kind = r->map == 1 || !near ? X86_BRANCH : r->op == 0xe8 ? X86_CALL : X86_JUMP;
	ret->is_direct = true;
	ret->target = next_vaddr + (uint64_t)r->immediate;
	if (r->narrow)
		ret->target = (uint32_t)ret->target;
}

static void
of_one_byte(const struct reading *r, struct x86_code *ret, uint64_t next_vaddr)
{
	const uint8_t low = (r->op & 7) | (r->rex & REX_B ? 8 : 0);

	if ((r->op & 0xf8) == 0x50 || r->op == 0x68 || r->op == 0x6a || r->op == 0x9c)
		ret->kind = X86_PUSH;
	else if ((r->op & 0xf8) == 0x58)
		move(ret, X86_POP, low, X86_NO_REGISTER, 0);
	else if (r->op == 0x9d || r->op == 0x8f)
		move(ret, X86_POP, r->op == 0x8f && r->mod == 3 ? r->rm : X86_NO_REGISTER,
		     X86_NO_REGISTER, 0);
	else if (r->op == 0x81 || r->op == 0x83)
		of_constant(r, ret);
	else if (r->op == 0x89 || r->op == 0x8b || r->op == 0x8d)
		of_moves(r, ret);
	else if (r->op == 0xc9)
		ret->kind = X86_LEAVE;
	else if (r->op == 0xc3 || r->op == 0xc2)
		move(ret, X86_RETURN, X86_NO_REGISTER, X86_NO_REGISTER, r->immediate & 0xffff);
	else if ((r->op & 0xf0) == 0x70 || (r->op >= 0xe0 && r->op <= 0xe3) || r->op == 0xe8 ||
		 r->op == 0xe9 || r->op == 0xeb)
		of_jumps(r, ret, next_vaddr);
	else if (r->op == 0xff)
		of_group5(r, ret);
	else if (r->op == 0xf4)
		ret->kind = X86_HALT;
	else if (r->op == 0xcc)
		ret->kind = X86_TRAP;
}

static void
of_two_bytes(const struct reading *r, struct x86_code *ret, uint64_t next_vaddr)
{
	if ((r->op & 0xf0) == 0x80)
		of_jumps(r, ret, next_vaddr);
	else if (r->op == 0x0b)
		ret->kind = X86_TRAP;
	else if (r->op == 0xa0 || r->op == 0xa8)
		ret->kind = X86_PUSH;
	else if (r->op == 0xa1 || r->op == 0xa9)
		move(ret, X86_POP, X86_NO_REGISTER, X86_NO_REGISTER, 0);
}

bool
x86_code_read(struct span bytes, uint64_t vaddr, bool narrow, struct x86_code *ret)
{
	struct reading r = { .left = bytes, .narrow = narrow, .good = true };

	read_opcode(&r);
	if (r.good)
		read_operands(&r);
	if (!r.good || bytes.len - r.left.len > 15)
		return false;
	*ret = (struct x86_code){ .kind = X86_OTHER,
				  .len = (uint8_t)(bytes.len - r.left.len),
				  .reg = X86_NO_REGISTER,
				  .base = X86_NO_REGISTER };
	if (r.vector)
		return true;
	if (r.map == 0)
		of_one_byte(&r, ret, vaddr + ret->len);
	else if (r.map == 1)
		of_two_bytes(&r, ret, vaddr + ret->len);
	if (ret->kind == X86_OTHER && r.map <= 1 && is_into_sp(&r))
		ret->kind = X86_LOSE;
	return true;
}

bool
x86_code_ends_with_call(struct span bytes)
{
	/* How long a call by a register or through memory is, from its opcode: the displacement is of 0, 1 or 4 bytes. */
	static const uint8_t lengths[] = { 2, 3, 4, 6, 7 };
	const uint8_t *end = bytes.p + bytes.len;
	struct x86_code code;

	if (bytes.len >= 5 && end[-5] == 0xe8)
		return true;
	for (size_t i = 0; i < sizeof(lengths); i++)
		if (bytes.len >= lengths[i] && end[-lengths[i]] == 0xff &&
		    x86_code_read(span_of(end - lengths[i], lengths[i]), 0, false, &code) &&
		    code.kind == X86_CALL && code.len == lengths[i])
			return true;
	return false;
}
