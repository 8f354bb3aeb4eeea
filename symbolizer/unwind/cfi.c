/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/unwind/cfi.h"

#include <stdlib.h>
#include <string.h>

#include <elf.h>

#include "format/bytes/fmt_error.h"
#include "symbolizer/object/elf_gopclntab.h"
#include "symbolizer/object/symtab.h"
#include "symbolizer/unwind/cfi_code.h"
#include "symbolizer/unwind/cfi_fdes.h"
#include "symbolizer/unwind/cfi_gaps.h"
#include "symbolizer/unwind/go_stack.h"

/* Where rows stand that cannot be compiled: the error, negative, above this. */
#define NO_ROWS (UINT32_MAX - 256)

#define ENTRY_BYTES 64 /* of glibc's ld.so, with what follows its first call, 61 */

#define ENDS_READ_MAX (24u << 20) /* bytes of tables in which exit() and its like are looked for */
#define GO_ENDS_MAX 16		  /* functions of go_stack.h that a program has: ten, in Go 1.24 */

struct go_end {
	uint64_t start, length;
	bool is_signal;
};

struct cfi {
	const struct cfi_arch *arch;
	struct cfi_fdes fdes;
	struct cfi_rows rows;
	uint64_t entry;
	struct go_end ends[GO_ENDS_MAX];
	size_t nr_ends;
	bool is_go;		    /* its code keeps frame pointers, and changes stacks */
	struct elf_signals signals; /* of which no FDE knows */
	struct cfi_gaps gaps;
	struct cfi_code *code; /* of an open file, in place of both; NULL until it is needed */
	bool knows_ends;       /* the gaps' ends of such a file have been looked for */
};

/* --- the file ---------------------------------------------------------------------------- */

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
	for (size_t i = 0; c->is_go && i < c->fdes.nr && c->nr_ends < GO_ENDS_MAX; i++) {
		const struct cfi_fde_place *f = &c->fdes.v[i];

		if (!symtab_find(names, f->start, &s) || s.start != f->start ||
		    go_stack_end_of(s.name) == GO_STACK_GOES_ON)
			continue;
		c->ends[c->nr_ends++] =
			(struct go_end){ .start = f->start,
					 .length = f->length,
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

/* NULL: none, or there is no memory to tell. */
static struct cfi_fde_place *
fde_at(struct cfi *c, uint64_t vaddr)
{
	struct cfi_fde_place *f;

	return cfi_fdes_find(&c->fdes, vaddr, &f) > 0 ? f : NULL;
}

/* --- signal handlers return to --------------------------------------------------------------- */

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

/* NULL: there is no memory, or all of the file was read. */
static struct cfi_code *
code_of(struct cfi *c)
{
	if (!c->code && c->fdes.reader)
		c->code = calloc(1, sizeof(*c->code));
	return c->code;
}

/* Does such code begin at an address of a file that stays open? 0, -FMT_E_NOMEM. */
static int
signal_code_from(struct cfi *c, uint64_t vaddr, const struct signal_code **ret)
{
	struct cfi_code *code = code_of(c);
	const struct signal_code *known;
	struct span s;
	int err = code ? cfi_code_from(code, &c->fdes, vaddr, &s) : -FMT_E_NOMEM;

	*ret = NULL;
	for (size_t i = 0; err == 0 && (known = signal_code_at(c->arch->machine, i)) != NULL; i++)
		if (s.len >= known->len && memcmp(s.p, known->bytes, known->len) == 0)
			*ret = known;
	return err;
}

_Static_assert(CFI_CODE_NEAR >= SIGNAL_CODE_BYTES_MAX, "a piece has all of a signal's code");

static int
signal_code_in_gap(struct cfi *c, uint64_t at, size_t longest, const struct signal_code **ret,
		   uint64_t *ret_offset)
{
	const struct signal_code *code;
	struct cfi_fde_place *f;
	int err = cfi_fdes_find(&c->fdes, at, &f);

	for (uint64_t offset = 0; err == 0 && offset < longest; offset++) {
		err = signal_code_from(c, at - offset, &code);
		if (err || !code || offset >= code->len)
			continue;
		*ret = code;
		*ret_offset = offset;
		return 0;
	}
	return err < 0 ? err : 0;
}

int
cfi_signal_code(struct cfi *c, uint64_t vaddr, bool is_return, const struct signal_code **ret,
		uint64_t *ret_offset)
{
	const uint64_t at = vaddr + is_return;

	*ret = NULL;
	for (size_t i = 0; i < c->signals.nr; i++) {
		const struct elf_signal *p = &c->signals.at[i];
		const uint64_t offset = at - p->vaddr;

		/* Whatever is behind its begin was not called from there. */
		if (is_return ? offset != 0 : offset >= p->code->len)
			continue;
		*ret = p->code;
		*ret_offset = offset;
		return 0;
	}
	if (!c->fdes.reader)
		return 0;
	return signal_code_in_gap(c, at, is_return ? 1 : SIGNAL_CODE_BYTES_MAX, ret, ret_offset);
}

/* --- code without FDEs ----------------------------------------------------------------------- */

static bool
is_x86(const struct cfi *c)
{
	return c->arch->machine == EM_X86_64 || c->arch->machine == EM_386;
}

static int
segment_gaps(struct cfi *c, struct elf_object *o, const struct elf_segment *s, size_t *fde)
{
	const uint64_t end = s->vaddr + s->filesz;
	uint64_t at = s->vaddr;
	int err = 0;

	for (; err == 0 && *fde < c->fdes.nr && c->fdes.v[*fde].start < end; ++*fde) {
		const struct cfi_fde_place *f = &c->fdes.v[*fde];

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

	if (c->is_go || !is_x86(c))
		return 0;
	for (size_t i = 0; err == 0 && i < nr; i++)
		if (s[i].exec && (c->gaps.nr == 0 || s[i].vaddr >= c->gaps.v[c->gaps.nr - 1].vaddr))
			err = segment_gaps(c, o, &s[i], &fde);
	if (err == 0 && c->gaps.nr > 0)
		cfi_gaps_find_ends(&c->gaps, o);
	return err;
}

/* Whose instructions can be followed. */
static struct cfi_code *
x86_code_of(struct cfi *c)
{
	return is_x86(c) ? code_of(c) : NULL;
}

struct span
cfi_gap_from(struct cfi *c, uint64_t vaddr)
{
	struct cfi_code *code = x86_code_of(c);
	struct span s;

	if (!code)
		return cfi_gaps_from(&c->gaps, vaddr);
	(void)cfi_code_from(code, &c->fdes, vaddr, &s);
	return s;
}

struct span
cfi_gap_before(struct cfi *c, uint64_t vaddr)
{
	struct cfi_code *code = x86_code_of(c);
	struct span s;

	if (!code)
		return cfi_gaps_before(&c->gaps, vaddr);
	(void)cfi_code_before(code, &c->fdes, vaddr, &s);
	return s;
}

/* Of a file that stays open, when code in a gap is first seen to call. */
static void
find_ends(struct cfi *c)
{
	struct elf_share share = { .left = ENDS_READ_MAX };
	struct elf_object *o;
	int err = elf_reader_object(c->fdes.reader, &o);

	c->knows_ends = err != -FMT_E_NOMEM && err != -FMT_E_IO;
	if (err)
		return;
	elf_object_limit(o, &share);
	cfi_gaps_find_ends(&c->gaps, o);
	elf_object_close(o);
}

bool
cfi_never_returns(struct cfi *c, uint64_t vaddr)
{
	if (c->fdes.reader && !c->knows_ends)
		find_ends(c);
	return cfi_gaps_is_end(&c->gaps, vaddr);
}

bool
cfi_begins_apart(struct cfi *c, uint64_t vaddr)
{
	const struct cfi_fde_place *f = fde_at(c, vaddr);

	return f && f->start == vaddr && !fde_at(c, vaddr - 1) && cfi_gap_before(c, vaddr).len == 0;
}

/* --- making ---------------------------------------------------------------------------------- */

static int
cfi_begin(struct elf_object *o, struct cfi **ret)
{
	bool is64;
	const struct cfi_arch *arch = cfi_arch_of_machine(elf_object_code_machine(o, &is64));
	struct cfi *c;

	if (!arch || arch->word != (is64 ? 8 : 4))
		return -FMT_E_UNSUPPORTED;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -FMT_E_NOMEM;
	c->arch = arch;
	c->entry = elf_object_entry(o);
	*ret = c;
	return 0;
}

static int
cfi_end(struct cfi *c, int err, struct cfi **ret)
{
	if (err < 0) {
		cfi_free(c);
		return err;
	}
	cfi_rows_init(&c->rows, cfi_fdes_section_bytes(&c->fdes));
	*ret = c;
	return 0;
}

int
cfi_new(struct elf_object *o, struct elf_object *debug, struct cfi **ret)
{
	return cfi_new_max(o, debug, SIZE_MAX, ret);
}

int
cfi_new_max(struct elf_object *o, struct elf_object *debug, size_t max, struct cfi **ret)
{
	struct cfi *c;
	int err = cfi_begin(o, &c);

	if (err)
		return err;
	err = cfi_fdes_read(&c->fdes, o, debug, max);
	if (err == 0)
		err = find_go_ends(c, o);
	if (err == 0)
		err = find_signals(c, o);
	if (err == 0)
		err = find_gaps(c, o);
	return cfi_end(c, err, ret);
}

int
cfi_open(struct elf_object *o, size_t max, struct elf_budget *budget, struct cfi **ret)
{
	struct cfi *c;
	int err = cfi_begin(o, &c);

	if (err)
		return err;
	err = cfi_fdes_open(&c->fdes, o, max, budget);
	return cfi_end(c, err, ret);
}

int
cfi_new_made(const struct cfi_arch *arch, const struct cfi_made *made, struct cfi **ret)
{
	struct cfi *c = calloc(1, sizeof(*c));
	int err;

	if (!c)
		return -FMT_E_NOMEM;
	c->arch = arch;
	err = cfi_fdes_made(&c->fdes, made->start, made->size, &made->eh_frame,
			    made->eh_frame_vaddr, arch->word == 4);
	if (err < 0) {
		cfi_free(c);
		return err;
	}
	cfi_rows_init_piece(&c->rows, made->eh_frame.len);
	*ret = c;
	return 0;
}

void
cfi_free(struct cfi *c)
{
	if (!c)
		return;
	cfi_fdes_done(&c->fdes);
	cfi_rows_done(&c->rows);
	cfi_gaps_done(&c->gaps);
	if (c->code)
		cfi_code_done(c->code);
	free(c->code);
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
	return sizeof(*c) + cfi_fdes_bytes(&c->fdes) + c->gaps.bytes +
		c->gaps.cap * sizeof(*c->gaps.v) + cfi_rows_bytes(&c->rows) +
		(c->code ? sizeof(*c->code) + cfi_code_bytes(c->code) : 0);
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
	const struct cfi_fde_place *f;

	if (i >= c->fdes.nr)
		return false;
	f = &c->fdes.v[i];
	*ret = (struct cfi_function){ .start = f->start,
				      .end = f->start + f->length,
				      .is_eh = f->is_eh,
				      .offset = f->offset };
	return true;
}

/* --- rules ------------------------------------------------------------------------------- */

static int
compile(struct cfi *c, struct cfi_fde_place *f)
{
	const size_t first = c->rows.nr;
	struct cfi_fde_reading r;
	int err = cfi_fdes_look(&c->fdes, f, &r);

	if (err == 0)
		err = cfi_rows_add(&c->rows, c->arch, &r.section, &r.cie, &r.fde);
	cfi_fde_reading_done(&r);
	if (err == 0 && c->rows.nr == first)
		err = -FMT_E_CORRUPT;
	if (err == -FMT_E_NOMEM)
		return err;
	f->first = err < 0 ? NO_ROWS + (uint32_t)-err : (uint32_t)first;
	f->nr = (uint32_t)(c->rows.nr - first) & 0x3fffffff;
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

int
cfi_find(struct cfi *c, uint64_t vaddr, uint32_t *ret_rule)
{
	struct cfi_fde_place *f;
	int err = cfi_fdes_find(&c->fdes, vaddr, &f);

	if (err <= 0)
		return err;
	if (f->first == CFI_FDE_NEW) {
		err = compile(c, f);
		if (err < 0)
			return err;
	}
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
