/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * address_space: what is mapped where in one process: maps that do not overlap, by address.
 *
 * A new map replaces what it covers and splits what it cuts. A fork shares its parent's
 * space until either maps something (copy on write): a storm of forks costs no copies.
 */
#ifndef FORMAT_MODEL_ADDRESS_SPACE_H
#define FORMAT_MODEL_ADDRESS_SPACE_H

#include <stdint.h>

#include "format/model/task_model.h"

/*
 * There is no unmap record of processes, so a space only grows. The kernel allows 65530 maps by default:
 * over twice as many, unless the caller wants fewer, the older ones are forgotten, what has no
 * file first.
 */
#define ADDRESS_SPACE_MAPS_MAX 131072

/*
 * In all spaces of a model: 96 MiB; of 10,000 processes that is 100 executable maps each that they share
 * with nobody. Over it (children of a process with 65530 maps, each of which maps one more), a map
 * that comes is not kept, and a space that would have to be copied for it ends.
 */
#define ADDRESS_SPACES_MAPS_MAX (1u << 20)

/*
 * Maps copied for children that map, before they exec or exit: so many at first, and so many more for each
 * map that is put. Else two records could cost as much as 65530 maps do, over and over.
 */
#define ADDRESS_SPACES_COPIES_FREE (4u << 20)
#define ADDRESS_SPACES_COPIES_EACH 64

struct address_space; /* NULL is an empty one */

/* Totals over the spaces of one model. */
struct address_space_totals {
	uint64_t spaces, maps;
	uint64_t put, copied; /* so far */
	uint64_t changes;     /* so far, of all spaces */
	uint64_t left_out;    /* maps that were forgotten, or not taken, for want of room */
};

struct address_space *address_space_ref(struct address_space *s);
void address_space_unref(struct address_space *s);

/*
 * Adds a map to *space, which is made when it is NULL and copied when it is shared. It has at most
 * max maps then. Where that is 0 the map is not kept: what it covers is gone, the newest
 * TASK_MODEL_MAPS_FULL of the others stay, and a space that is shared ends.
 * -FMT_E_NOMEM: *space is as it was. A map with end <= start is ignored.
 */
int address_space_put(struct address_space **space, struct address_space_totals *totals,
		      const struct task_map *map, uint64_t max);

/* Nothing is mapped at [start, end) any more. Not of a space that is shared. */
void address_space_unmap(struct address_space *s, uint64_t start, uint64_t end);

/* The map that holds addr; NULL. */
const struct task_map *address_space_find(struct address_space *s, uint64_t addr);

/* In order of addresses; prev NULL: the first. NULL: the end. */
const struct task_map *address_space_next(struct address_space *s, const struct task_map *prev);

/* A number that no other space of the model has, nor this one before its last change; 0: it is empty. */
uint64_t address_space_version(const struct address_space *s);

uint64_t address_space_bytes(const struct address_space_totals *totals);

#endif
