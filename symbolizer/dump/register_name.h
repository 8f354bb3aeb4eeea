/* SPDX-License-Identifier: GPL-2.0-or-later */
/* register_name: the registers of a sample by name, in the numbers that perf has for them. */
#ifndef SYMBOLIZER_DUMP_REGISTER_NAME_H
#define SYMBOLIZER_DUMP_REGISTER_NAME_H

#include <stddef.h>
#include <stdint.h>

/* arch: as uname(2) has the machine; may be NULL. NULL: a number of no name. */
const char *register_name(const char *arch, unsigned number);

/*
 * Names with commas, in upper or lower case, as bits of their numbers; those of allowed only. XMM registers have two
 * numbers each. 0; -1 with
 * *ret_word the first that is none, and *ret_bytes its length.
 */
int register_name_parse(const char *arch, uint64_t allowed, const char *text, uint64_t *ret,
			const char **ret_word, size_t *ret_bytes);

#endif
