/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jit_kept: names of code made at run time that a recording has in its JIT blocks, whichever host it
 * is read on. All of them are taken in first, since a block may come after its samples; the table of
 * a process is made when the first of its addresses is asked for. One thread.
 */
#ifndef SYMBOLIZER_JIT_JIT_KEPT_H
#define SYMBOLIZER_JIT_JIT_KEPT_H

#include <stdbool.h>
#include <stdint.h>

#include "format/jit/jit_table.h"
#include "format/recording/recording_reader.h"

/* Of a recording, of whose processes each has a fair_part; each takes 150 bytes at most, and its name twice. */
#define JIT_KEPT_ENTRIES_MAX (1u << 18)
#define JIT_KEPT_NAMES_BYTES_MAX (32u << 20)

struct jit_kept;

/*
 * The JIT blocks of a file, found by its indexes; the reader is rewound. *ret NULL: there are none.
 * 0, -FMT_E_IO, -FMT_E_NOMEM.
 */
int jit_kept_read(struct recording_reader *reader, struct jit_kept **ret, struct fmt_where *where);
void jit_kept_free(struct jit_kept *k);

/* What the address of the process that had this pid at that time was called then. 1, 0, -FMT_E_NOMEM. */
int jit_kept_find(struct jit_kept *k, uint32_t pid, uint64_t address, uint64_t time_ns,
		  struct jit_symbol *ret);

/* When another process had this pid, or the process another program, after this time; 0: none that is known. */
uint64_t jit_kept_until(const struct jit_kept *k, uint32_t pid, uint64_t time_ns);

/* Was any of its code called anything? */
bool jit_kept_has(const struct jit_kept *k, uint32_t pid);

/* An address of a process of this pid may have another name at another time. */
bool jit_kept_timed(const struct jit_kept *k, uint32_t pid);

uint64_t jit_kept_left_out(const struct jit_kept *k);	/* entries that there was no room for */
uint64_t jit_kept_bad_blocks(const struct jit_kept *k); /* that were not read to their ends */

#endif
