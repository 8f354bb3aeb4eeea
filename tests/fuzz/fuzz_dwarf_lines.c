/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as .debug_line, and as the sections of its strings: heads, programs, paths. */
#include <stdint.h>
#include <stdlib.h>

#include "symbolizer/dwarf/dwarf_lines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ADDRESSES 512

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct dwarf_code code[] = { { 0, 0x2000 }, { 0x400000, 0x402000 } };
	const struct span bytes = span_of(data, size);
	const struct dwarf_line_sections sections = { bytes, bytes, bytes };
	uint64_t addresses[ADDRESSES];
	struct dwarf_line_row rows[ADDRESSES] = { 0 };
	struct dwarf_lines l;
	struct buf path;

	for (uint64_t i = 0; i < ADDRESSES; i++)
		addresses[i] = i < ADDRESSES / 2 ? 0x1000 + i * 5 : 0x400000 + i * 3;
	buf_init(&path);
	if (dwarf_lines_read(&sections, 0, &l) == 0) {
		(void)dwarf_lines_find(&l, code, 2, addresses, ADDRESSES, rows);
		for (size_t i = 0; i < ADDRESSES; i++) {
			buf_clear(&path);
			if (rows[i].found && dwarf_lines_path(&l, rows[i].file, "/", &path) &&
			    !buf_failed(&path) && path.p[path.len - 1] != '\0')
				abort();
		}
	}
	dwarf_lines_done(&l);
	buf_done(&path);
	return 0;
}
