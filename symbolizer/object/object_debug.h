/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * object_debug: the file with the symbols and the debug information of an object that is stripped
 * of them, or of either.
 */
#ifndef SYMBOLIZER_OBJECT_OBJECT_DEBUG_H
#define SYMBOLIZER_OBJECT_OBJECT_DEBUG_H

#include <pthread.h>

#include "symbolizer/object/elf_object.h"
#include "symbolizer/object/object_places.h"

#define OBJECT_DEBUG_SUM_BYTES_MAX (UINT64_C(1) << 30)

/*
 * The checksums of files, each of which takes the reading of a whole file: those that were read
 * last, and of all of them OBJECT_DEBUG_SUM_BYTES_MAX at most. A sparse file is long and costs its
 * owner nothing. One for all who look for files, also in other threads: one that is being read is not
 * read by another one.
 */
struct object_debug_sums {
	pthread_mutex_t lock;
	struct object_debug_sum {
		dev_t dev;
		ino_t ino;
		off_t size;
		struct timespec changed;
		uint32_t crc;
	} of[64];
	uint64_t read;	   /* files */
	uint64_t bytes;	   /* of them */
	uint64_t left_out; /* files, each time that one would have been too much */
	/* Files with symbols that do not fit their object, each time, and the first one's path. */
	uint64_t misfits;
	char misfit[PATH_MAX];
};

/* Zeroes it. */
void object_debug_sums_init(struct object_debug_sums *sums);
void object_debug_sums_done(struct object_debug_sums *sums);
/* From any thread. */
uint64_t object_debug_sums_left_out(struct object_debug_sums *sums);
/* Likewise; 0, or how often a file was refused because its sections do not fit, and the path of the first one. */
uint64_t object_debug_sums_misfits(struct object_debug_sums *sums, char ret_first[PATH_MAX]);

struct object_debug {
	const struct object_places *places;
	struct elf_object *object;
	const char *path;  /* of the object, beside which its link may point; NULL: it has none */
	const char *root;  /* what path begins with that is not the object's own: symfs; or "" */
	struct buildid id; /* as recorded; size 0: none was */
};

/*
 * A file whose sections of code do not fit those of the object (elf_shift.h) is refused, and counted in sums. One whose
 * owner may not name the object's functions (file_owner.h) is passed over; what is below symfs is the reader's word.
 * From inside of the recording, else by build-id, else by .gnu_debuglink and its checksum, else from servers by
 * build-id. 0 with *ret the caller's, or NULL: the object has its symbols itself, or nobody has them.
 * *ret_packed is set to true where it came out of the recording, and left alone otherwise. -FMT_E_NOMEM.
 */
int object_debug_find(const struct object_debug *d, struct elf_object **ret, bool *ret_packed);

/*
 * A descriptor of the file that dwz(1) moved a part of this file's debug information to: by its path,
 * which may be relative to the file, below the debug directories by build-id or in .dwz, or from servers; its
 * build-id is the one that the file names, and its owner one who may name what that file names. Inside of the recording
 * first: then *ret_packed is set to true, and left alone otherwise. *ret -1: there is none. 0, -FMT_E_NOMEM.
 */
int object_debug_alt(const struct object_places *p, struct elf_object *debug, int *ret,
		     bool *ret_packed);

#endif
