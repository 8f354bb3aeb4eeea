/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * object_search: which file here is the object that was recorded. Candidates are looked at in the order
 * that object_store.h tells, and believed for the reasons that it tells.
 */
#ifndef SYMBOLIZER_OBJECT_OBJECT_SEARCH_H
#define SYMBOLIZER_OBJECT_OBJECT_SEARCH_H

#include <limits.h>

#include "format/model/task_model.h"
#include "symbolizer/object/elf_object.h"
#include "symbolizer/object/object_places.h"
#include "symbolizer/object/resolve_miss.h"

struct object_search {
	const struct object_places *places;
	const struct map_object *wanted;
	const struct task_map *map; /* one of it */
	bool vdso, narrow;	    /* narrow: of 32-bit processes */
	enum resolve_doubt doubt;   /* of found */
	/* Of the candidates so far, what would help a person most. */
	enum resolve_miss miss;
	struct elf_object *found;
	bool separate; /* it has the symbols of the object, and is not the object */
	bool codeless; /* it is a copy without the code */
	bool stored; /* it, or what has its symbols, is a copy beside the recording, or inside of it */
	bool packed;	   /* it is inside of the recording: its path is none of this host */
	bool debug_packed; /* what has its symbols is */
	bool whole;	   /* nothing but the object itself will do */
	bool trusted_only; /* for now: files of others than root and the reader are passed over */
	/* Of found: where it is, or was; and what of that is no part of its own path. */
	char path[PATH_MAX];
	const char *root;
	char live_root[32];
};

/* Looks for it: s->found, which the caller closes; NULL: s->miss. 0, -FMT_E_NOMEM. */
int object_search_find(struct object_search *s);
/* The object is nowhere: what there is of it with symbols, likewise. */
int object_search_separate(struct object_search *s);

/* Is there a file of another user than root and the reader by the object's own path? */
bool object_search_is_others(const struct object_places *places, const struct map_object *wanted);

/* Of what was found, the file with its symbols; *ret is untouched where there is none. 0, -FMT_E_NOMEM. */
int object_search_debug(struct object_search *s, struct elf_object **ret);
/* The file here was stripped, and the copy of the one that was recorded was not: likewise. */
int object_search_symbols(const struct object_search *s, struct elf_object **ret);

/* The address in the object of a map's first byte, of a file with its symbols alone. */
bool object_search_address(const struct elf_segment *segments, size_t nr_segments,
			   const struct task_map *map, uint64_t *ret);

#endif
