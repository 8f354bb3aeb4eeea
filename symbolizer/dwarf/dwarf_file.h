/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dwarf_file: the debug information of one file, asked for many addresses at once.
 *
 * Addresses are those of the ELF file. They are sorted by unit, and each unit is gone through once:
 * its functions, the inside of those that are hit, and its line program.
 */
#ifndef SYMBOLIZER_DWARF_DWARF_FILE_H
#define SYMBOLIZER_DWARF_DWARF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolizer/dwarf/dwarf_split.h"

#define DWARF_FRAMES_MAX 256 /* of an address: inlined into each other */

struct dwarf_file;

/* What it is read from; descriptors are borrowed for its life. */
struct dwarf_source {
	int fd;
	int alt_fd;	       /* of the file that dwz(1) moved a part to; -1: none */
	dwarf_split_fn *split; /* opens files with split units; NULL: there are none */
	void *arg;	       /* its own */
};

/*
 * -FMT_E_EMPTY: there is no debug information; -FMT_E_CORRUPT, -FMT_E_DECOMPRESS, -FMT_E_TOO_BIG,
 * -FMT_E_NOMEM.
 */
int dwarf_file_open(const struct dwarf_source *source, struct dwarf_file **ret);
void dwarf_file_close(struct dwarf_file *f);

/* Strings are valid for the file's life, and equal ones are one pointer. */
struct dwarf_frame {
	const char *function; /* as the linker has it, else as the source has; NULL: not known */
	const char *file;     /* NULL: not known */
	uint32_t line;	      /* 0: not known */
};

/*
 * What is at the i-th address: the innermost frame first, each but the last inlined into the next
 * one. Anything but 0 ends the search, and is returned. partial: the file with the functions of
 * its unit is not here; nr may be 0 then.
 */
typedef int dwarf_found_fn(void *arg, size_t i, const struct dwarf_frame *frames, size_t nr,
			   bool partial);

/*
 * Those that nothing is known of are not called back for; order is ours. *ret_lacking: of how many units
 * the file with the functions is not here. 0, -FMT_E_NOMEM.
 */
int dwarf_file_find(struct dwarf_file *f, const uint64_t *addresses, size_t n,
		    dwarf_found_fn *found, void *arg, uint32_t *ret_lacking);

#endif
