/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * data_source: which memory a sample touched, and how: union perf_mem_data_src in words, those of
 * perf(1) (tools/perf/util/mem-events.c).
 */
#ifndef SYMBOLIZER_TEXT_DATA_SOURCE_H
#define SYMBOLIZER_TEXT_DATA_SOURCE_H

#include <stdint.h>

/* name, first bits and how many, further bits and how many (0: none) */
#define DATA_SOURCE_PARTS(X)                                                                       \
	X(op, 0, 5, 0, 0)                                                                          \
	X(lvl, 5, 14, 33, 5) /* with lvl_num and remote, and hops (43, 3) */                       \
	X(snoop, 19, 5, 38, 2)                                                                     \
	X(tlb, 26, 7, 0, 0)                                                                        \
	X(lock, 24, 2, 0, 0)                                                                       \
	X(blk, 40, 3, 0, 0)                                                                        \
	X(region, 46, 5, 0, 0)

enum data_source_part {
#define X(name, ...) DATA_SOURCE_##name,
	DATA_SOURCE_PARTS(X)
#undef X
		DATA_SOURCE_PARTS_MAX
};

#define DATA_SOURCE_TEXT 256 /* bytes of the longest text: each level and hop at once */

const char *data_source_name(enum data_source_part part);
/* The bits of the word that the part is of. */
uint64_t data_source_bits(enum data_source_part part);
/* What they say: "L1 hit", "None", "Yes"; "N/A" where they say nothing. */
void data_source_text(enum data_source_part part, uint64_t data_src, char ret[DATA_SOURCE_TEXT]);

#endif
