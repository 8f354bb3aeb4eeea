/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * word_lists: distinct lists of 32-bit words, numbered as they come: equal lists have one number.
 * What keys of several fields, and stacks of numbers, are kept in.
 */
#ifndef FORMAT_BYTES_WORD_LISTS_H
#define FORMAT_BYTES_WORD_LISTS_H

#include <stddef.h>
#include <stdint.h>

#include "format/bytes/slots.h"

struct word_lists {
	uint32_t *words;
	size_t nr_words, cap_words;
	size_t *start; /* of each list in words; it ends where the next begins */
	size_t nr, cap;
	struct slots slots;
};

void word_lists_done(struct word_lists *l); /* all zero is an empty one */
/* Forgets all lists, keeps the memory. */
void word_lists_clear(struct word_lists *l);
/* Memory that they take. */
size_t word_lists_bytes(const struct word_lists *l);

/* The number of a list; one that is new gets l->nr, which is one more then. 0, -FMT_E_NOMEM. */
int word_lists_number(struct word_lists *l, const uint32_t *words, size_t n, uint32_t *ret);

/* The words of a list, until one is added. */
static inline const uint32_t *
word_lists_at(const struct word_lists *l, uint32_t number, size_t *ret_n)
{
	size_t end = number + 1 < l->nr ? l->start[number + 1] : l->nr_words;

	*ret_n = end - l->start[number];
	return l->words + l->start[number];
}

#endif
