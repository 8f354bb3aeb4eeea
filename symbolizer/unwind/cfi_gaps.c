/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/unwind/cfi_gaps.h"

#include <stdlib.h>

#include "format/bytes/array.h"
#include "format/bytes/fmt_error.h"

int
cfi_gaps_add(struct cfi_gaps *g, struct elf_object *o, uint64_t start, uint64_t end, uint64_t min)
{
	struct elf_bytes b = { .p = NULL };
	int err;

	if (end <= start || end - start < min || end - start > CFI_GAPS_BYTES_MAX - g->bytes)
		return 0;
	err = elf_bytes_at(o, start, end - start, &b);
	if (err)
		return err == -FMT_E_NOMEM ? err : 0;
	err = array_reserve(g->v, g->nr, g->cap, 1);
	if (err) {
		free(b.p);
		return err;
	}
	g->v[g->nr++] = b;
	g->bytes += b.len;
	return 0;
}

void
cfi_gaps_find_ends(struct cfi_gaps *g, struct elf_object *o)
{
	static const char *const names[] = { "exit",	     "_exit",	       "_Exit",
					     "pthread_exit", "__pthread_exit", "abort" };
	struct elf_function f;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		elf_object_function(o, names[i], &f);
		if (f.nr == 1 && !f.ifunc)
			g->ends[g->nr_ends++] = f.vaddr;
	}
}

void
cfi_gaps_done(struct cfi_gaps *g)
{
	for (size_t i = 0; i < g->nr; i++)
		free(g->v[i].p);
	free(g->v);
}

/* The one that begins at or before vaddr, and does not end before it. */
static const struct elf_bytes *
gap_at(const struct cfi_gaps *g, uint64_t vaddr)
{
	size_t low = 0, n = g->nr;

	while (n > 1) {
		const size_t half = n / 2;

		if (g->v[low + half].vaddr <= vaddr)
			low += half;
		n -= half;
	}
	return g->nr > 0 && vaddr >= g->v[low].vaddr && vaddr - g->v[low].vaddr <= g->v[low].len
		? &g->v[low]
		: NULL;
}

struct span
cfi_gaps_from(const struct cfi_gaps *g, uint64_t vaddr)
{
	const struct elf_bytes *b = gap_at(g, vaddr);
	const size_t at = b ? (size_t)(vaddr - b->vaddr) : 0;

	return b ? span_of(b->p + at, b->len - at) : span_of(NULL, 0);
}

struct span
cfi_gaps_before(const struct cfi_gaps *g, uint64_t vaddr)
{
	const struct elf_bytes *b = gap_at(g, vaddr);

	return b ? span_of(b->p, (size_t)(vaddr - b->vaddr)) : span_of(NULL, 0);
}

bool
cfi_gaps_is_end(const struct cfi_gaps *g, uint64_t vaddr)
{
	for (size_t i = 0; i < g->nr_ends; i++)
		if (g->ends[i] == vaddr)
			return true;
	return false;
}
