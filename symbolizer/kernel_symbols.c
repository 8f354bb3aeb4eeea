/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/kernel_symbols.h"

#include <stdlib.h>
#include <string.h>

#include "format/ksyms.h"

#define KSYMBOL_UNREGISTER 1u /* PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER */
#define FEW 16		      /* so many are put in their places one by one */

struct entry {
	struct kernel_symbol symbol; /* start == end: taken back */
	uint64_t order;		     /* of arrival: the later one wins a start */
};

struct kernel_symbols {
	struct intern *strings;
	const char *kernel_dso;
	struct entry *entries;
	size_t nr, cap;
	size_t sorted; /* the first so many are, without doubles */
	uint64_t arrived;
};

struct kernel_symbols *
kernel_symbols_new(struct intern *strings)
{
	struct kernel_symbols *k = calloc(1, sizeof(*k));

	if (k == NULL)
		return NULL;
	k->strings = strings;
	k->kernel_dso = intern_string(strings, KERNEL_DSO);
	if (k->kernel_dso == NULL) {
		free(k);
		return NULL;
	}
	return k;
}

void
kernel_symbols_free(struct kernel_symbols *k)
{
	if (k == NULL)
		return;
	free(k->entries);
	free(k);
}

static int
add(struct kernel_symbols *k, const struct kernel_symbol *symbol)
{
	if (k->nr == k->cap) {
		size_t cap = k->cap ? k->cap * 2 : 256;
		struct entry *entries = reallocarray(k->entries, cap, sizeof(*entries));

		if (entries == NULL)
			return -FMT_E_NOMEM;
		k->entries = entries;
		k->cap = cap;
	}
	k->entries[k->nr++] = (struct entry){ *symbol, k->arrived++ };
	return 0;
}

/* kallsyms says "[bpf]" and "[__builtin__ftrace]" of what perf takes for objects each. */
static bool
object_of_its_own(const char *module, size_t len)
{
	static const char builtin[] = "__builtin__";

	return (len == 3 && memcmp(module, "bpf", 3) == 0) ||
		(len >= sizeof(builtin) - 1 && memcmp(module, builtin, sizeof(builtin) - 1) == 0);
}

static const char *
module_dso(struct kernel_symbols *k, const char *module, size_t len)
{
	char dso[128];

	if (len == 0)
		return k->kernel_dso;
	/* Some writers keep the brackets of kallsyms. */
	if (module[0] == '[')
		return intern_add(k->strings, module, len);
	if (len > sizeof(dso) - 2)
		len = sizeof(dso) - 2;
	dso[0] = '[';
	memcpy(dso + 1, module, len);
	dso[len + 1] = ']';
	return intern_add(k->strings, dso, len + 2);
}

int
kernel_symbols_add_block(struct kernel_symbols *k, struct span payload)
{
	size_t cursor = 0;
	struct ksym ksym;
	int more;

	while ((more = ksyms_next(payload, &cursor, &ksym)) > 0) {
		struct kernel_symbol s = { .start = ksym.start, .end = ksym.end };
		int error;

		if (ksym.end <= ksym.start)
			continue;
		s.name = intern_add(k->strings, ksym.name, ksym.name_len);
		s.dso = object_of_its_own(ksym.module, ksym.module_len)
			? s.name
			: module_dso(k, ksym.module, ksym.module_len);
		if (s.name == NULL || s.dso == NULL)
			return -FMT_E_NOMEM;
		error = add(k, &s);
		if (error)
			return error;
	}
	return more;
}

int
kernel_symbols_apply(struct kernel_symbols *k, const struct perf_record *record)
{
	struct kernel_symbol s = {
		.start = record->ksymbol.addr,
		.end = record->ksymbol.addr + record->ksymbol.len,
	};

	if (record->type != REC_KSYMBOL || s.end <= s.start)
		return 0;
	s.name = intern_string(k->strings, record->ksymbol.name);
	s.dso = s.name;
	if (s.name == NULL)
		return -FMT_E_NOMEM;
	if (record->ksymbol.flags & KSYMBOL_UNREGISTER)
		s.end = s.start;
	return add(k, &s);
}

static int
compare(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->symbol.start != y->symbol.start)
		return x->symbol.start < y->symbol.start ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

/* How many of the sorted ones begin before address. */
static size_t
rank(const struct kernel_symbols *k, uint64_t address)
{
	size_t low = 0, high = k->sorted;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (k->entries[middle].symbol.start < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Puts one among the sorted ones; the place behind them is free. */
static void
place(struct kernel_symbols *k, struct entry e)
{
	size_t i = rank(k, e.symbol.start);
	bool there = i < k->sorted && k->entries[i].symbol.start == e.symbol.start;
	bool gone = e.symbol.end == e.symbol.start;

	if (gone && !there)
		return;
	if (gone) {
		k->sorted--;
		memmove(&k->entries[i], &k->entries[i + 1], (k->sorted - i) * sizeof(e));
		return;
	}
	if (!there) {
		memmove(&k->entries[i + 1], &k->entries[i], (k->sorted - i) * sizeof(e));
		k->sorted++;
	}
	k->entries[i] = e;
}

static void
sort_all(struct kernel_symbols *k)
{
	size_t kept = 0;

	qsort(k->entries, k->nr, sizeof(*k->entries), compare);
	for (size_t i = 0; i < k->nr; i++) {
		if (i + 1 < k->nr && k->entries[i + 1].symbol.start == k->entries[i].symbol.start)
			continue;
		if (k->entries[i].symbol.end != k->entries[i].symbol.start)
			k->entries[kept++] = k->entries[i];
	}
	k->nr = k->sorted = kept;
}

/*
 * Leaves the newest of each start, sorted. A block brings many; BPF programs come one by one,
 * with samples between: sorting all of the kernel for each would take longer than the rest.
 */
static void
settle(struct kernel_symbols *k)
{
	size_t arrived = k->nr - k->sorted;

	if (arrived > FEW) {
		sort_all(k);
		return;
	}
	for (size_t i = k->nr - arrived; i < k->nr; i++)
		place(k, k->entries[i]);
	k->nr = k->sorted;
}

bool
kernel_symbols_find(struct kernel_symbols *k, uint64_t address, struct kernel_symbol *ret)
{
	size_t i;

	settle(k);
	i = address == UINT64_MAX ? k->nr : rank(k, address + 1);
	if (i == 0 || address >= k->entries[i - 1].symbol.end)
		return false;
	*ret = k->entries[i - 1].symbol;
	return true;
}

size_t
kernel_symbols_count(const struct kernel_symbols *k)
{
	return k->nr;
}
