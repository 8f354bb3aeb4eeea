/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/resolve/kernel_symbols.h"

#include <stdlib.h>
#include <string.h>

#include <bsd/sys/tree.h>

#include "format/block/ksyms.h"
#include "format/bytes/array.h"
#include "format/bytes/kallsyms.h"
#include "format/model/task_model.h"

#define KSYMBOL_UNREGISTER 1u /* PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER */

struct entry {
	RB_ENTRY(entry) node;
	const char *group; /* symbols are looked for among those of one group */
	struct kernel_symbol symbol;
};

/*
 * Groups: what is in no module; what is in any, for recordings that do not say where it was; and of each module, by its
 * interned name, its own.
 */
#define NO_MODULE NULL
static const char any_module[] = "";

/* Which module is there, as of now. By start; they do not overlap. */
struct range {
	uint64_t start, end;
	const char *dso; /* interned; NULL: one was there, and is gone */
};

#define RANGES_MAX 8192 /* modules; Linux has a few hundred */

RB_HEAD(symbol_tree, entry);

/*
 * A tree, because symbols and searches take turns: BPF programs come and go while samples are
 * resolved. One symbol for each start of a group: the last to arrive.
 */
struct kernel_symbols {
	struct intern *strings;
	const char *kernel_dso;
	struct symbol_tree entries;
	struct range *ranges;
	size_t nr_ranges, cap_ranges;
	size_t nr;
	uint64_t left_out;
};

static int
kernel_symbols_compare(const struct entry *a, const struct entry *b)
{
	if (a->group != b->group)
		return (uintptr_t)a->group < (uintptr_t)b->group ? -1 : 1;
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
	free(k->ranges);
	free(k);
}

/* The last of a group that begins at address or before; behind: or behind it the first. NULL: none. */
static struct entry *
entry_at(const struct kernel_symbols *k, const char *group, uint64_t address, bool behind)
{
	const struct entry key = { .group = group, .symbol.start = address };
	struct entry *e = RB_ROOT(&k->entries), *before = NULL, *after = NULL;

	while (e != NULL) {
		const int order = kernel_symbols_compare(e, &key);

		if (order == 0)
			return e;
		if (order < 0) {
			before = e;
			e = RB_RIGHT(e, node);
		} else {
			after = e;
			e = RB_LEFT(e, node);
		}
	}
	e = behind ? after : before;
	return e != NULL && e->group == group ? e : NULL;
}

static void
entry_remove(struct kernel_symbols *k, struct entry *e)
{
	RB_REMOVE(symbol_tree, &k->entries, e);
	free(e);
	k->nr--;
}

/* What was there before. */
static void
make_room(struct kernel_symbols *k, const char *group, const struct kernel_symbol *symbol)
{
	struct entry *e = entry_at(k, group, symbol->start, false);

	if (e != NULL && e->symbol.start < symbol->start && e->symbol.end > symbol->start)
		e->symbol.end = symbol->start;
	while (symbol->start != UINT64_MAX &&
	       (e = entry_at(k, group, symbol->start + 1, true)) != NULL &&
	       e->symbol.start < symbol->end)
		entry_remove(k, e);
}

static int
kernel_symbols_add(struct kernel_symbols *k, const char *group, const struct kernel_symbol *symbol)
{
	struct entry *e, *old, key = { .group = group, .symbol.start = symbol->start };

	if (k->nr == KERNEL_SYMBOLS_MAX && !RB_FIND(symbol_tree, &k->entries, &key)) {
		k->left_out++;
		return 0;
	}
	e = malloc(sizeof(*e));
	if (e == NULL)
		return -FMT_E_NOMEM;
	e->group = group;
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

/* A symbol of a KSYMS block. */
static int
add_listed(struct kernel_symbols *k, const struct kernel_symbol *s)
{
	int error;

	if (s->dso == k->kernel_dso || s->dso == s->name)
		return kernel_symbols_add(k, NO_MODULE, s);
	/* A module may come to the place of one of its name that is another build. */
	make_room(k, s->dso, s);
	error = kernel_symbols_add(k, s->dso, s);
	return error ? error : kernel_symbols_add(k, any_module, s);
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
		error = add_listed(k, &s);
		if (error)
			return error;
	}
	return more;
}

/* --- modules ----------------------------------------------------------------------------- */

/* How many ranges begin at address or before. */
static size_t
ranges_before(const struct kernel_symbols *k, uint64_t address)
{
	size_t lo = 0, hi = k->nr_ranges;

	while (lo < hi) {
		const size_t mid = lo + (hi - lo) / 2;

		if (k->ranges[mid].start <= address)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static const struct range *
range_of(const struct kernel_symbols *k, uint64_t address)
{
	const size_t n = ranges_before(k, address);

	return n && address < k->ranges[n - 1].end ? &k->ranges[n - 1] : NULL;
}

/*
 * Of what overlaps, each is right up to where the next one begins: recorders gave modules the length of all that they
 * have, which since 6.4 lies in several places.
 */
static int
range_put(struct kernel_symbols *k, struct range new)
{
	size_t n = ranges_before(k, new.start);
	bool same = n && k->ranges[n - 1].start == new.start;

	if (!same && k->nr_ranges == RANGES_MAX) {
		k->left_out++;
		return 0;
	}
	if (!same && array_reserve(k->ranges, k->nr_ranges, k->cap_ranges, 1) != 0)
		return -FMT_E_NOMEM;
	/* What is gone is not in the way. */
	while (n < k->nr_ranges && k->ranges[n].dso == NULL && k->ranges[n].start < new.end) {
		if (k->ranges[n].end > new.end) {
			k->ranges[n].start = new.end;
			break;
		}
		k->nr_ranges--;
		memmove(&k->ranges[n], &k->ranges[n + 1], (k->nr_ranges - n) * sizeof(*k->ranges));
	}
	if (n < k->nr_ranges && k->ranges[n].start < new.end)
		new.end = k->ranges[n].start;
	if (same) {
		k->ranges[n - 1] = new;
		return 0;
	}
	if (n && k->ranges[n - 1].end > new.start)
		k->ranges[n - 1].end = new.start;
	memmove(&k->ranges[n + 1], &k->ranges[n], (k->nr_ranges - n) * sizeof(*k->ranges));
	k->ranges[n] = new;
	k->nr_ranges++;
	return 0;
}

int
kernel_symbols_map(struct kernel_symbols *k, const struct perf_mmap *map)
{
	const size_t kernel = strlen(KERNEL_DSO) - 1;
	struct range new = { .start = map->addr, .end = map->addr + map->len };

	/* "[kernel.kallsyms]_text", and perf's "[guest.kernel.kallsyms.1]": the names of modules have no dot. */
	if (map->pid != TASK_PID_KERNEL || map->filename[0] != '[' || new.end <= new.start ||
	    strncmp(map->filename, KERNEL_DSO, kernel) == 0 || strchr(map->filename, '.'))
		return 0;
	new.dso = intern_string(k->strings, map->filename);
	return new.dso != NULL ? range_put(k, new) : -FMT_E_NOMEM;
}

/* --- as time goes by --------------------------------------------------------------------- */

int
kernel_symbols_apply(struct kernel_symbols *k, const struct perf_record *record)
{
	struct kernel_symbol s = {
		.start = record->ksymbol.addr,
		.end = record->ksymbol.addr + record->ksymbol.len,
	};
	struct entry *e;

	if (record->type != REC_KSYMBOL || s.end <= s.start)
		return 0;
	if (perf_record_ends_module(record))
		return range_put(k, (struct range){ s.start, s.end, NULL });
	if (record->ksymbol.flags & KSYMBOL_UNREGISTER) {
		e = entry_at(k, NO_MODULE, s.start, false);
		if (e != NULL && e->symbol.start == s.start)
			entry_remove(k, e);
		return 0;
	}
	s.name = intern_string(k->strings, record->ksymbol.name);
	s.dso = s.name;
	if (s.name == NULL)
		return -FMT_E_NOMEM;
	make_room(k, NO_MODULE, &s);
	return kernel_symbols_add(k, NO_MODULE, &s);
}

/* --- names ------------------------------------------------------------------------------- */

static bool
find_in(const struct kernel_symbols *k, const char *group, uint64_t address,
	struct kernel_symbol *ret)
{
	const struct entry *e = entry_at(k, group, address, false);

	if (e == NULL || address >= e->symbol.end)
		return false;
	*ret = e->symbol;
	return true;
}

bool
kernel_symbols_find(const struct kernel_symbols *k, uint64_t address, struct kernel_symbol *ret)
{
	const struct range *range;

	if (find_in(k, NO_MODULE, address, ret))
		return true;
	range = range_of(k, address);
	if (range == NULL)
		return find_in(k, any_module, address, ret);
	if (range->dso == NULL || !find_in(k, range->dso, address, ret))
		return false;
	if (ret->end > range->end)
		ret->end = range->end;
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
	const struct entry *own = entry_at(k, NO_MODULE, address, true);
	const struct entry *module = entry_at(k, any_module, address, true);

	if (own == NULL || (module != NULL && module->symbol.start < own->symbol.start))
		own = module;
	if (own == NULL)
		return false;
	*ret = own->symbol;
	return true;
}

uint64_t
kernel_symbols_left_out(const struct kernel_symbols *k)
{
	return k->left_out;
}
