/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * map_objects: the mapped files of a task_model, each there once.
 *
 * An object is one inode (maj, min, ino, generation), path and build-id; so a path that was
 * replaced by another build is another object. Build-ids that come later, by inode, are
 * given to the objects that have none and kept for those to come. Counts the maps that use
 * each object; map_objects_sweep() forgets those that none does.
 */
#ifndef FORMAT_MODEL_MAP_OBJECTS_H
#define FORMAT_MODEL_MAP_OBJECTS_H

#include <stddef.h>
#include <stdint.h>

#include "format/model/task_model.h"

/*
 * Of objects, their paths and build-ids that came alone: 100,000 files of the usual length of paths. Of
 * what comes above it, maps have the object that the kernel has for a path without memory, and
 * build-ids are forgotten.
 */
#define MAP_OBJECTS_BYTES_MAX (32u << 20)
#define MAP_OBJECTS_LEFT_OUT "//enomem"

struct map_objects;

struct map_objects *map_objects_new(void); /* NULL: out of memory */
void map_objects_free(struct map_objects *t);

/* The object that a record maps; NULL: out of memory. Without making it: NULL, there is none. */
struct map_object *map_objects_get(struct map_objects *t, const struct perf_mmap *m);
struct map_object *map_objects_find(struct map_objects *t, const struct perf_mmap *m);

void map_object_ref(struct map_object *o);
void map_object_unref(struct map_object *o); /* does not free: that is the sweep's */

/* The inode's own build_id is not looked at. */
int map_objects_set_build_id(struct map_objects *t, const struct map_object *inode,
			     const struct buildid *id);
/* Gives it to the object of this file and path that has none; keeps it for no other. 1: there is one. */
int map_objects_give_build_id(struct map_objects *t, const struct map_object *file,
			      const struct buildid *id);
/* By path alone, for objects whose inode nobody gave a build-id to. */
int map_objects_set_path_build_id(struct map_objects *t, const char *path,
				  const struct buildid *id);
size_t map_objects_count(const struct map_objects *t); /* indexes in use are below it */
const struct map_object *map_objects_at(const struct map_objects *t, size_t index);
void map_objects_sweep(struct map_objects *t);
size_t map_objects_used(const struct map_objects *t);
uint64_t map_objects_left_out(const struct map_objects *t); /* see MAP_OBJECTS_BYTES_MAX */
size_t map_objects_bytes(const struct map_objects *t);

#endif
