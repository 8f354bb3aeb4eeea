/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * object_store: which file on this machine is the object that the recording saw.
 *
 * Candidates for the object itself, in order: the recorded path under symfs, what is packed inside of
 * the recording (packed_objects), which is also where its debug file is looked for first, the recorded path,
 * the same in the roots of living processes that have it mapped, and what they have mapped if it was
 * deleted (live_files; recordings of this boot only), and by build-id /usr/lib/.build-id, ~/.debug
 * (perf's cache) and debuginfod's cache. For its symbols when it is stripped: .build-id below the
 * debug directories (under symfs too), ~/.debug, debuginfod's cache, then where .gnu_debuglink
 * points. When the object is nowhere, the copy that was stored with the recording stands for it
 * (stored_objects), else a file with its symbols, by build-id. A copy has less than the file, and
 * anybody who runs a program chooses its build-id: so it does not come before a file that is here.
 * But it may have the symbols of one that was stripped since. What is still missing is fetched, if that
 * is asked for (object_fetch). Packed files that have symbols alone come last.
 *
 * With a recorded build-id, or a surrogate, every candidate has to have the same. Without one a
 * file is believed when its inode is the recorded one (when that was recorded) and it has not
 * changed in any way (ctime) since the recording began: unlike mtime, ctime is not put back by
 * tar, cp -p or a package manager. A false refusal costs a name; a false belief invents one.
 *
 * A perf.data has no surrogates. There a file is taken, with a doubt, when it is as old by its
 * mtime and the map is one of its segments of code, page for page; and any, when forced.
 *
 * [vdso] has no file: it is this process's own image, when the build-id is the same (or, none
 * being recorded, when this is still the same boot), or perf's cache of it. Nothing tells the build-id of that of
 * 32-bit processes, [vdso32]: it is the running kernel's, when this is still the same boot.
 */
#ifndef SYMBOLIZER_OBJECT_OBJECT_STORE_H
#define SYMBOLIZER_OBJECT_OBJECT_STORE_H

#include <stdint.h>

#include "format/model/task_model.h"
#include "symbolizer/object/elf_object.h"
#include "symbolizer/object/object_places.h"
#include "symbolizer/object/resolve_miss.h"
#include "symbolizer/object/symtab.h"

#define OBJECT_TRUSTED INT64_C(-1)
#define OBJECT_STORED INT64_C(-2)

/* What the resolver keeps of an object: no ELF handle. */
struct object {
	struct buildid build_id; /* as recorded; size 0: none was */
	struct elf_segment *segments;
	size_t nr_segments;
	/*
	 * Only a file with its symbols was found, which has lost where in the file the segments
	 * were: their offsets here are their addresses, see object_address().
	 */
	bool separate;
	bool codeless; /* only a stored copy was found, which has no code */
	enum resolve_doubt doubt;
	bool has_symtab; /* the file, or that with its symbols, has a .symtab */
	struct symtab *symbols;
	struct symtab *stubs; /* PLT; NULL: none */
	struct symtab *data;  /* variables; NULL: nobody asked */
	/* Of an object without has_symtab: functions that its call frame information tells apart; NULL: none. */
	struct symtab *functions;
	/* The resolver's, by their symbols: names as frames have them, NULL: not asked for yet. */
	const char **names, **stub_names, **data_names;
	size_t names_bytes; /* likewise: of the room for names, what it took */
	char *path; /* where it was found, or the file with its symbols; NULL: nobody can tell */
	/* The file with its debug information, the same as its symbols' or not; -1: there is none. */
	int debug_fd;
	int alt_fd;	     /* the file that dwz(1) moved a part of it to; -1: there is none */
	uint64_t debug_bias; /* from addresses there to those here */
	/*
	 * Whose word its names are: OBJECT_TRUSTED, of root or the reader; OBJECT_STORED, of who made the recording;
	 * else the number of the user, and it names nothing but what is that user's.
	 */
	int64_t owner;
	/* It, its symbols or its debug information are of a copy: its owner is who recorded, not who compiled it. */
	bool stored;
	bool debug_bad; /* it could not be read, and is not read again */
	int code_fd;	/* the file itself, where places asked for it; -1: it is not there */
	/*
	 * Where places asked for code, for whoever takes the files along: what stands for the object, with code
	 * or not, and the other file with its symbols. -1: there is none, or it is in the recording already.
	 */
	int file_fd, names_fd;
};

/*
 * Objects of the build that the caller has: find returns the one that will do for a file of this owner, with a .symtab
 * of its own or without, or NULL.
 */
struct object_known {
	struct object *(*find)(void *arg, int64_t owner, bool has_symtab);
	void *arg;
};

/*
 * Finds and loads what is mapped; a file of which known has an object is found, and not read. known may be NULL.
 * 0 with *ret set, a new object or that of known, or with *ret NULL and *ret_miss saying why; -FMT_E_NOMEM.
 */
int object_store_load(const struct object_places *places, const struct map_object *wanted,
		      const struct task_map *map, const struct object_known *known,
		      struct object **ret, enum resolve_miss *ret_miss);
/*
 * The files of what is mapped, for whoever needs more of them than names: the object itself, and the
 * one with its debug information where that is another. Either is NULL where it is not here. places
 * needs sums. 0, -FMT_E_NOMEM.
 */
int object_store_open(const struct object_places *places, const struct map_object *wanted,
		      const struct task_map *map, struct elf_object **ret,
		      struct elf_object **ret_debug);
/* The file at this path, whatever it is. 0, as elf_object_open(), or -FMT_E_IO with errno. */
int object_store_file(const struct object_places *places, const char *path, struct object **ret);
/* The debug information of a file that has some, and nothing else of it. 0, -FMT_E_NOMEM. */
int object_store_debug(const struct object_places *places, struct elf_object *elf,
		       struct object **ret);
void object_free(struct object *o);

/*
 * Of an object that is separate: where the sampled byte of this map would be, as if the file had
 * its segments at their addresses. False: it cannot be told.
 */
bool object_address(const struct object *o, const struct task_map *map, uint64_t ip, uint64_t *ret);

#endif
