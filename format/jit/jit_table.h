/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jit_table: the code that one process made at run time: ranges of addresses with names, each from
 * some time on, until another range is put over it.
 *
 * Filled first, then settled, then only searched. A search takes O(log^2 n), however the ranges
 * overlap.
 */
#ifndef FORMAT_JIT_JIT_TABLE_H
#define FORMAT_JIT_JIT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JIT_NAME_MAX 4096u		/* bytes of a name that are kept */
#define JIT_ENTRIES_MAX (1u << 19)	/* of a table; a JVM has 50,000, V8 100,000 */
#define JIT_NAMES_BYTES_MAX (64u << 20) /* of a table's names */

struct jit_table;

struct jit_table *jit_table_new(void); /* NULL: out of memory */
void jit_table_free(struct jit_table *t);
/* Other bounds than those above, lower ones. */
void jit_table_limit(struct jit_table *t, size_t entries, size_t names_bytes);

/*
 * [start, start + size) is called name (len bytes, no NUL in them) from time_ns on; len 0: nothing
 * is there any more. Of two with one time the later call is right. A range that is empty or wraps
 * is left out, as is what is over the bounds above. 1: *ret (may be NULL) is its number, 0: it was
 * left out, -FMT_E_NOMEM.
 */
int jit_table_add(struct jit_table *t, uint64_t start, uint64_t size, uint64_t time_ns,
		  const char *name, size_t len, uint32_t *ret);
/* Likewise, with the name of an entry. */
int jit_table_again(struct jit_table *t, uint64_t start, uint64_t size, uint64_t time_ns,
		    uint32_t entry);
/* Once, when all are there. 0, -FMT_E_NOMEM. */
int jit_table_settle(struct jit_table *t);

size_t jit_table_count(const struct jit_table *t);
uint64_t jit_table_left_out(const struct jit_table *t); /* over the bounds */

struct jit_symbol {
	uint64_t start, size;
	uint32_t order;	  /* of arrival, from 0 */
	const char *name; /* the table's */
};

/* One of the ranges that hold an address, as it was added. */
struct jit_range {
	uint64_t start, size, time_ns;
	uint32_t order;	  /* of arrival */
	uint32_t number;  /* below jit_table_count() */
	const char *name; /* the table's; "": nothing is there any more */
};

/*
 * fn(arg, range) for all ranges that hold the address, of any time, in no order; anything but 0 ends
 * it, and is what it returns.
 */
int jit_table_each(const struct jit_table *t, uint64_t address,
		   int (*fn)(void *arg, const struct jit_range *range), void *arg);

/* What address was called at that time. */
bool jit_table_find(const struct jit_table *t, uint64_t address, uint64_t time_ns,
		    struct jit_symbol *ret);

#endif
