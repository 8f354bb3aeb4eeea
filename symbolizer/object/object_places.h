/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * object_places: where on this machine files with names are looked for, and what is believed of
 * them.
 */
#ifndef SYMBOLIZER_OBJECT_OBJECT_PLACES_H
#define SYMBOLIZER_OBJECT_OBJECT_PLACES_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "symbolizer/object/object_fetch.h"

struct live_files;
struct object_debug_sums;
struct packed_objects;

/* Room for symbols. */
struct object_room {
	uint64_t left;	      /* bytes of their tables that may be read */
	uint64_t refused;     /* files that had more than their part of it */
	char first[PATH_MAX]; /* of these; empty: its path is not known */
};

struct object_places {
	struct packed_objects *packed; /* files inside of the recording; NULL: none */
	const char *stored;	       /* copies beside the recording; NULL: none */
	const char *symfs;	       /* NULL: none */
	const char *const *debug_dirs; /* NULL-terminated; not NULL */
	const char *debug_cache;       /* perf's ~/.debug; NULL: none */
	const char *debuginfod_cache;  /* of debuginfod's client, see there; NULL: none */
	uint64_t start_realtime_ns;    /* of the recording; 0: not known, and nothing without
					  a build-id is believed */
	/* A file that is older may be taken with a doubt, CLOCK_REALTIME; 0: none may. */
	uint64_t doubtful_until_ns;
	bool force;	/* takes any file without a build-id that has the path */
	bool this_boot; /* the recording is of this boot */
	bool keep_code; /* objects keep a descriptor of their code, see struct object */
	bool data;	/* objects have the symbols of their data, too */
	struct object_debug_sums *sums; /* of all who look */
	struct object_room
		*others;	 /* of files of others than root and the reader; NULL: any number */
	struct live_files *live; /* NULL: processes are not asked */
	struct object_fetch *fetch; /* with debuginfod_cache; NULL: nothing is fetched */
};

/*
 * Opens a regular file, and no other: a path out of a recording may name a device, whose opening
 * alone does things. -1: there is none.
 */
int object_places_open(const char *path, struct stat *ret);

/*
 * The i-th of the files with symbols that are kept by build-id: in the debug directories below root
 * (NULL: none), in those here, in perf's cache, in debuginfod's. The path is empty where there can
 * be none. False: there are no more.
 */
bool object_places_debug(const struct object_places *p, const char *root, size_t i,
			 const uint8_t *id, size_t size, char ret_path[PATH_MAX]);
/*
 * Likewise the i-th of the objects themselves: /usr/lib/.build-id of systems with RPM, perf's cache,
 * debuginfod's.
 */
bool object_places_by_id(const struct object_places *p, size_t i, const uint8_t *id, size_t size,
			 char ret_path[PATH_MAX]);

/* Where debuginfod's cache has a file, or would have it; empty: nowhere. */
void object_places_fetched(const struct object_places *p, enum object_fetch_what what,
			   const uint8_t *id, size_t size, char ret_path[PATH_MAX]);

/* Where they are by the environment, to be freed; NULL: nowhere, or out of memory. */
char *object_places_debug_cache(void);
/* debuginfod_find_debuginfo(3) says where. */
char *object_places_debuginfod_cache(void);

#endif
