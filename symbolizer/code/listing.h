/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * listing: a function as instructions and as lines of the source, with the samples of each.
 *
 * An instruction has the samples of all addresses in it. A line has those of the addresses that the
 * compiler made of it, in this function: of calls that were inlined, the lines of what was called.
 */
#ifndef SYMBOLIZER_CODE_LISTING_H
#define SYMBOLIZER_CODE_LISTING_H

#include "symbolizer/code/disassembly.h"
#include "symbolizer/code/function_code.h"
#include "symbolizer/resolve/inlines.h"

/* Where code came from: the call in the next one was inlined. */
struct listing_frame {
	const char *function, *file; /* NULL: not known */
	uint32_t line;		     /* 0: not known */
};

struct listing_origin {
	size_t first; /* in frames, the innermost first; the last is the function itself */
	uint32_t nr;  /* 0: nothing is known */
};

struct listing_instruction {
	uint64_t address;
	const char *text;
	const uint8_t *bytes;
	uint8_t size;
	const char
		*symbol; /* of the function that it jumps into or calls; NULL: none, or not known */
	uint64_t symbol_offset;
	uint32_t patches; /* how often it was written to while samples were taken */
	const char *
		first; /* what it was before, where that was one instruction, and another one; else NULL */
	struct listing_origin origin;
	struct profile_weight weight;
};

struct listing_line {
	struct listing_origin origin; /* one of those that are counted together; nr 0: no line */
	struct profile_weight weight;
};

struct listing {
	struct function_code code;
	const char *why; /* there are no instructions; NULL: there are */
	struct listing_instruction *instructions;
	size_t nr_instructions;
	struct listing_line *lines; /* by weight, descending */
	size_t nr_lines;
	struct profile_weight outside; /* samples at addresses that are not among the instructions */
	const struct listing_frame *frames;
	uid_t named_by; /* the owner of the file with the debug information */
	struct listing_parts *parts;
};

struct listing_options {
	bool intel;
	bool no_instructions;
	bool no_inline; /* lines are those of the function itself, where it calls what was inlined */
	bool by_chain;	/* lines are told apart by the calls that were inlined, too */
};

/* inlines may be NULL: no lines. 0, -FMT_E_NOMEM. listing_done() in any case. */
int listing_make(struct resolver *resolver, struct inlines *inlines, struct kernel_code *kernel,
		 const struct annotation_function *f, const struct listing_options *options,
		 struct listing *ret);
void listing_done(struct listing *l);

#endif
