/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/object/symtab.h"

#include <stdlib.h>
#include <string.h>

#include "format/bytes/array.h"
#include "format/bytes/fmt_error.h"

/* Keeps a tie-break among hostile names cheap. */
#define TIE_NAME_MAX 4096
#define UNDERSCORES_MAX 64
#define HOLE UINT32_MAX

struct entry {
	uint64_t start, end; /* SYMBOL_UNSIZED: end is the limit, until ends are settled */
	uint32_t name;
	uint32_t flags;
};

struct symtab_builder {
	char *strings;
	size_t strings_len, strings_cap;
	struct entry *entries;
	size_t nr, cap;
};

struct symtab {
	uint64_t *starts; /* of the ranges, ascending; the last is a hole up to the end */
	uint32_t *owners; /* entry of each range, or HOLE */
	size_t nr_ranges;
	struct entry *entries;
	size_t nr;
	char *strings;
};

struct symtab_builder *
symtab_builder_new(void)
{
	return calloc(1, sizeof(struct symtab_builder));
}

void
symtab_builder_free(struct symtab_builder *b)
{
	if (b == NULL)
		return;
	free(b->strings);
	free(b->entries);
	free(b);
}

int
symtab_builder_strings(struct symtab_builder *b, const void *bytes, size_t len, uint32_t *ret_base)
{
	size_t need;

	if (len > UINT32_MAX - 2 || b->strings_len > UINT32_MAX - 2 - len)
		return -FMT_E_TOO_BIG;
	need = b->strings_len + len + 1;
	if (array_reserve(b->strings, b->strings_len, b->strings_cap, len + 1) < 0)
		return -FMT_E_NOMEM;
	if (len != 0)
		memcpy(b->strings + b->strings_len, bytes, len);
	/* Whatever the table ends in, its last name ends here. */
	b->strings[need - 1] = '\0';
	*ret_base = (uint32_t)b->strings_len;
	b->strings_len = need;
	return 0;
}

int
symtab_builder_add(struct symtab_builder *b, uint64_t start, uint64_t size, uint64_t limit,
		   uint32_t name, uint32_t flags)
{
	struct entry *e;

	if (name >= b->strings_len || size > UINT64_MAX - start)
		return 0;
	if (size == 0 && limit <= start)
		return 0;
	if (b->nr >= HOLE - 1)
		return -FMT_E_TOO_BIG;
	if (array_reserve(b->entries, b->nr, b->cap, 1) < 0)
		return -FMT_E_NOMEM;
	e = &b->entries[b->nr++];
	e->start = start;
	e->end = size ? start + size : limit;
	e->name = name;
	e->flags = flags | (size ? 0 : SYMBOL_UNSIZED);
	return 0;
}

size_t
symbol_name_length(const char *name)
{
	size_t len = strnlen(name, SYMBOL_NAME_MAX);
	const char *at = len > 1 ? memchr(name + 1, '@', len - 1) : NULL;

	/* Made names keep their '@plt': nothing but a version is cut. */
	return at != NULL && strcmp(at, "@plt") != 0 ? (size_t)(at - name) : len;
}

/*
 * Stable, so that equal symbols stay in the order of the file, on which perf's choice rests.
 * By digits of a byte; those that all starts share are passed over.
 */
static int
sort_by_start(struct entry *e, size_t n)
{
	struct entry *other = n ? malloc(n * sizeof(*e)) : NULL;
	struct entry *from = e, *to = other, *swap;
	uint64_t differ = 0;

	if (n == 0)
		return 0;
	if (other == NULL)
		return -FMT_E_NOMEM;
	for (size_t i = 1; i < n; i++)
		differ |= e[i].start ^ e[0].start;
	for (unsigned shift = 0; shift < 64; shift += 8) {
		size_t count[256] = { 0 }, at = 0;

		if ((differ >> shift & 255) == 0)
			continue;
		for (size_t i = 0; i < n; i++)
			count[from[i].start >> shift & 255]++;
		for (size_t d = 0; d < 256; d++) {
			size_t here = count[d];

			count[d] = at;
			at += here;
		}
		for (size_t i = 0; i < n; i++)
			to[count[from[i].start >> shift & 255]++] = from[i];
		swap = from;
		from = to;
		to = swap;
	}
	if (from != e)
		memcpy(e, from, n * sizeof(*e));
	free(other);
	return 0;
}

/* Underscores in front; those of a mangled name are not its own. */
static size_t
underscores(const char *name)
{
	size_t n = 0;

	if (name[0] == '_' && (name[1] == 'Z' || name[1] == 'R'))
		return 0;
	while (n < UNDERSCORES_MAX && name[n] == '_')
		n++;
	return n;
}

/* perf's choose_best_symbol(): is b better than a, which came first? */
static bool
better(const char *strings, const struct entry *a, const struct entry *b)
{
	const char *an = strings + a->name, *bn = strings + b->name;
	uint32_t differ = a->flags ^ b->flags;
	size_t au, bu;

	if (differ & SYMBOL_UNSIZED)
		return a->flags & SYMBOL_UNSIZED;
	if (differ & SYMBOL_WEAK)
		return a->flags & SYMBOL_WEAK;
	if (differ & SYMBOL_GLOBAL)
		return b->flags & SYMBOL_GLOBAL;
	au = underscores(an);
	bu = underscores(bn);
	if (au != bu)
		return bu < au;
	/* With the version that is not shown: perf's choice is to be the same. */
	return strnlen(bn, TIE_NAME_MAX) > strnlen(an, TIE_NAME_MAX);
}

/*
 * Settles who is there: of symbols with one start the best, and the longest too if it
 * reaches farther (it then comes first, as the outer one). A symbol without a size names
 * only what no sized symbol covers. Returns how many are left.
 */
static size_t
symtab_settle(const char *strings, struct entry *e, size_t n)
{
	uint64_t covered = 0; /* end of the sized symbols so far */
	size_t kept = 0;

	for (size_t i = 0, next; i < n; i = next) {
		struct entry best = e[i], longest = e[i];

		for (next = i + 1; next < n && e[next].start == e[i].start; next++) {
			if (better(strings, &best, &e[next]))
				best = e[next];
			if (longest.flags & SYMBOL_UNSIZED ||
			    (!(e[next].flags & SYMBOL_UNSIZED) && e[next].end > longest.end))
				longest = e[next];
		}
		if (best.flags & SYMBOL_UNSIZED) {
			if (best.start < covered)
				continue;
			if (next < n && e[next].start < best.end)
				best.end = e[next].start;
		} else {
			if (longest.end > best.end)
				e[kept++] = longest;
			if (longest.end > covered)
				covered = longest.end;
		}
		e[kept++] = best;
	}
	return kept;
}

struct flat {
	struct symtab *t;
	uint32_t *open; /* the symbols that cover pos, innermost last */
	size_t nr_open;
	uint64_t pos;
};

static void
range(struct symtab *t, uint64_t start, uint32_t owner)
{
	if (t->nr_ranges != 0 && t->owners[t->nr_ranges - 1] == owner)
		return;
	t->starts[t->nr_ranges] = start;
	t->owners[t->nr_ranges++] = owner;
}

/* Writes the ranges from pos up to limit, where something new begins. */
static void
flatten_to(struct flat *f, uint64_t limit)
{
	while (f->nr_open != 0 && f->pos < limit) {
		uint32_t top = f->open[f->nr_open - 1];
		uint64_t end = f->t->entries[top].end;

		if (end > f->pos)
			range(f->t, f->pos, top);
		if (end > limit) {
			f->pos = limit;
			return;
		}
		if (end > f->pos)
			f->pos = end;
		f->nr_open--;
	}
	if (f->pos < limit)
		range(f->t, f->pos, HOLE);
	f->pos = limit;
}

/* Nested and overlapping symbols to disjoint ranges: a search then needs no way back. */
static int
flatten(struct symtab *t)
{
	struct flat f = { .t = t };
	size_t most = 2 * t->nr + 1;

	/* Each symbol opens one range, and its end at most one more. */
	t->starts = calloc(most, sizeof(*t->starts));
	t->owners = calloc(most, sizeof(*t->owners));
	f.open = calloc(t->nr + 1, sizeof(*f.open));
	if (t->starts == NULL || t->owners == NULL || f.open == NULL) {
		free(f.open);
		return -FMT_E_NOMEM;
	}
	if (t->nr != 0)
		f.pos = t->entries[0].start;
	for (size_t i = 0; i < t->nr; i++) {
		flatten_to(&f, t->entries[i].start);
		f.open[f.nr_open++] = (uint32_t)i;
	}
	flatten_to(&f, UINT64_MAX);
	free(f.open);
	return 0;
}

int
symtab_build(struct symtab_builder *b, struct symtab **ret)
{
	struct symtab *t = calloc(1, sizeof(*t));
	struct entry *shrunk;
	int error = -FMT_E_NOMEM;

	if (t == NULL)
		goto out;
	error = sort_by_start(b->entries, b->nr);
	if (error)
		goto out;
	t->nr = symtab_settle(b->strings, b->entries, b->nr);
	/* A file may have many of which few are left. */
	shrunk = realloc(b->entries, (t->nr ? t->nr : 1) * sizeof(*shrunk));
	t->entries = shrunk ? shrunk : b->entries;
	t->strings = b->strings;
	b->entries = NULL;
	b->strings = NULL;
	error = flatten(t);
	if (error)
		goto out;
	*ret = t;
	t = NULL;
out:
	symtab_free(t);
	symtab_builder_free(b);
	return error;
}

void
symtab_free(struct symtab *t)
{
	if (t == NULL)
		return;
	free(t->starts);
	free(t->owners);
	free(t->entries);
	free(t->strings);
	free(t);
}

size_t
symtab_count(const struct symtab *t)
{
	return t->nr;
}

bool
symtab_find(const struct symtab *t, uint64_t vaddr, struct symbol *ret)
{
	size_t low = 0, n = t->nr_ranges;
	const struct entry *e;

	if (n == 0 || vaddr < t->starts[0])
		return false;
	/* Invariant: starts[low] <= vaddr; halves without a branch on the comparison. */
	while (n > 1) {
		size_t half = n / 2;

		low = t->starts[low + half] <= vaddr ? low + half : low;
		n -= half;
	}
	if (t->owners[low] == HOLE)
		return false;
	e = &t->entries[t->owners[low]];
	ret->start = e->start;
	ret->end = e->end;
	ret->index = t->owners[low];
	ret->name = t->strings + e->name;
	return true;
}
