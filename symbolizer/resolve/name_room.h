/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * name_room: the names of a resolver, demangled, and how much room whose names may take. Who makes an object, or
 * code at run time, chooses how many names it has, and how long they are: one takes an eighth of what the
 * others leave, all objects of users other than root and the reader a half, and all code that is made at run time another.
 * So have the paths of objects, and the names of tasks and control groups, which are anybody's to choose.
 */
#ifndef SYMBOLIZER_RESOLVE_NAME_ROOM_H
#define SYMBOLIZER_RESOLVE_NAME_ROOM_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "format/bytes/fair_part.h"
#include "symbolizer/resolve/demangle.h"
#include "symbolizer/text/intern.h"

struct object;

struct name_room {
	struct intern *strings;
	bool no_demangle;
	enum demangle_style style;
	struct fair_accounts
		makers;	     /* of code that is made at run time, by the address of its path */
	size_t made_bytes;   /* of all of them */
	size_t others_bytes; /* of all objects of others */
	size_t label_bytes;  /* of paths, tasks and control groups */
	unsigned others_cut; /* of their names, see demangle_patiently() */
	unsigned cut;	     /* of all other names */
	char lost[PATH_MAX]; /* the first whose names there was no room for; empty: none */
};

/* False: out of memory; it is to be ended all the same. All zero is an empty one. */
bool name_room_init(struct name_room *n, bool no_demangle, enum demangle_style style);
void name_room_done(struct name_room *n);

/* A name of the object as a linker has it, as frames have it. 0, -FMT_E_NOMEM. */
int name_room_symbol(struct name_room *n, struct object *of, const char *raw, const char **ret);
/* Any other string of the object. NULL: out of memory. */
const char *name_room_text(struct name_room *n, struct object *of, const char *text);
/* What is the name of no function. NULL: out of memory. */
const char *name_room_label(struct name_room *n, const char *text);
/* The name of code that was made at run time, as the file with this interned path has it. NULL: out of memory. */
const char *name_room_made(struct name_room *n, const char *path, const char *name);

#endif
