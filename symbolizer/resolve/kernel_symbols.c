/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/resolve/kernel_symbols.h"

#include <stdlib.h>
#include <string.h>

#include <bsd/sys/tree.h>

#include "format/block/ksyms.h"
#include "format/bytes/kallsyms.h"

#define KSYMBOL_UNREGISTER 1u /* PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER */

struct entry {
	RB_ENTRY(entry) node;
	struct kernel_symbol symbol;
};

RB_HEAD(symbol_tree, entry);

/*
 * A tree, because symbols and searches take turns: BPF programs come and go while samples are
 * resolved. One symbol for each start: the last to arrive.
 */
struct kernel_symbols {
	struct intern *strings;
	const char *kernel_dso;
	struct symbol_tree entries;
	size_t nr;
	uint64_t left_out;
};

static int
kernel_symbols_compare(const struct entry *a, const struct entry *b)
{
	return (a->symbol.start > b->symbol.start) - (a->symbol.start < b->symbol.start);
}

/* libbsd's RB_GENERATE_STATIC() needs a __unused that glibc's headers do not stand. */
RB_GENERATE_INTERNAL(symbol_tree, entry, node, kernel_symbols_compare,
		     __attribute__((unused)) static)

struct kernel_symbols *
kernel_symbols_new(struct intern *strings)
{
	struct kernel_symbols *k = calloc(1, sizeof(*k));

	if (k == NULL)
		return NULL;
	k->strings = strings;
	RB_INIT(&k->entries);
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
	struct entry *e;

	if (k == NULL)
		return;
	while ((e = RB_ROOT(&k->entries)) != NULL) {
		RB_REMOVE(symbol_tree, &k->entries, e);
		free(e);
	}
	free(k);
}

static int
kernel_symbols_add(struct kernel_symbols *k, const struct kernel_symbol *symbol)
{
	struct entry *e, *old, key = { .symbol.start = symbol->start };

	if (k->nr == KERNEL_SYMBOLS_MAX && !RB_FIND(symbol_tree, &k->entries, &key)) {
		k->left_out++;
		return 0;
	}
	e = malloc(sizeof(*e));
	if (e == NULL)
		return -FMT_E_NOMEM;
	e->symbol = *symbol;
	old = RB_INSERT(symbol_tree, &k->entries, e);
	if (old != NULL) {
		old->symbol = *symbol;
		free(e);
		return 0;
	}
	k->nr++;
	return 0;
}

static void
take_back(struct kernel_symbols *k, uint64_t start)
{
	struct entry key = { .symbol.start = start };
	struct entry *e = RB_FIND(symbol_tree, &k->entries, &key);

	if (e == NULL)
		return;
	RB_REMOVE(symbol_tree, &k->entries, e);
	free(e);
	k->nr--;
}

/* kallsyms says "[bpf]" and "[__builtin__ftrace]" of what perf takes for objects each. */
static bool
object_of_its_own(const char *module, size_t len)
{
	static const char builtin[] = "__builtin__";

	return (len == 3 && memcmp(module, "bpf", 3) == 0) ||
		(len >= sizeof(builtin) - 1 && memcmp(module, builtin, sizeof(builtin) - 1) == 0);
}

const char *
kernel_symbols_dso(struct intern *strings, const char *module, size_t len)
{
	char dso[128];

	/* Some writers keep the brackets of kallsyms. */
	if (module[0] == '[')
		return intern_add(strings, module, len);
	if (len > sizeof(dso) - 2)
		len = sizeof(dso) - 2;
	dso[0] = '[';
	memcpy(dso + 1, module, len);
	dso[len + 1] = ']';
	return intern_add(strings, dso, len + 2);
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
		if (ksym.module_len == 0)
			s.dso = k->kernel_dso;
		else if (object_of_its_own(ksym.module, ksym.module_len))
			s.dso = s.name;
		else
			s.dso = kernel_symbols_dso(k->strings, ksym.module, ksym.module_len);
		if (s.name == NULL || s.dso == NULL)
			return -FMT_E_NOMEM;
		error = kernel_symbols_add(k, &s);
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
	if (record->ksymbol.flags & KSYMBOL_UNREGISTER) {
		take_back(k, s.start);
		return 0;
	}
	s.name = intern_string(k->strings, record->ksymbol.name);
	s.dso = s.name;
	return s.name != NULL ? kernel_symbols_add(k, &s) : -FMT_E_NOMEM;
}

bool
kernel_symbols_find(const struct kernel_symbols *k, uint64_t address, struct kernel_symbol *ret)
{
	const struct entry *e = RB_ROOT(&k->entries), *before = NULL;

	while (e != NULL) {
		if (e->symbol.start <= address) {
			before = e;
			e = RB_RIGHT(e, node);
		} else {
			e = RB_LEFT(e, node);
		}
	}
	if (before == NULL || address >= before->symbol.end)
		return false;
	*ret = before->symbol;
	return true;
}

bool
kernel_symbols_find_frame(const struct kernel_symbols *k, uint64_t ip, bool is_return,
			  struct kernel_symbol *ret)
{
	struct kernel_symbol behind;
	size_t prefix;

	if (!kernel_symbols_find(k, ip - is_return, ret))
		return false;
	prefix = is_return && ret->end == ip ? kallsyms_prefix(ret->name) : 0;
	if (!prefix)
		return true;
	if (kernel_symbols_find(k, ip, &behind) && behind.start == ip) {
		*ret = behind;
	} else {
		/* A recorder that knew of no such frames has left the function out. */
		ret->start = ip;
		ret->end = ip + 1;
		ret->name += prefix;
	}
	return true;
}

bool
kernel_symbols_next(const struct kernel_symbols *k, uint64_t address, struct kernel_symbol *ret)
{
	const struct entry *e = RB_ROOT(&k->entries), *after = NULL;

	while (e != NULL) {
		if (e->symbol.start >= address) {
			after = e;
			e = RB_LEFT(e, node);
		} else {
			e = RB_RIGHT(e, node);
		}
	}
	if (after == NULL)
		return false;
	*ret = after->symbol;
	return true;
}

uint64_t
kernel_symbols_left_out(const struct kernel_symbols *k)
{
	return k->left_out;
}
