/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/unwind/cfi.h"

#include <stdlib.h>

#include <elf.h>

#include "format/bytes/array.h"
#include "format/bytes/fmt_error.h"
#include "symbolizer/object/elf_bytes.h"
#include "symbolizer/object/elf_cfi.h"
#include "symbolizer/object/elf_gopclntab.h"
#include "symbolizer/object/symtab.h"
#include "symbolizer/unwind/go_stack.h"

/* Where rows stand that have not been compiled, or cannot be: the error, negative, above this. */
#define NOT_COMPILED UINT32_MAX
#define NO_ROWS (UINT32_MAX - 256)

#define ENTRY_BYTES 64 /* of glibc's ld.so, with what follows its first call, 61 */

struct fde {
	uint64_t start;
	uint32_t length;
	uint32_t offset; /* of the entry in its section */
	uint32_t first;	 /* row; NOT_COMPILED; NO_ROWS + an enum fmt_error */
	uint32_t nr : 31;
	uint32_t is_eh : 1;
};

#define GO_ENDS_MAX 16 /* functions of go_stack.h that a program has: ten, in Go 1.24 */

struct go_end {
	uint64_t start, length;
	bool is_signal;
};

enum section {
	DEBUG_FRAME,
	EH_FRAME,
	SECTIONS,
};

struct cfi {
	const struct cfi_arch *arch;
	struct elf_bytes bytes[SECTIONS];
	struct cfi_section sections[SECTIONS];
	struct fde *fdes; /* by start; none over another */
	size_t nr, cap;
	struct cfi_rows rows;
	uint64_t made_start, made_size; /* of code that no file has */
	uint64_t entry;
	struct go_end ends[GO_ENDS_MAX];
	size_t nr_ends;
	bool is_go;		    /* its code keeps frame pointers, and changes stacks */
	struct elf_signals signals; /* of which no FDE knows */
	struct cfi_gaps gaps;
};

/* --- the index --------------------------------------------------------------------------- */

struct indexing {
	struct cfi *c;
	struct elf_object *o; /* NULL: code that no file has */
	enum section number;
	size_t max; /* FDEs that the index may have */
};

static bool
is_code(const struct indexing *i, uint64_t start, uint64_t length)
{
	const struct cfi *c = i->c;

	if (i->o)
		return elf_cfi_is_code(i->o, start, length);
	return start - c->made_start < c->made_size &&
		length <= c->made_size - (start - c->made_start);
}

/*
 * Code that the linker dropped leaves FDEs at 0, or of no length: what is not in a segment of code
 * is passed over.
 */
static int
index_add(void *arg, const struct cfi_entry *entry, const struct cfi_cie *cie,
	  const struct cfi_fde *f)
{
	const struct indexing *i = arg;
	struct cfi *c = i->c;
	int err;

	(void)cie;
	if (!is_code(i, f->start, f->length))
		return 0;
	if (c->nr >= i->max)
		return -FMT_E_TOO_BIG;
	err = array_reserve(c->fdes, c->nr, c->cap, 1);
	if (err == 0)
		c->fdes[c->nr++] = (struct fde){ .start = f->start,
						 .length = (uint32_t)f->length,
						 .offset = (uint32_t)entry->offset,
						 .first = NOT_COMPILED,
						 .is_eh = i->number == EH_FRAME };
	return err;
}

static int
index_section(struct cfi *c, struct elf_object *o, enum section number, size_t max)
{
	const size_t sections = c->bytes[EH_FRAME].len + c->bytes[DEBUG_FRAME].len;
	struct indexing i = { .c = c, .o = o, .number = number };

	if (sections > max)
		return -FMT_E_TOO_BIG;
	i.max = (max - sections) / sizeof(*c->fdes);
	return cfi_entry_each(&c->sections[number], index_add, &i);
}

/* Of two that begin at one address .eh_frame's is the first: it is what the program itself uses. */
static int
compare_fdes(const void *a, const void *b)
{
	const struct fde *x = a, *y = b;

	if (x->start != y->start)
		return x->start > y->start ? 1 : -1;
	if (x->is_eh != y->is_eh)
		return y->is_eh - x->is_eh;
	return (x->offset > y->offset) - (x->offset < y->offset);
}

static void
index_sort(struct cfi *c)
{
	size_t kept = 0;

	if (c->nr == 0)
		return;
	qsort(c->fdes, c->nr, sizeof(*c->fdes), compare_fdes);
	for (size_t i = 1; i < c->nr; i++) {
		struct fde *before = &c->fdes[kept];

		if (c->fdes[i].start == before->start)
			continue;
		if (before->length > c->fdes[i].start - before->start)
			before->length = (uint32_t)(c->fdes[i].start - before->start);
		c->fdes[++kept] = c->fdes[i];
	}
	c->nr = kept + 1;
	if (c->cap > c->nr) {
		void *less = reallocarray(c->fdes, c->nr, sizeof(*c->fdes));

		c->fdes = less ? less : c->fdes;
		c->cap = less ? c->nr : c->cap;
	}
}

/* --- the file ---------------------------------------------------------------------------- */

static int
read_section(struct cfi *c, struct elf_object *o, struct elf_object *debug, enum section number,
	     size_t max)
{
	struct cfi_section *s = &c->sections[number];
	int err = elf_cfi_read(o, debug, number == EH_FRAME, &c->bytes[number], s);

	if (err)
		return err == -FMT_E_EMPTY ? 0 : err;
	return index_section(c, o, number, max);
}

/* Of a Go program: its runtime knows its functions by name, stripped or not. */
static int
find_go_ends(struct cfi *c, struct elf_object *o)
{
	struct symtab_builder *b = symtab_builder_new();
	struct symtab *names = NULL;
	struct symbol s;
	int err = b ? elf_gopclntab_symbols(o, b) : -FMT_E_NOMEM;

	if (err < 0)
		symtab_builder_free(b);
	else
		err = symtab_build(b, &names);
	c->is_go = err == 0 && symtab_count(names) > 0;
	for (size_t i = 0;
	     err == 0 && symtab_count(names) > 0 && i < c->nr && c->nr_ends < GO_ENDS_MAX; i++) {
		const uint64_t start = c->fdes[i].start;

		if (!symtab_find(names, start, &s) || s.start != start ||
		    go_stack_end_of(s.name) == GO_STACK_GOES_ON)
			continue;
		c->ends[c->nr_ends++] =
			(struct go_end){ .start = start,
					 .length = c->fdes[i].length,
					 .is_signal = go_stack_end_of(s.name) == GO_STACK_SIGNAL };
	}
	symtab_free(names);
	return err;
}

bool
cfi_ends_stack(const struct cfi *c, uint64_t vaddr, bool is_return)
{
	for (size_t i = 0; i < c->nr_ends; i++) {
		const struct go_end *e = &c->ends[i];

		/* A handler returns to the first of sigreturn()'s instructions, and was not called from there. */
		if (vaddr + (e->is_signal && is_return) - e->start < e->length)
			return true;
	}
	return false;
}

/* --- signal handlers return to --------------------------------------------------------------- */

static const struct fde *fde_at(const struct cfi *c, uint64_t vaddr);

static int
find_signals(struct cfi *c, struct elf_object *o)
{
	struct elf_signals found;
	int err = elf_signals_find(o, &found);

	for (size_t i = 0; err == 0 && i < found.nr; i++)
		if (!fde_at(c, found.at[i].vaddr))
			c->signals.at[c->signals.nr++] = found.at[i];
	return err;
}

const struct signal_code *
cfi_signal_code(const struct cfi *c, uint64_t vaddr, bool is_return, uint64_t *ret_offset)
{
	for (size_t i = 0; i < c->signals.nr; i++) {
		const struct elf_signal *p = &c->signals.at[i];
		const uint64_t offset = vaddr + is_return - p->vaddr;

		/* Whatever is behind its begin was not called from there. */
		if (is_return ? offset != 0 : offset >= p->code->len)
			continue;
		*ret_offset = offset;
		return p->code;
	}
	return NULL;
}

/* --- code without FDEs ----------------------------------------------------------------------- */

static int
segment_gaps(struct cfi *c, struct elf_object *o, const struct elf_segment *s, size_t *fde)
{
	const uint64_t end = s->vaddr + s->filesz;
	uint64_t at = s->vaddr;
	int err = 0;

	for (; err == 0 && *fde < c->nr && c->fdes[*fde].start < end; ++*fde) {
		const struct fde *f = &c->fdes[*fde];

		if (f->start < s->vaddr)
			continue;
		err = cfi_gaps_add(&c->gaps, o, at, f->start, CFI_GAP_MIN);
		at = f->start + f->length;
	}
	return err ? err : cfi_gaps_add(&c->gaps, o, at, end, 1);
}

static int
find_gaps(struct cfi *c, struct elf_object *o)
{
	const struct elf_segment *s;
	const size_t nr = elf_object_segments(o, &s);
	size_t fde = 0;
	int err = 0;

	if (c->is_go || (c->arch->machine != EM_X86_64 && c->arch->machine != EM_386))
		return 0;
	for (size_t i = 0; err == 0 && i < nr; i++)
		if (s[i].exec && (c->gaps.nr == 0 || s[i].vaddr >= c->gaps.v[c->gaps.nr - 1].vaddr))
			err = segment_gaps(c, o, &s[i], &fde);
	if (err == 0)
		cfi_gaps_find_ends(&c->gaps, o);
	return err;
}

const struct cfi_gaps *
cfi_gaps(const struct cfi *c)
{
	return &c->gaps;
}

bool
cfi_begins_apart(const struct cfi *c, uint64_t vaddr)
{
	const struct fde *f = fde_at(c, vaddr);

	return f && f->start == vaddr && !fde_at(c, vaddr - 1) &&
		cfi_gaps_before(&c->gaps, vaddr).len == 0;
}

/* Of both files, while their sections are read. */
static void
limit(struct elf_object *o, struct elf_object *debug, size_t max)
{
	elf_bytes_limit(o, max);
	if (debug)
		elf_bytes_limit(debug, max);
}

int
cfi_new(struct elf_object *o, struct elf_object *debug, struct cfi **ret)
{
	return cfi_new_max(o, debug, SIZE_MAX, ret);
}

int
cfi_new_max(struct elf_object *o, struct elf_object *debug, size_t max, struct cfi **ret)
{
	bool is64;
	const struct cfi_arch *arch = cfi_arch_of_machine(elf_object_code_machine(o, &is64));
	struct cfi *c;
	int err = 0;

	if (!arch || arch->word != (is64 ? 8 : 4))
		return -FMT_E_UNSUPPORTED;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -FMT_E_NOMEM;
	c->arch = arch;
	c->entry = elf_object_entry(o);
	limit(o, debug, max);
	for (enum section i = 0; err == 0 && i < SECTIONS; i++)
		err = read_section(c, o, debug, i, max);
	limit(o, debug, SIZE_MAX);
	if (err == 0) {
		index_sort(c);
		err = find_go_ends(c, o);
	}
	if (err == 0)
		err = find_signals(c, o);
	if (err == 0)
		err = find_gaps(c, o);
	if (err < 0) {
		cfi_free(c);
		return err;
	}
	cfi_rows_init(&c->rows, c->bytes[EH_FRAME].len + c->bytes[DEBUG_FRAME].len);
	*ret = c;
	return 0;
}

int
cfi_new_made(const struct cfi_arch *arch, const struct cfi_made *made, struct cfi **ret)
{
	struct cfi *c = calloc(1, sizeof(*c));
	struct elf_bytes *b = c ? &c->bytes[EH_FRAME] : NULL;
	int err;

	if (!c)
		return -FMT_E_NOMEM;
	c->arch = arch;
	c->made_start = made->start;
	c->made_size = made->size;
	b->vaddr = made->eh_frame_vaddr;
	b->len = made->eh_frame.len;
	b->p = malloc(b->len + 1);
	if (!b->p) {
		cfi_free(c);
		return -FMT_E_NOMEM;
	}
	memcpy(b->p, made->eh_frame.p, b->len);
	c->sections[EH_FRAME] = (struct cfi_section){ .bytes = span_of(b->p, b->len),
						      .vaddr = b->vaddr,
						      .is_eh = true,
						      .narrow = arch->word == 4 };
	err = index_section(c, NULL, EH_FRAME, SIZE_MAX);
	if (err < 0) {
		cfi_free(c);
		return err;
	}
	index_sort(c);
	cfi_rows_init_piece(&c->rows, b->len);
	*ret = c;
	return 0;
}

void
cfi_free(struct cfi *c)
{
	if (!c)
		return;
	for (enum section i = 0; i < SECTIONS; i++)
		free(c->bytes[i].p);
	free(c->fdes);
	cfi_rows_done(&c->rows);
	cfi_gaps_done(&c->gaps);
	free(c);
}

const struct cfi_arch *
cfi_arch(const struct cfi *c)
{
	return c->arch;
}

bool
cfi_is_entry(const struct cfi *c, uint64_t vaddr)
{
	return c->entry != 0 && vaddr - c->entry < ENTRY_BYTES;
}

size_t
cfi_bytes(const struct cfi *c)
{
	return sizeof(*c) + c->bytes[EH_FRAME].len + c->bytes[DEBUG_FRAME].len +
		c->cap * sizeof(*c->fdes) + c->gaps.bytes + c->gaps.cap * sizeof(*c->gaps.v) +
		cfi_rows_bytes(&c->rows);
}

void
cfi_drop_gaps(struct cfi *c)
{
	cfi_gaps_done(&c->gaps);
	c->gaps = (struct cfi_gaps){ .v = NULL };
}

bool
cfi_function(const struct cfi *c, size_t i, struct cfi_function *ret)
{
	if (i >= c->nr)
		return false;
	*ret = (struct cfi_function){ .start = c->fdes[i].start,
				      .end = c->fdes[i].start + c->fdes[i].length,
				      .is_eh = c->fdes[i].is_eh,
				      .offset = c->fdes[i].offset };
	return true;
}

/* --- rules ------------------------------------------------------------------------------- */

static int
compile(struct cfi *c, struct fde *f)
{
	const struct cfi_section *s = &c->sections[f->is_eh ? EH_FRAME : DEBUG_FRAME];
	size_t offset = f->offset, first = c->rows.nr;
	struct cfi_entry entry;
	struct cfi_cie cie;
	struct cfi_fde fde;
	int err = -FMT_E_CORRUPT;

	if (cfi_entry_next(s, &offset, &entry) > 0 && cfi_entry_cie(s, entry.cie, &cie) &&
	    cfi_entry_fde(s, &entry, &cie, &fde))
		err = cfi_rows_add(&c->rows, c->arch, s, &cie, &fde);
	if (err == -FMT_E_NOMEM)
		return err;
	f->first = err < 0 ? NO_ROWS + (uint32_t)-err : (uint32_t)first;
	f->nr = (uint32_t)(c->rows.nr - first) & 0x7fffffff;
	return 0;
}

/* The last of the sorted n at or before; there is one. */
static const struct cfi_row *
row_at(const struct cfi_row *rows, size_t n, uint32_t pc)
{
	size_t low = 0;

	while (n > 1) {
		const size_t half = n / 2;

		if (rows[low + half].pc <= pc)
			low += half;
		n -= half;
	}
	return &rows[low];
}

static const struct fde *
fde_at(const struct cfi *c, uint64_t vaddr)
{
	size_t low = 0, n = c->nr;

	while (n > 1) {
		const size_t half = n / 2;

		if (c->fdes[low + half].start <= vaddr)
			low += half;
		n -= half;
	}
	if (c->nr == 0 || vaddr < c->fdes[low].start ||
	    vaddr - c->fdes[low].start >= c->fdes[low].length)
		return NULL;
	return &c->fdes[low];
}

int
cfi_find(struct cfi *c, uint64_t vaddr, uint32_t *ret_rule)
{
	const struct fde *f = fde_at(c, vaddr);
	int err = 0;

	if (!f)
		return 0;
	if (f->first == NOT_COMPILED)
		err = compile(c, &c->fdes[f - c->fdes]);
	if (err < 0)
		return err;
	if (f->first > NO_ROWS)
		return -(int)(f->first - NO_ROWS);
	*ret_rule = row_at(&c->rows.v[f->first], f->nr, (uint32_t)(vaddr - f->start))->rule;
	return 1;
}

struct cfi_rule
cfi_rule(const struct cfi *c, uint32_t number)
{
	struct cfi_rule rule;

	rule.words = word_lists_at(&c->rows.rules, number, &rule.nr);
	rule.nr /= 2;
	return rule;
}

struct span
cfi_expression(const struct cfi *c, const struct cfi_place *place)
{
	return cfi_rows_expression(&c->rows, place);
}
