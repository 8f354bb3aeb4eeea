/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dwarf_cache: what debug information said of addresses, kept on disk, a file for each build-id.
 *
 * A file, integers little-endian:
 *
 *	 0  u8[8]  magic "spoorSYM"
 *	 8  u32    version, 3
 *	12  u32    CRC32C of all that follows the header
 *	16  u64    device,
 *	24  u64    inode,
 *	32  u64    size and
 *	40  u64    time of the last change (ctime, ns since 1970) of the file with the debug information
 *	48  u64[4] likewise of the file that dwz(1) moved a part of it to; 0: it was not there
 *	80  u32    n, addresses
 *	84  u32    m, frames
 *	88  u64    bytes of strings
 *	96  u64    addresses[n], ascending
 *	    u32    first[n + 1]: the frames of each address, the innermost first; it may have none
 *	    u32    frames[m][3]: where its function and its file are in the strings, its line
 *	    u8     strings, each ended by a NUL; the one at 0 is none
 *
 * It is read whole, and believed only as far as it can be. It is replaced by rename(2): of two
 * that write at the same time one is lost, and its addresses are looked up again.
 */
#ifndef SYMBOLIZER_DWARF_DWARF_CACHE_H
#define SYMBOLIZER_DWARF_DWARF_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolizer/dwarf/dwarf_cache_dir.h"
#include "symbolizer/dwarf/dwarf_file.h"

/* Bytes of a file. Where not all has room, what was asked for last is kept: what is new, then what was found. */
#define DWARF_CACHE_FILE_MAX (64u << 20)

struct dwarf_cache;

/*
 * What the directory has of an object whose debug information is debug_fd's, and alt_fd's (-1:
 * none); it is empty when there is nothing, or nothing good. The directory is made, and used only
 * when it is ours alone. NULL: out of memory, no build-id of the kernel's kind, or a file of another user than root and
 * the reader: who writes it chooses its build-id, and what an entry would say of others' files.
 */
struct dwarf_cache *dwarf_cache_open(const char *dir, const struct buildid *id, int debug_fd,
				     int alt_fd);
void dwarf_cache_free(struct dwarf_cache *c);

/*
 * The frames of an address, DWARF_FRAMES_MAX at most, in *ret, whose strings are the cache's. False: it is
 * not there; *ret_nr 0: nothing is known of it.
 */
bool dwarf_cache_find(const struct dwarf_cache *c, uint64_t address, struct dwarf_frame *ret,
		      size_t *ret_nr);

/* Adds one that was not there; strings are copied. 0, -FMT_E_NOMEM. */
int dwarf_cache_add(struct dwarf_cache *c, uint64_t address, const struct dwarf_frame *frames,
		    size_t nr);
/* Writes the file, when something was added. Nobody depends on it: what goes wrong is not told. */
void dwarf_cache_save(struct dwarf_cache *c);

/* Takes the bytes of a file, which have to outlive the cache. False: they are not good, and it is empty. */
bool dwarf_cache_parse(struct dwarf_cache *c, struct span bytes);

#endif
