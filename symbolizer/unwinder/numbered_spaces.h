/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * numbered_spaces: what is mapped in the address spaces that the recorder has numbered. Above a bound of memory those
 * that were not asked about for longest are forgotten.
 */
#ifndef SYMBOLIZER_UNWINDER_NUMBERED_SPACES_H
#define SYMBOLIZER_UNWINDER_NUMBERED_SPACES_H

#include "format/unwind/unwind_ring.h"

#define NUMBERED_SPACES_BYTES_MAX (4u << 20) /* 130,000 maps; 1,024 processes of 128 each */

struct numbered_spaces;

struct numbered_spaces *numbered_spaces_new(void); /* NULL: out of memory */
void numbered_spaces_free(struct numbered_spaces *s);

/* Its nr maps are copied. A number that there cannot be is passed over. 0, -FMT_E_NOMEM: it is not known any more. */
int numbered_spaces_set(struct numbered_spaces *s, const struct unwind_space *space);
bool numbered_spaces_known(const struct numbered_spaces *s, uint32_t number);
/* Likewise; then it was asked about just now. */
bool numbered_spaces_use(struct numbered_spaces *s, uint32_t number);
/* Of one that is known: whose it is. */
uint32_t numbered_spaces_user(const struct numbered_spaces *s, uint32_t number);
/* The map at an address; NULL: there is none. */
const struct unwind_map *numbered_spaces_map(const struct numbered_spaces *s, uint32_t number,
					     uint64_t address);

#endif
