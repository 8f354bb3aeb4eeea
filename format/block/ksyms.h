/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ksyms: payload of a KSYMS block: the kernel symbols that the records after it need and
 * no KSYMS block before it has. Each entry carries its own end, so that a part of the table
 * never names an address that belongs to a symbol which is not there.
 *
 *   u32 count, u32 0, then count x { u64 start, u64 end, string module, string name }
 *   (string: u32 length and bytes; module empty: the kernel itself), sorted by start.
 */
#ifndef FORMAT_BLOCK_KSYMS_H
#define FORMAT_BLOCK_KSYMS_H

#include <stdint.h>

#include "format/bytes/buf.h"
#include "format/bytes/fmt_error.h"

struct ksym {
	uint64_t start, end;
	const char *module; /* "" the kernel itself; "bpf" and "__builtin__ftrace" occur */
	size_t module_len;
	const char *name; /* not NUL-terminated when it comes from a payload */
	size_t name_len;
};

void ksyms_begin(struct buf *out);
void ksyms_add(struct buf *out, uint64_t start, uint64_t end, const char *module, const char *name);

/* Iterates: *cursor is 0 at first. 1 an entry, 0 the end, -FMT_E_CORRUPT. */
int ksyms_next(struct span payload, size_t *cursor, struct ksym *ret);

#endif
