/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/text/data_source.h"

#include <stdio.h>
#include <string.h>

#include <bsd/string.h>
#include <linux/perf_event.h>

#define NR(array) (sizeof(array) / sizeof((array)[0]))
#define HOPS_SHIFT 43
#define HOPS_BITS 3
#define REMOTE_SHIFT 37
#define LVLNUM_SHIFT 33
#define LVLNUM_BITS 4

struct part {
	const char *name;
	uint8_t shift, width, more_shift, more_width;
};

static const struct part parts[] = {
#define X(name, shift, width, more_shift, more_width)                                              \
	{ #name, shift, width, more_shift, more_width },
	DATA_SOURCE_PARTS(X)
#undef X
};

/* Names of bits, from the lowest on. NULL: the bit is not one of these. */
static const char *const levels[] = {
	NULL,
	NULL,
	/* hit */ NULL, /* miss */
	"L1",
	"LFB/MAB",
	"L2",
	"L3",
	"Local RAM",
	"Remote RAM (1 hop)",
	"Remote RAM (2 hops)",
	"Remote Cache (1 hop)",
	"Remote Cache (2 hops)",
	"I/O",
	"Uncached",
};
static const char *const snoops[] = { "N/A", "None", "Hit", "Miss", "HitM" };
static const char *const snoops_more[] = { "Fwd", "Peer" };
static const char *const tlbs[] = { "N/A", NULL, NULL, "L1", "L2", "Walker", "Fault" };
static const char *const blocks[] = { "N/A", "Data", "Addr" };

/* Names of numbers. */
static const char *const level_numbers[] = {
	NULL,	"L1",	    "L2",  "L3",  "L4",	       "L2 MHB",  "Memory-side Cache",
	"L0",	"Uncached", "CXL", "I/O", "Any cache", "LFB/MAB", "RAM",
	"PMEM", NULL,
};
static const char *const hops[] = { NULL, "core, same node", "node, same socket",
				    "socket, same board", "board" };
/* PERF_MEM_REGION_*, newer than Linux 6.19; CA is a caching agent. */
static const char *const regions[] = {
	"N/A",
	"Reserved",
	"Local CA shared cache",
	"Local CA non-shared cache",
	"Other CA IO agent",
	"Other CA shared cache",
	"Other CA non-shared cache",
	"MMIO",
	"Memory region 0",
	"Memory region 1",
	"Memory region 2",
	"Memory region 3",
	"Memory region 4",
	"Memory region 5",
	"Memory region 6",
	"Memory region 7",
};

static unsigned
field(uint64_t word, unsigned shift, unsigned width)
{
	return (unsigned)(word >> shift & ((UINT64_C(1) << width) - 1));
}

/* The names of the bits that are set, with what stands between them. */
static void
add_names(char *text, unsigned bits, const char *const *names, size_t nr, const char *between)
{
	for (size_t i = 0; i < nr; i++) {
		if (!(bits >> i & 1) || !names[i])
			continue;
		strlcat(text, *text ? between : "", DATA_SOURCE_TEXT);
		strlcat(text, names[i], DATA_SOURCE_TEXT);
	}
}

static void
add_bits(char *text, unsigned bits, const char *const *names, size_t nr)
{
	add_names(text, bits, names, nr, " or ");
}

/* Hit and miss are the same bits of levels and of TLBs. */
static void
add_hit(char *text, unsigned bits)
{
	if (bits & PERF_MEM_LVL_HIT)
		strlcat(text, " hit", DATA_SOURCE_TEXT);
	else if (bits & PERF_MEM_LVL_MISS)
		strlcat(text, " miss", DATA_SOURCE_TEXT);
}

static void
op_text(unsigned bits, char *text)
{
	static const char *const names[] = { "N/A", "LOAD", "STORE", "PFETCH", "EXEC" };

	add_bits(text, bits & -bits, names, NR(names)); /* the lowest alone, as perf */
	if (!bits)
		strlcat(text, "No", DATA_SOURCE_TEXT);
}

/* The newer lvl_num says more precisely what lvl says, where there is one. */
static void
level_text(uint64_t data_src, unsigned bits, char *text)
{
	const unsigned number = field(data_src, LVLNUM_SHIFT, LVLNUM_BITS);
	const unsigned far = field(data_src, HOPS_SHIFT, HOPS_BITS);

	if (number == 0 || !level_numbers[number]) {
		add_bits(text, bits, levels, NR(levels));
	} else {
		if (field(data_src, REMOTE_SHIFT, 1))
			strlcat(text, "Remote ", DATA_SOURCE_TEXT);
		if (far < NR(hops) && hops[far]) {
			strlcat(text, hops[far], DATA_SOURCE_TEXT);
			strlcat(text, " ", DATA_SOURCE_TEXT);
		}
		strlcat(text, level_numbers[number], DATA_SOURCE_TEXT);
	}
	if (*text)
		add_hit(text, bits);
}

static void
region_text(unsigned number, char *text)
{
	if (number < NR(regions))
		strlcat(text, regions[number], DATA_SOURCE_TEXT);
	else
		snprintf(text, DATA_SOURCE_TEXT, "%u", number);
}

const char *
data_source_name(enum data_source_part part)
{
	return parts[part].name;
}

uint64_t
data_source_bits(enum data_source_part part)
{
	const struct part *p = &parts[part];
	uint64_t bits = ((UINT64_C(1) << p->width) - 1) << p->shift |
		((UINT64_C(1) << p->more_width) - 1) << p->more_shift;

	if (part == DATA_SOURCE_lvl)
		bits |= ((UINT64_C(1) << HOPS_BITS) - 1) << HOPS_SHIFT;
	return bits;
}

void
data_source_text(enum data_source_part part, uint64_t data_src, char ret[DATA_SOURCE_TEXT])
{
	const struct part *p = &parts[part];
	const unsigned bits = field(data_src, p->shift, p->width);

	*ret = '\0';
	switch (part) {
	case DATA_SOURCE_op:
		op_text(bits, ret);
		break;
	case DATA_SOURCE_lvl:
		level_text(data_src, bits, ret);
		break;
	case DATA_SOURCE_snoop:
		add_bits(ret, bits, snoops, NR(snoops));
		add_bits(ret, field(data_src, p->more_shift, p->more_width), snoops_more,
			 NR(snoops_more));
		break;
	case DATA_SOURCE_tlb:
		add_bits(ret, bits, tlbs, NR(tlbs));
		strlcat(ret, *ret ? "" : "N/A", DATA_SOURCE_TEXT);
		add_hit(ret, bits);
		break;
	case DATA_SOURCE_lock:
		if (!(bits & PERF_MEM_LOCK_NA))
			strlcat(ret, bits & PERF_MEM_LOCK_LOCKED ? "Yes" : "No", DATA_SOURCE_TEXT);
		break;
	case DATA_SOURCE_blk:
		add_names(ret, bits & PERF_MEM_BLK_NA ? PERF_MEM_BLK_NA : bits, blocks, NR(blocks),
			  " ");
		break;
	case DATA_SOURCE_region:
		region_text(bits, ret);
		break;
	case DATA_SOURCE_PARTS_MAX:
		break;
	}
	if (!*ret)
		strlcpy(ret, "N/A", DATA_SOURCE_TEXT);
}
