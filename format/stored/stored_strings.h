/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stored_strings: a section of strings, of which those are copied that something refers to: symbols, the names of
 * sections, the dynamic segment. The others are zeros.
 */
#ifndef FORMAT_STORED_STORED_STRINGS_H
#define FORMAT_STORED_STORED_STRINGS_H

#include "format/stored/stored_check.h"
#include "format/stored/stored_reduce.h"

#define STORED_STRINGS_MAX 3 /* of symbols, of dynamic ones, of sections */

/* Zeroed: none. */
struct stored_strings {
	struct stored_strings_part {
		size_t section;
		uint64_t n;
		uint8_t *starts; /* a bit for each byte that a string begins with */
	} part[STORED_STRINGS_MAX];
	size_t nr;
};

/* Of all of these: 0, -FMT_E_NOMEM, and as of stored_elf_bytes(). */

/* The names of the symbols of section i; of all sections; of libraries. */
int stored_strings_of_symbols(struct stored_strings *s, const struct stored_elf *e, size_t i);
int stored_strings_of_sections(struct stored_strings *s, const struct stored_elf *e);
int stored_strings_of_dynamic(struct stored_strings *s, const struct stored_elf *e,
			      const struct stored_dynamic *d, size_t strings);

bool stored_strings_has(const struct stored_strings *s, size_t section);
/* Section i of s to this place of the copy. Also what put() returned. */
int stored_strings_copy(const struct stored_strings *s, const struct stored_elf *e, size_t i,
			uint64_t to, stored_put_fn *put, void *arg);

void stored_strings_done(struct stored_strings *s);

#endif
