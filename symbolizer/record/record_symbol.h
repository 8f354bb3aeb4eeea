/* SPDX-License-Identifier: GPL-2.0-or-later */
/* record_symbol: PATH:SYMBOL[+OFFSET] as it stands in events of spoor record, of probes and of breakpoints. */
#ifndef SYMBOLIZER_RECORD_RECORD_SYMBOL_H
#define SYMBOLIZER_RECORD_RECORD_SYMBOL_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

/* The file, of n bytes, as the kernel calls it. False: errno. */
bool record_symbol_path(const char *typed, size_t n, char path[PATH_MAX]);

/*
 * Cuts "+0x10" off a name. Where the plus was, with *ret what it adds; NULL: there is none, and *ret is 0. *ret_good:
 * it is a number, or none.
 */
char *record_symbol_cut(char *name, uint64_t *ret, bool *ret_good);

/* "SYMBOL=0x1000", as the recorder takes what was found; the symbol, of n bytes, is as it was typed. */
void record_symbol_put(struct buf *out, const char *symbol, size_t n, uint64_t value);

#endif
