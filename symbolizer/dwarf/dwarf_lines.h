/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dwarf_lines: line programs of .debug_line, of DWARF 2 to 5.
 *
 * A program is run once for all addresses that are asked of it; its rows are looked at as they
 * come, and none is kept. So it costs what reading its bytes costs, and no memory.
 */
#ifndef SYMBOLIZER_DWARF_DWARF_LINES_H
#define SYMBOLIZER_DWARF_DWARF_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/bytes/buf.h"
#include "format/bytes/span.h"

/* The sections that a program takes its bytes from; empty: there is none. */
struct dwarf_line_sections {
	struct span line, line_str, str;
};

struct dwarf_line_file {
	const char *name;
	uint64_t dir; /* number of its directory */
};

/* The head of a program; its strings are the sections'. */
struct dwarf_lines {
	unsigned int version;
	uint8_t min_instruction, max_operations, line_range, opcode_base;
	int8_t line_base;
	bool is64;	     /* 64-bit DWARF */
	struct span lengths; /* of the standard operations: how many operands they have */
	struct span program; /* behind the head */
	const char **dirs;
	size_t nr_dirs, cap_dirs;
	struct dwarf_line_file *files;
	size_t nr_files, cap_files;
};

/*
 * Reads the head of the program at this offset of the section. 0, -FMT_E_CORRUPT,
 * -FMT_E_UNSUPPORTED (another version), -FMT_E_NOMEM; dwarf_lines_done() in any case.
 */
int dwarf_lines_read(const struct dwarf_line_sections *sections, uint64_t offset,
		     struct dwarf_lines *ret);
void dwarf_lines_done(struct dwarf_lines *l);

/* The row that holds an address. line 0: the compiler made this code of no line. */
struct dwarf_line_row {
	uint32_t file, line;
	bool found;
};

/* A part of the object with code in it. */
struct dwarf_code {
	uint64_t start, end;
};
bool dwarf_code_has(const struct dwarf_code *code, size_t nr, uint64_t address);

/*
 * Finds the rows of n addresses, which are sorted; rows[i] is left alone when none holds it, or
 * when it was found. Rows of code that the linker dropped are passed over. False: the program is
 * damaged, and what was found before stands.
 */
bool dwarf_lines_find(const struct dwarf_lines *l, const struct dwarf_code *code, size_t nr_code,
		      const uint64_t *addresses, size_t n, struct dwarf_line_row *rows);

/*
 * Appends the path of a file by its number in the program (of DWARF 5 from 0, before that from 1),
 * and a NUL. comp_dir is where the compiler ran; NULL: nobody says. False: there is no such file.
 */
bool dwarf_lines_path(const struct dwarf_lines *l, uint64_t file, const char *comp_dir,
		      struct buf *ret);

#endif
