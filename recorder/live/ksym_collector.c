/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/live/ksym_collector.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "format/block/ksyms.h"
#include "format/bytes/array.h"
#include "format/bytes/kallsyms.h"

/*
 * Addresses are remembered by so many bytes at a time where one symbol has them all: functions
 * begin at multiples of that, so there are few where it is not so. Samples come from all over a
 * function, and what is remembered should stay in the caches.
 */
#define GRANULE_BITS 4
#define SEEN 8192  /* granules remembered; a power of two */
#define MISSED 512 /* addresses that wait for a newer table */
#define WAYS 2	   /* places that a granule can have: one would be lost to many another time */

struct ksym_collector {
	const struct kallsyms *symbols;
	uint8_t *taken;	   /* a bit per symbol: the file has it, or it is pending */
	uint8_t *told;	   /* likewise: records say what is there now; NULL: of none */
	bool old;	   /* only what is in a module is of interest */
	uint32_t *pending; /* indexes of symbols */
	size_t nr_pending, cap_pending;
	uint64_t unknown;
	uint64_t missed[MISSED]; /* addresses without a symbol, of the open block */
	size_t nr_missed;
	uint64_t seen[SEEN / WAYS][WAYS];
};

struct ksym_collector *
ksym_collector_new(const struct kallsyms *symbols)
{
	struct ksym_collector *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->symbols = symbols;
	c->taken = symbols ? calloc(1, kallsyms_count(symbols) / 8 + 1) : NULL;
	if (symbols && !c->taken) {
		free(c);
		return NULL;
	}
	return c;
}

void
ksym_collector_free(struct ksym_collector *c)
{
	if (!c)
		return;
	free(c->taken);
	free(c->told);
	free(c->pending);
	free(c);
}

/* Takes a symbol that the file has not got yet; false: no memory. */
static bool
symbol_take(struct ksym_collector *c, size_t i)
{
	if (c->taken[i / 8] & 1u << i % 8 || (c->told && c->told[i / 8] & 1u << i % 8))
		return true;
	if (c->old && !*kallsyms_at(c->symbols, i).module)
		return true;
	if (array_reserve(c->pending, c->nr_pending, c->cap_pending, 1) < 0)
		return false;
	c->pending[c->nr_pending++] = (uint32_t)i;
	c->taken[i / 8] |= (uint8_t)(1u << i % 8);
	return true;
}

_Static_assert(WAYS == 2, "has() and remember() know no others");

static inline bool
ksym_collector_has(const uint64_t ways[WAYS], uint64_t what)
{
	return ways[0] == what || ways[1] == what;
}

static void
remember(uint64_t ways[WAYS], uint64_t what)
{
	ways[1] = ways[0];
	ways[0] = what;
}

/* An address that is not remembered. One without memory for it is looked up again later. */
static void
address_miss(struct ksym_collector *c, uint64_t addr, uint64_t ways[WAYS])
{
	uint64_t first = addr >> GRANULE_BITS << GRANULE_BITS;
	struct kallsyms_symbol symbol;
	ssize_t i;

	/* Where a granule cannot tell, the address stands whole: one of the kernel is no granule. */
	if (ksym_collector_has(ways, addr))
		return;
	i = kallsyms_find(c->symbols, addr);
	if (i < 0) {
		c->unknown++;
		if (c->nr_missed < MISSED)
			c->missed[c->nr_missed++] = addr;
		remember(ways, addr);
		return;
	}
	if (!symbol_take(c, (size_t)i))
		return;
	symbol = kallsyms_at(c->symbols, (size_t)i);
	/* A reader may take the function behind its padding: kernel_symbols_find_frame(). */
	if (kallsyms_prefix(symbol.name)) {
		i = kallsyms_find(c->symbols, symbol.end);
		if (i >= 0 && !symbol_take(c, (size_t)i))
			return;
	}
	if (symbol.start <= first && symbol.end - first >= UINT64_C(1) << GRANULE_BITS)
		remember(ways, addr >> GRANULE_BITS);
	else
		remember(ways, addr);
}

static inline void
address_need(struct ksym_collector *c, uint64_t addr)
{
	uint64_t granule = addr >> GRANULE_BITS;
	uint64_t *ways = c->seen[(granule ^ granule >> 13) % (SEEN / WAYS)];

	if (!ksym_collector_has(ways, granule))
		address_miss(c, addr, ways);
}

void
ksym_collector_sample(struct ksym_collector *c, const struct sample_glance *sample)
{
	size_t n = span_words(sample->callchain);
	bool kernel = false, leaf = true;

	if (!c->symbols)
		return;
	if ((sample->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL && sample->ip)
		address_need(c, sample->ip);
	for (size_t i = 0; i < n; i++) {
		uint64_t word = span_word(sample->callchain, i);

		if (perf_context_marker(word)) {
			/* The kernel's part comes first; all that follows it is the user's. */
			if (kernel || word == (uint64_t)PERF_CONTEXT_USER)
				break;
			kernel = word == (uint64_t)PERF_CONTEXT_KERNEL;
			continue;
		}
		if (!kernel)
			continue;
		/* The first is where the CPU was; the others are return addresses. */
		address_need(c, leaf ? word : word - 1);
		leaf = false;
	}
}

size_t
ksym_collector_pending(const struct ksym_collector *c)
{
	return c->nr_pending;
}

static int
index_cmp(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

int
ksym_collector_payload(struct ksym_collector *c, struct buf *out)
{
	if (!c->nr_pending)
		return 0;
	qsort(c->pending, c->nr_pending, sizeof(*c->pending), index_cmp);
	ksyms_begin(out);
	for (size_t i = 0; i < c->nr_pending; i++) {
		struct kallsyms_symbol s = kallsyms_at(c->symbols, c->pending[i]);

		ksyms_add(out, s.start, s.end, s.module, s.name);
	}
	return buf_failed(out) ? -ENOMEM : 1;
}

void
ksym_collector_taken(struct ksym_collector *c)
{
	c->nr_pending = 0;
	c->nr_missed = 0;
}

/* Is that symbol in the other table as well? *ret: there. */
static bool
has_symbol(const struct kallsyms *k, const struct kallsyms_symbol *symbol, size_t *ret)
{
	const ssize_t i = kallsyms_find(k, symbol->start);
	struct kallsyms_symbol s;

	if (i < 0)
		return false;
	s = kallsyms_at(k, (size_t)i);
	*ret = (size_t)i;
	return s.start == symbol->start && s.end == symbol->end &&
		strcmp(s.name, symbol->name) == 0 && strcmp(s.module, symbol->module) == 0;
}

void
ksym_collector_succeed(struct ksym_collector *c, struct ksym_collector *before)
{
	size_t nr = before->symbols && c->symbols ? kallsyms_count(before->symbols) : 0, at;
	struct kallsyms_symbol s;

	for (size_t i = 0; i < nr; i++) {
		if (!(before->taken[i / 8] & 1u << i % 8))
			continue;
		s = kallsyms_at(before->symbols, i);
		if (has_symbol(c->symbols, &s, &at))
			c->taken[at / 8] |= (uint8_t)(1u << at % 8);
	}
	for (size_t i = 0; c->symbols && i < before->nr_missed; i++)
		address_need(c, before->missed[i]);
	before->old = true;
}

void
ksym_collector_told(struct ksym_collector *c, uint64_t start, uint64_t len)
{
	size_t nr = c->symbols ? kallsyms_count(c->symbols) : 0;
	ssize_t first = nr ? kallsyms_find(c->symbols, start) : -1;

	if (first < 0 || *kallsyms_at(c->symbols, (size_t)first).module == '\0')
		return;
	if (!c->told)
		c->told = calloc(1, nr / 8 + 1);
	for (size_t i = (size_t)first; c->told && i < nr; i++) {
		if (kallsyms_at(c->symbols, i).start - start >= len && i != (size_t)first)
			break;
		c->told[i / 8] |= (uint8_t)(1u << i % 8);
	}
}

void
ksym_collector_reset(struct ksym_collector *c)
{
	memset(c->seen, 0, sizeof(c->seen));
	ksym_collector_taken(c);
	if (c->symbols)
		memset(c->taken, 0, kallsyms_count(c->symbols) / 8 + 1);
}

uint64_t
ksym_collector_unknown(const struct ksym_collector *c)
{
	return c->unknown;
}
