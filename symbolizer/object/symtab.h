/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symtab: the functions of one object, as disjoint ranges in sorted arrays.
 *
 * Filled once through a builder, then only searched. Where symbols nest, an address belongs
 * to the innermost (the greatest start that still covers it); where none covers it, there
 * is a hole and no name: a stripped object must not blame its last exported function.
 * Of several names for one place the one that perf would choose is kept.
 */
#ifndef SYMBOLIZER_OBJECT_SYMTAB_H
#define SYMBOLIZER_OBJECT_SYMTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SYMBOL_WEAK 1u
#define SYMBOL_GLOBAL 2u
#define SYMBOL_IFUNC 4u
#define SYMBOL_LABEL 8u	   /* STT_NOTYPE */
#define SYMBOL_UNSIZED 16u /* size 0: reaches to the next symbol, at most to its section's end */

/* Bytes of a name that are looked at; a hostile string table is one endless name. */
#define SYMBOL_NAME_MAX 65535

struct symtab_builder;
struct symtab;

struct symtab_builder *symtab_builder_new(void); /* NULL: out of memory */
void symtab_builder_free(struct symtab_builder *b);

/* Copies a string table, to be named by *ret_base + offset. -FMT_E_NOMEM, -FMT_E_TOO_BIG. */
int symtab_builder_strings(struct symtab_builder *b, const void *bytes, size_t len,
			   uint32_t *ret_base);
/*
 * Adds [start, start + size); with size 0, start up to the next symbol or limit, the end of
 * its section. name is an offset into the strings. A range that wraps is left out.
 */
int symtab_builder_add(struct symtab_builder *b, uint64_t start, uint64_t size, uint64_t limit,
		       uint32_t name, uint32_t flags);

/* Makes the table and frees the builder, also on failure. 0, -FMT_E_NOMEM. */
int symtab_build(struct symtab_builder *b, struct symtab **ret);
void symtab_free(struct symtab *t);

struct symbol {
	uint64_t start, end;
	const char *name; /* raw, in the table; may carry "@VERSION" */
	uint32_t index;	  /* below symtab_count(): the same for all of its addresses */
};

size_t symtab_count(const struct symtab *t);
/* The symbol that covers vaddr. */
bool symtab_find(const struct symtab *t, uint64_t vaddr, struct symbol *ret);

/* Length of a name without its "@VERSION" or "@@VERSION", bounded by SYMBOL_NAME_MAX. */
size_t symbol_name_length(const char *name);

#endif
