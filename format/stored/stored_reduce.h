/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stored_reduce: an ELF file without what neither names nor unwinding needs.
 *
 * What the program headers load stays where it was in the file, so that these still hold; what is
 * left out of it is a hole. Kept are symbol tables with the strings that they refer to, notes, call
 * frame information, Go's table of functions, MiniDebugInfo, the links to debug files, and what
 * names the stubs of the PLT (their code, their relocations, the dynamic segment). Kept sections that are
 * not loaded follow, then the section headers. A section that is left out is SHT_NOBITS, as objcopy
 * --only-keep-debug makes it. Debug information is left out.
 *
 * The file is anybody's, and whoever reads the copy may not be allowed to read the file: nothing of it is believed
 * before it has been compared with its size, a section is kept as far as its bytes are what its header says
 * (stored_check, stored_frames), and what is read, allocated and given is bounded. So neither the code nor the data of a
 * program is in its copy, whatever its sections say, and whether or not it has any.
 */
#ifndef FORMAT_STORED_STORED_REDUCE_H
#define FORMAT_STORED_STORED_REDUCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/bytes/io.h"

#define STORED_SEGMENTS_MAX 1024       /* as of symbolizer/object/elf_object.h */
#define STORED_SECTIONS_MAX (1u << 16) /* as many as e_shnum can say, about */
#define STORED_LOADED_MAX (UINT64_C(1) << 32)
#define STORED_CHUNK (64u << 10) /* bytes that are given at once, at most */

/* Takes bytes for this place of the copy. 0, or an error (negative), which ends it. */
typedef int stored_put_fn(void *arg, uint64_t offset, const void *p, size_t n);

/*
 * Gives put the bytes of the reduced file, at most max_bytes of them; *ret_size: how long it is, holes and
 * all. Where all of it would be too much, .symtab goes without saying. 0; -FMT_E_UNSUPPORTED (no
 * little-endian executable or shared object), -FMT_E_CORRUPT, -FMT_E_TRUNCATED (it got shorter),
 * -FMT_E_TOO_BIG, -FMT_E_IO, -FMT_E_NOMEM, or what put() returned.
 */
int stored_reduce(struct io_source *file, uint64_t max_bytes, stored_put_fn *put, void *arg,
		  uint64_t *ret_size);

/* Bytes [at, end) of the file. */
struct stored_range {
	uint64_t at, end;
};

/* What is kept besides, or left out. */
struct stored_extra {
	bool lines; /* the debug information that functions and lines of the source come from */
	bool names_only; /* no call frame information */
	/*
	 * It may be a debug file, whose segments have no bytes of it, or one of sections alone, which dwz(1) moved
	 * parts of others to.
	 */
	bool apart;
	const struct stored_range
		*code; /* of what is loaded: a section that has some keeps its type */
	size_t nr_code;
};

/* The same with extra. */
int stored_reduce_with(struct io_source *file, const struct stored_extra *extra, uint64_t max_bytes,
		       stored_put_fn *put, void *arg, uint64_t *ret_size);

/* The same of every byte, up to max_bytes. */
int stored_copy(struct io_source *file, uint64_t max_bytes, stored_put_fn *put, void *arg,
		uint64_t *ret_size);

#endif
