/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * disassembly: bytes of code to instructions as text, by capstone.
 *
 * The bytes may be anybody's: capstone runs in a process of its own, which can compute and write to a
 * pipe (dwarf_sandbox.h); what comes through the pipe is checked.
 */
#ifndef SYMBOLIZER_CODE_DISASSEMBLY_H
#define SYMBOLIZER_CODE_DISASSEMBLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/bytes/span.h"

#define DISASSEMBLY_TEXT_MAX 255

struct disassembly;

struct disassembly_code {
	struct span bytes;
	uint64_t address; /* of the first */
	uint16_t machine; /* EM_* */
	bool is64;	  /* by the class of its ELF file */
	bool intel;	  /* operands of x86 as Intel writes them, not as AT&T does */
};

struct disassembly_instruction {
	uint64_t address;
	uint64_t target; /* where it jumps to or what it calls; 0: elsewhere, or not known yet */
	const char *text;
	uint8_t size; /* in bytes; those that are no instruction are one each, as ".byte" */
};

/*
 * All of the bytes. 0, -FMT_E_UNSUPPORTED (a machine that capstone or this file does not know),
 * -FMT_E_CORRUPT (the process that disassembled crashed, or was too slow), -FMT_E_NOMEM.
 */
int disassembly_make(const struct disassembly_code *code, struct disassembly **ret);
/*
 * What the process told, which may have been taken over: of each instruction u8 its size, u8 the length of
 * its text, u64 its target, the text. All of the code, or -FMT_E_CORRUPT; -FMT_E_NOMEM.
 */
int disassembly_read(const struct disassembly_code *code, struct span told,
		     struct disassembly **ret);
void disassembly_free(struct disassembly *d);

size_t disassembly_count(const struct disassembly *d);
/* By address, without holes. */
const struct disassembly_instruction *disassembly_at(const struct disassembly *d, size_t i);

#endif
