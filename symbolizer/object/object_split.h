/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * object_split: files that a compiler split off the debug information of an object: .dwo, where it left
 * them or beside the object, and .dwp, beside the object or its file with debug information.
 *
 * Their paths are the object's word, so anybody's. Regular ELF files whose names end as compilers name such files
 * (.dwo, .dwp, .o), and whose owner may name what the object names (file_owner.h), are opened, and nothing else; whether
 * one is what was split off is for its reader to see, by its number.
 */
#ifndef SYMBOLIZER_OBJECT_OBJECT_SPLIT_H
#define SYMBOLIZER_OBJECT_OBJECT_SPLIT_H

#include "symbolizer/object/object_places.h"
#include "symbolizer/object/object_store.h"

/*
 * The .dwo with this name of a unit that was compiled in dir (NULL: nobody says where); name NULL:
 * the .dwp. A descriptor that the caller closes; -1: there is none.
 */
int object_split_open(const struct object_places *p, const struct object *o, const char *dir,
		      const char *name);

#endif
