/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the process that disassembles tells, once somebody has taken it over: the first two bytes are how
 * long its code was.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizer/code/disassembly.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t bytes[UINT16_MAX];
	struct disassembly_code code = { .address = 0x1000 };
	struct disassembly *d = NULL;
	struct span told = span_of(data, size);
	uint64_t next = code.address;
	uint16_t len;

	if (!span_u16(&told, &len))
		return 0;
	code.bytes = span_of(bytes, len);
	if (disassembly_read(&code, told, &d) != 0)
		return 0;
	for (size_t i = 0; i < disassembly_count(d); i++) {
		const struct disassembly_instruction *in = disassembly_at(d, i);

		if (in->address != next || strlen(in->text) > DISASSEMBLY_TEXT_MAX)
			abort();
		next += in->size;
	}
	if (next != code.address + len)
		abort();
	disassembly_free(d);
	return 0;
}
