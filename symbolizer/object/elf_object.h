/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * elf_object: one ELF file, read as if its maker were an enemy.
 *
 * Program headers, build-id, debug link, and the symbols of .symtab, .dynsym and the PLT.
 * Only executables and shared objects (ET_EXEC, ET_DYN), little-endian. The file is read,
 * never mapped: one that is truncated under us is an error and not a SIGBUS. Counts, sizes
 * and links are believed only after they fit the file and the limits below.
 */
#ifndef SYMBOLIZER_OBJECT_ELF_OBJECT_H
#define SYMBOLIZER_OBJECT_ELF_OBJECT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "format/bytes/buildid.h"
#include "format/bytes/span.h"
#include "symbolizer/object/symtab.h"

#define ELF_BUILD_ID_MAX 64
#define ELF_SEGMENTS_MAX 1024
#define ELF_SECTIONS_MAX (1u << 18)
#define ELF_TABLE_MAX (1u << 30) /* bytes of one symbol or string table */

struct elf_object;

/*
 * fd is owned from here on, also on failure. -FMT_E_CORRUPT, -FMT_E_TRUNCATED,
 * -FMT_E_UNSUPPORTED (not an executable or shared object, big-endian), -FMT_E_IO,
 * -FMT_E_TOO_BIG, -FMT_E_NOMEM.
 */
int elf_object_open(int fd, struct elf_object **ret);
/* The same for an image in memory, which is copied. */
int elf_object_open_memory(const void *image, size_t size, struct elf_object **ret);
void elf_object_close(struct elf_object *o);

/* The GNU build-id; its size, 0: none. Longer ones than records can hold are told whole. */
size_t elf_object_build_id(const struct elf_object *o, const uint8_t **ret_id);

/* Which build the file is to the recorder (format/bytes/buildid.h). 0, -FMT_E_*. */
int elf_object_recorded_id(const struct elf_object *o, struct buildid *ret);

/* EM_* of any file, and its class: which instructions its code has. */
uint16_t elf_object_code_machine(const struct elf_object *o, bool *ret_is64);

/* Where the kernel, or the dynamic linker, starts it (e_entry). */
uint64_t elf_object_entry(const struct elf_object *o);

/* Is it loaded at the addresses of its segments (ET_EXEC), and not moved? */
bool elf_object_fixed(const struct elf_object *o);

/* A PT_LOAD segment. */
struct elf_segment {
	uint64_t offset, vaddr, filesz, memsz;
	bool exec;
};
size_t elf_object_segments(const struct elf_object *o, const struct elf_segment **ret);

/*
 * File offset to address, by the segment that holds the offset; where several do, an
 * executable one when the mapping was executable.
 */
bool elf_segments_vaddr(const struct elf_segment *segments, size_t nr, uint64_t file_offset,
			bool exec, uint64_t *ret_vaddr);
/* Address to file offset; exec: of code alone. False: there is no such byte in the file. */
bool elf_segments_offset(const struct elf_segment *segments, size_t nr, uint64_t vaddr, bool exec,
			 uint64_t *ret_offset);

/* .gnu_debuglink: file name and CRC-32 of the file with the symbols. */
bool elf_object_debuglink(struct elf_object *o, char *name, size_t cap, uint32_t *ret_crc);
/* .gnu_debugaltlink: path and build-id of the file that dwz(1) moved what several have to; the object's. */
bool elf_object_altlink(struct elf_object *o, const char **ret_path, struct span *ret_id);

/* Does it have a .symtab of its own? */
bool elf_object_has_symtab(const struct elf_object *o);
/* Does it have lines or functions of the source (.debug_line, .debug_info)? */
bool elf_object_has_dwarf(const struct elf_object *o);

/* The path of its file now, as the kernel tells it; false: there is none. */
bool elf_object_path(const struct elf_object *o, char ret[PATH_MAX]);
/* Likewise, of what a descriptor has open. */
bool elf_object_path_of(int fd, char ret[PATH_MAX]);
/* Bytes of tables that may be read of several files, and whether there was a table that was too large. */
struct elf_share {
	uint64_t left;
	bool refused;
};
/* No more than that is read from here on, beside the bounds above. NULL: no more than these. */
void elf_object_limit(struct elf_object *o, struct elf_share *share);
/* What fstat(2) says of the file; false: it fails. */
bool elf_object_stat(const struct elf_object *o, struct stat *ret);
/* Another descriptor of the file, for a reader of its own; -1: errno says why. */
int elf_object_dup(const struct elf_object *o);

/*
 * Adds the functions of .symtab and .dynsym, moved by bias. A table that is damaged is left
 * out as far as it is; only -FMT_E_NOMEM is an error.
 */
int elf_object_symbols(struct elf_object *o, uint64_t bias, struct symtab_builder *b);

/* Likewise the variables. */
int elf_object_data_symbols(struct elf_object *o, uint64_t bias, struct symtab_builder *b);

/* Address of the symbol of this name in .symtab, of whatever type; 0: it has none. */
uint64_t elf_object_address(struct elf_object *o, const char *name);

/* A function by its name. */
struct elf_function {
	uint64_t vaddr;
	unsigned rank; /* global before weak before local */
	size_t nr; /* functions of this rank that have the name, at different addresses; 0: there is none */
	bool ifunc; /* of some the code is chosen when the program starts, and this is what chooses */
};

/* Looks for it in .symtab and .dynsym, where names may end in "@VERSION". */
void elf_object_function(struct elf_object *o, const char *name, struct elf_function *ret);
/* Likewise a function or a variable that is no thread's own: what has one address in a process. */
void elf_object_symbol(struct elf_object *o, const char *name, struct elf_function *ret);

/*
 * Adds "name@plt" for the entries of .plt, .plt.sec, .plt.got and .iplt (x86-64, i386, aarch64). names (may be
 * NULL) names the targets of entries that an IFUNC resolver fills.
 */
int elf_object_plt(struct elf_object *o, const struct symtab *names, struct symtab_builder *b);

#endif
