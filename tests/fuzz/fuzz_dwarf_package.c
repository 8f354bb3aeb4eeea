/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as the index of a .dwp: what it says of a unit is within the sections. */
#include <stdint.h>
#include <stdlib.h>

#include "symbolizer/dwarf/dwarf_package.h"

#define SECTION_BYTES 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
need_within(struct span part, const uint8_t *section)
{
	if (part.len > 0 &&
	    (part.p < section || part.len > SECTION_BYTES ||
	     (size_t)(part.p - section) > SECTION_BYTES - part.len))
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t bytes[4][SECTION_BYTES];
	const struct dwarf_split_sections whole = {
		.info = span_of(bytes[0], SECTION_BYTES),
		.abbrev = span_of(bytes[1], SECTION_BYTES),
		.str_offsets = span_of(bytes[2], SECTION_BYTES),
		.rnglists = span_of(bytes[3], SECTION_BYTES),
	};
	struct dwarf_split_sections s;

	/* Each unit that it may have, and one that it has not. */
	for (size_t at = 0; at + 8 <= size && at < 4096; at += 8) {
		if (!dwarf_package_find(span_of(data, size), le64dec(data + at), &whole, &s))
			continue;
		need_within(s.info, bytes[0]);
		need_within(s.abbrev, bytes[1]);
		need_within(s.str_offsets, bytes[2]);
		need_within(s.rnglists, bytes[3]);
	}
	(void)dwarf_package_find(span_of(data, size), 1, &whole, &s);
	return 0;
}
