/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/unwind/cfi_code.h"

#include <stdlib.h>

#include "format/bytes/fmt_error.h"

void
cfi_code_done(struct cfi_code *c)
{
	for (size_t i = 0; i < c->nr; i++)
		free(c->v[i].p);
	c->nr = c->last = 0;
}

size_t
cfi_code_bytes(const struct cfi_code *c)
{
	size_t bytes = 0;

	for (size_t i = 0; i < c->nr; i++)
		bytes += (size_t)(c->v[i].end - c->v[i].start);
	return bytes;
}

/* Does it have what is to be given of a byte's neighbours? */
static bool
serves(const struct cfi_code_piece *p, uint64_t at, bool before)
{
	if (at < p->start || at >= p->end)
		return false;
	return before ? p->is_first || at - p->start >= CFI_CODE_NEAR - 1
		      : p->is_last || p->end - at >= CFI_CODE_NEAR;
}

static const struct cfi_code_piece *
kept(struct cfi_code *c, uint64_t at, bool before)
{
	if (c->nr > 0 && serves(&c->v[c->last], at, before))
		return &c->v[c->last];
	for (size_t i = 0; i < c->nr; i++)
		if (serves(&c->v[i], at, before)) {
			c->last = i;
			return &c->v[i];
		}
	return NULL;
}

/* Where the piece of a byte is, in its gap. As cfi_fdes_gap(). */
static int
piece_of(struct cfi_fdes *f, uint64_t at, struct cfi_code_piece *ret)
{
	const uint64_t base = at / CFI_CODE_PIECE_BYTES * CFI_CODE_PIECE_BYTES;
	uint64_t start, end;
	int err = cfi_fdes_gap(f, at, &start, &end);

	if (err <= 0)
		return err;
	*ret = (struct cfi_code_piece){ .start = start, .end = end };
	if (base > CFI_CODE_NEAR && start < base - CFI_CODE_NEAR)
		ret->start = base - CFI_CODE_NEAR;
	if (end - base > CFI_CODE_PIECE_BYTES + CFI_CODE_NEAR)
		ret->end = base + CFI_CODE_PIECE_BYTES + CFI_CODE_NEAR;
	ret->is_first = ret->start == start;
	ret->is_last = ret->end == end;
	return 1;
}

/* *ret is NULL: it is in none, or cannot be read. 0, -FMT_E_NOMEM. */
static int
piece_at(struct cfi_code *c, struct cfi_fdes *f, uint64_t at, bool before,
	 const struct cfi_code_piece **ret)
{
	struct cfi_code_piece p;
	size_t size, n;
	int err;

	*ret = kept(c, at, before);
	err = *ret ? 0 : piece_of(f, at, &p);
	if (err <= 0)
		return err;
	size = (size_t)(p.end - p.start);
	p.p = malloc(size);
	if (!p.p)
		return -FMT_E_NOMEM;
	err = elf_reader_read(f->reader, p.start, p.p, size, &n);
	if (err || n < size) {
		free(p.p);
		return err;
	}
	if (c->nr == CFI_CODE_PIECES_MAX)
		cfi_code_done(c);
	c->last = c->nr;
	c->v[c->nr] = p;
	*ret = &c->v[c->nr++];
	return 0;
}

int
cfi_code_from(struct cfi_code *c, struct cfi_fdes *f, uint64_t vaddr, struct span *ret)
{
	const struct cfi_code_piece *p;
	int err = piece_at(c, f, vaddr, false, &p);

	*ret = err == 0 && p ? span_of(p->p + (vaddr - p->start), (size_t)(p->end - vaddr))
			     : span_of(NULL, 0);
	return err;
}

int
cfi_code_before(struct cfi_code *c, struct cfi_fdes *f, uint64_t vaddr, struct span *ret)
{
	const struct cfi_code_piece *p;
	int err = piece_at(c, f, vaddr - 1, true, &p);

	*ret = err == 0 && p ? span_of(p->p, (size_t)(vaddr - p->start)) : span_of(NULL, 0);
	return err;
}
