/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mapped_objects: the objects that were mapped, each loaded once, whichever maps and paths it has: one
 * for each build-id and owner (struct object), one for each path where no build-id was recorded. Anybody can
 * make a file of any build-id: that of another user names the maps of that file alone.
 */
#ifndef SYMBOLIZER_RESOLVE_MAPPED_OBJECTS_H
#define SYMBOLIZER_RESOLVE_MAPPED_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>

#include "format/bytes/slots.h"
#include "format/model/task_model.h"
#include "symbolizer/object/object_places.h"
#include "symbolizer/object/resolve_miss.h"
#include "symbolizer/text/intern.h"

#define MAPPED_OBJECTS_UNKNOWN "[unknown]"

struct object;

/* What stands for one object that was mapped, whatever its maps. */
struct mapped_object {
	struct map_object key; /* with a path of its own; its index is not looked at */
	bool tried;
	bool relative; /* [vdso], [vsyscall]: the map's start is the image's, whatever pgoff says */
	enum resolve_miss miss; /* object NULL: why */
	size_t tried_at;	/* number of objects loaded by then */
	struct object *object;
	const char *dso, *path;
	const char *build_id; /* of frames */
};

struct mapped_objects {
	const struct object_places *places;
	struct intern *strings;
	size_t *labels; /* what paths and names of objects took of their room */
	struct mapped_object *mapped;
	size_t nr_mapped, cap_mapped;
	struct slots mapped_slots;
	struct object **objects; /* loaded ones, shared by every map_object with their build-id */
	size_t nr_objects, cap_objects;
	struct slots by_build_id; /* indexes of objects */
};

/* All are borrowed; what places has may change. labels: the group of strings that are no functions. Opens nothing. */
void mapped_objects_init(struct mapped_objects *m, const struct object_places *places,
			 struct intern *strings, size_t *labels);
void mapped_objects_done(struct mapped_objects *m); /* all zero is an empty one */

/* Another recording: what was known by its path alone is forgotten. 0, -FMT_E_NOMEM. */
int mapped_objects_begin(struct mapped_objects *m);
/* The object of a map, loaded if it is anywhere. Good until the next call. 0, -FMT_E_NOMEM. */
int mapped_objects_find(struct mapped_objects *m, const struct task_map *map,
			struct mapped_object **ret);
/* Takes the object over when it succeeds. 0, -FMT_E_NOMEM. */
int mapped_objects_keep(struct mapped_objects *m, struct object *o);

/* In hex, interned; *ret NULL: it has none that others know. 0, -FMT_E_NOMEM. */
int mapped_objects_build_id(struct intern *strings, size_t *labels, const struct buildid *id,
			    const char **ret);

#endif
