/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/code/listing.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "format/bytes/array.h"
#include "format/bytes/fmt_error.h"
#include "symbolizer/object/object_store.h"

/* Of a function all of whose instructions are inlined deeply, the innermost alone are kept. */
#define FRAMES_MAX (4u << 20)

struct listing_parts {
	struct disassembly *disassembly;
	struct disassembly *first; /* of the code at the first sample; NULL: it was the same */
	struct listing_frame *frames;
	size_t nr_frames, cap_frames;
	struct listing_origin *origins; /* of the instructions, then of the hits */
	bool no_inline;
};

/* --- instructions -------------------------------------------------------------------------- */

static const char *
why_not(int error)
{
	if (error == -FMT_E_REFUSED)
		return "seccomp(2) or another part of the sandbox is refused here, without which nothing is "
		       "disassembled";
	return error == -FMT_E_UNSUPPORTED
		? "capstone here does not know the instructions of its machine"
		: "the process that disassembled it crashed, or took too long";
}

static int
take_apart(const struct function_code *c, const uint8_t *bytes, const struct listing_options *o,
	   struct disassembly **ret)
{
	const struct disassembly_code d = { .bytes = span_of(bytes, c->len),
					    .address = c->start,
					    .machine = c->machine,
					    .is64 = c->is64,
					    .intel = o->intel };

	return disassembly_make(&d, ret);
}

static int
disassemble(struct listing *l, const struct listing_options *o)
{
	const struct function_code *c = &l->code;
	int error = take_apart(c, c->bytes, o, &l->parts->disassembly);

	if (error && error != -FMT_E_NOMEM) {
		l->why = why_not(error);
		return 0;
	}
	if (error)
		return error;
	l->nr_instructions = disassembly_count(l->parts->disassembly);
	l->instructions = calloc(l->nr_instructions + 1, sizeof(*l->instructions));
	if (!l->instructions)
		return -FMT_E_NOMEM;
	for (size_t i = 0; i < l->nr_instructions; i++) {
		const struct disassembly_instruction *from =
			disassembly_at(l->parts->disassembly, i);

		l->instructions[i] =
			(struct listing_instruction){ .address = from->address,
						      .text = from->text,
						      .bytes =
							      c->bytes + (from->address - c->start),
						      .size = from->size };
	}
	return 0;
}

/* What the kernel wrote to while samples were taken, and what was there before. */
static int
note_patches(struct listing *l, const struct listing_options *o)
{
	const struct function_code *c = &l->code;
	size_t at = 0, nr;
	int error;

	if (c->patches == 0 || l->nr_instructions == 0)
		return 0;
	error = take_apart(c, c->first, o, &l->parts->first);
	nr = error ? 0 : disassembly_count(l->parts->first);
	for (size_t i = 0; i < l->nr_instructions; i++) {
		struct listing_instruction *to = &l->instructions[i];
		const struct disassembly_instruction *from;

		for (size_t k = 0; k < to->size; k++)
			if (c->patched[to->address - c->start + k] > to->patches)
				to->patches = c->patched[to->address - c->start + k];
		while (at < nr && disassembly_at(l->parts->first, at)->address < to->address)
			at++;
		from = at < nr ? disassembly_at(l->parts->first, at) : NULL;
		if (to->patches > 0 && from && from->address == to->address &&
		    strcmp(from->text, to->text) != 0)
			to->first = from->text;
	}
	return error == -FMT_E_NOMEM ? error : 0;
}

/* Instructions and hits are both by address. */
static void
weigh(struct listing *l, const struct annotation_function *f)
{
	size_t at = 0;

	for (size_t i = 0; i < f->nr_hits; i++) {
		const struct annotation_hit *hit = &f->hits[i];
		struct profile_weight *w = &l->outside;

		while (at < l->nr_instructions &&
		       hit->address - l->instructions[at].address >= l->instructions[at].size)
			at++;
		if (at < l->nr_instructions)
			w = &l->instructions[at].weight;
		profile_weigh(w, &hit->weight);
	}
}

/* Names of what is jumped to, or called. */
static int
name_targets(struct resolver *r, struct listing *l)
{
	const struct function_code *c = &l->code;
	int error = 0;

	for (size_t i = 0; c->object && !error && i < l->nr_instructions; i++) {
		struct listing_instruction *to = &l->instructions[i];
		const uint64_t target = disassembly_at(l->parts->disassembly, i)->target - c->moved;
		struct frame f;

		if (target + c->moved == 0)
			continue;
		error = resolver_address(r, c->object, target, &f);
		to->symbol = f.symbol;
		to->symbol_offset = f.symbol_offset;
	}
	return error;
}

/* --- where they come from ------------------------------------------------------------------ */

static int
take_origin(void *arg, uint32_t number, const struct frame *frames, size_t nr)
{
	struct listing_parts *p = arg;
	const size_t skip = p->no_inline ? nr - 1 : 0;

	if (p->nr_frames + nr > FRAMES_MAX)
		nr = skip + 1;
	if (array_reserve(p->frames, p->nr_frames, p->cap_frames, nr) < 0)
		return -FMT_E_NOMEM;
	p->origins[number] = (struct listing_origin){ p->nr_frames, (uint32_t)(nr - skip) };
	for (size_t i = skip; i < nr; i++)
		p->frames[p->nr_frames++] =
			(struct listing_frame){ frames[i].symbol, frames[i].file, frames[i].line };
	return 0;
}

static int
ask(struct inlines *inlines, const struct listing *l, const struct annotation_function *f,
    uint64_t address, size_t number)
{
	struct frame frame = f->frame;

	frame.object = l->code.object;
	frame.vaddr = frame.looked_up = address - l->code.moved;
	return inlines_add(inlines, &frame, (uint32_t)number);
}

static int
find_origins(struct inlines *inlines, struct listing *l, const struct annotation_function *f)
{
	struct stat st;
	int error = 0;

	l->parts->origins = calloc(l->nr_instructions + f->nr_hits, sizeof(*l->parts->origins));
	if (!l->parts->origins)
		return -FMT_E_NOMEM;
	if (!inlines || !l->code.object || l->code.object->debug_fd < 0)
		return 0;
	if (fstat(l->code.object->debug_fd, &st) == 0)
		/* Of a copy nobody knows whose it was: what everybody may read is shown, and no more. */
		l->named_by = l->code.object->stored ? (uid_t)-1 : st.st_uid;
	for (size_t i = 0; !error && i < l->nr_instructions; i++)
		error = ask(inlines, l, f, l->instructions[i].address, i);
	for (size_t i = 0; !error && i < f->nr_hits; i++)
		error = ask(inlines, l, f, f->hits[i].address, l->nr_instructions + i);
	if (!error)
		error = inlines_run(inlines, take_origin, l->parts);
	l->frames = l->parts->frames;
	for (size_t i = 0; i < l->nr_instructions; i++)
		l->instructions[i].origin = l->parts->origins[i];
	return error;
}

/* --- lines --------------------------------------------------------------------------------- */

/* Strings are interned: other pointers are other names; their order does not depend on where they are. */
static int
compare_texts(const char *a, const char *b)
{
	if (a == b || !a || !b)
		return (a != NULL) - (b != NULL);
	return strcmp(a, b);
}

static int
compare_frames(const struct listing_frame *a, const struct listing_frame *b)
{
	int c = compare_texts(a->file, b->file);

	if (c == 0)
		c = (a->line > b->line) - (a->line < b->line);
	return c ? c : compare_texts(a->function, b->function);
}

struct order {
	const struct listing_frame *frames;
	bool by_chain;
};

static int
compare_origins(const struct order *o, const struct listing_origin *a,
		const struct listing_origin *b)
{
	int c = (a->nr > 0) - (b->nr > 0);

	for (uint32_t i = 0; c == 0 && i < a->nr && i < b->nr && (i == 0 || o->by_chain); i++)
		c = compare_frames(&o->frames[a->first + i], &o->frames[b->first + i]);
	return c || !o->by_chain ? c : (a->nr > b->nr) - (a->nr < b->nr);
}

static int
compare_lines(const void *va, const void *vb, void *order)
{
	const struct listing_line *a = va, *b = vb;

	return compare_origins(order, &a->origin, &b->origin);
}

static int
compare_heat(const void *va, const void *vb, void *order)
{
	const struct profile_weight *a = &((const struct listing_line *)va)->weight;
	const struct profile_weight *b = &((const struct listing_line *)vb)->weight;

	if (a->period != b->period)
		return a->period < b->period ? 1 : -1;
	if (a->samples != b->samples)
		return a->samples < b->samples ? 1 : -1;
	return compare_lines(va, vb, order);
}

static int
add_lines(struct listing *l, const struct annotation_function *f, bool by_chain)
{
	struct order order = { l->frames, by_chain };
	size_t nr = 0;

	l->lines = calloc(f->nr_hits, sizeof(*l->lines));
	if (!l->lines)
		return -FMT_E_NOMEM;
	for (size_t i = 0; i < f->nr_hits; i++)
		l->lines[i] = (struct listing_line){ l->parts->origins[l->nr_instructions + i],
						     f->hits[i].weight };
	qsort_r(l->lines, f->nr_hits, sizeof(*l->lines), compare_lines, &order);
	for (size_t i = 0; i < f->nr_hits; i++) {
		struct listing_line *last = nr > 0 ? &l->lines[nr - 1] : NULL;

		if (last && compare_lines(last, &l->lines[i], &order) == 0) {
			last->weight.samples += l->lines[i].weight.samples;
			last->weight.period += l->lines[i].weight.period;
		} else {
			l->lines[nr++] = l->lines[i];
		}
	}
	l->nr_lines = nr;
	qsort_r(l->lines, nr, sizeof(*l->lines), compare_heat, &order);
	return 0;
}

int
listing_make(struct resolver *resolver, struct inlines *inlines, struct kernel_code *kernel,
	     const struct annotation_function *f, const struct listing_options *options,
	     struct listing *ret)
{
	int error;

	*ret = (struct listing){ .parts = calloc(1, sizeof(*ret->parts)) };
	if (!ret->parts)
		return -FMT_E_NOMEM;
	ret->parts->no_inline = options->no_inline;
	error = function_code_read(kernel, f, &ret->code);
	ret->why = ret->code.why;
	if (!error && !ret->why && !options->no_instructions)
		error = disassemble(ret, options);
	if (!error)
		error = note_patches(ret, options);
	if (error)
		return error;
	if (ret->nr_instructions > 0)
		weigh(ret, f);
	error = name_targets(resolver, ret);
	if (!error)
		error = find_origins(inlines, ret, f);
	return error ? error : add_lines(ret, f, options->by_chain);
}

void
listing_done(struct listing *l)
{
	function_code_done(&l->code);
	free(l->instructions);
	free(l->lines);
	if (l->parts) {
		disassembly_free(l->parts->disassembly);
		disassembly_free(l->parts->first);
		free(l->parts->frames);
		free(l->parts->origins);
	}
	free(l->parts);
	l->parts = NULL;
}
