/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as a perf map, as a jitdump, and as what both say of addresses. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "format/bytes/io.h"
#include "format/jit/jitdump.h"
#include "format/jit/perf_map.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check(struct jit_table *t)
{
	struct jit_symbol symbol;

	if (jit_table_settle(t) != 0)
		abort();
	for (uint64_t address = 0; address < 64; address++)
		for (uint64_t at = 0; at < 4; at++)
			if (jit_table_find(t, address << 8, at << 62, &symbol) &&
			    (symbol.start > address << 8 || !symbol.name[0]))
				abort();
	jit_table_free(t);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct io_source *file = io_source_memory(data, size);
	struct span text = span_of(data, size);
	struct jit_table *t = jit_table_new();
	struct perf_map_line line;
	uint64_t budget = 1000000;

	if (!t || !file)
		abort();
	while (perf_map_next(&text, &line)) {
		if (line.name_len == 0 || memchr(line.name, 0, line.name_len) ||
		    line.start + line.size <= line.start)
			abort();
		if (jit_table_add(t, line.start, line.size, 0, line.name, line.name_len, NULL) < 0)
			abort();
	}
	check(t);
	t = jit_table_new();
	if (!t)
		abort();
	jitdump_read(file, &budget, t);
	file->close(file);
	check(t);
	return 0;
}
