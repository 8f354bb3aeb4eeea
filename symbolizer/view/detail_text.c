/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbolizer/view/detail_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <bsd/string.h>
#include <linux/perf_event.h>

static const struct {
	enum report_column key;
	enum data_source_part part;
} sources[] = {
	{ REPORT_mem, DATA_SOURCE_lvl },     { REPORT_snoop, DATA_SOURCE_snoop },
	{ REPORT_tlb, DATA_SOURCE_tlb },     { REPORT_locked, DATA_SOURCE_lock },
	{ REPORT_blocked, DATA_SOURCE_blk },
};

/* Powers of 1024 of which it is a multiple: sizes of pages are. */
static void
size_text(uint64_t bytes, char *text)
{
	static const char units[] = "BKMGT";
	size_t i = 0;

	for (; bytes && bytes % 1024 == 0 && units[i + 1]; i++)
		bytes /= 1024;
	if (bytes)
		snprintf(text, DATA_SOURCE_TEXT, "%" PRIu64 "%c", bytes, units[i]);
	else
		strlcpy(text, "N/A", DATA_SOURCE_TEXT);
}

/* tools/perf/util/sort.c, hist_entry__transaction_snprintf */
static void
transaction_text(uint64_t transaction, char *text)
{
	static const struct {
		uint64_t bit;
		const char *name;
	} names[] = {
		{ PERF_TXN_ELISION, "EL" },
		{ PERF_TXN_TRANSACTION, "TX" },
		{ PERF_TXN_SYNC, "SYNC" },
		{ PERF_TXN_ASYNC, "ASYNC" },
		{ PERF_TXN_RETRY, "RETRY" },
		{ PERF_TXN_CONFLICT, "CON" },
		{ PERF_TXN_CAPACITY_WRITE, "CAP-WRITE" },
		{ PERF_TXN_CAPACITY_READ, "CAP-READ" },
	};
	const uint64_t code = transaction >> PERF_TXN_ABORT_SHIFT;
	char number[24];

	*text = '\0';
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!(transaction & names[i].bit))
			continue;
		strlcat(text, *text ? " " : "", DATA_SOURCE_TEXT);
		strlcat(text, names[i].name, DATA_SOURCE_TEXT);
	}
	if (transaction && !(transaction & (PERF_TXN_SYNC | PERF_TXN_ASYNC)))
		strlcat(text, *text ? " NEITHER" : "NEITHER", DATA_SOURCE_TEXT);
	snprintf(number, sizeof(number), " :%" PRIx64, code);
	strlcat(text, code ? number : "", DATA_SOURCE_TEXT);
}

static const char *
predicted_text(uint64_t flags)
{
	if (flags & SAMPLE_BRANCH_PREDICTED)
		return "N";
	return flags & SAMPLE_BRANCH_MISPREDICTED ? "Y" : "N/A";
}

bool
detail_text(enum report_column key, uint64_t number, char ret[DATA_SOURCE_TEXT])
{
	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++)
		if (sources[i].key == key) {
			data_source_text(sources[i].part, number, ret);
			return true;
		}
	switch (key) {
	case REPORT_phys_daddr:
		snprintf(ret, DATA_SOURCE_TEXT, "0x%" PRIx64, number);
		return true;
	case REPORT_data_page_size:
	case REPORT_code_page_size:
		size_text(number, ret);
		return true;
	case REPORT_transaction:
		transaction_text(number, ret);
		return true;
	case REPORT_cycles: /* 0: they were not measured */
		strlcpy(ret, "-", DATA_SOURCE_TEXT);
		return number == 0;
	case REPORT_mispredict:
		strlcpy(ret, predicted_text(number), DATA_SOURCE_TEXT);
		return true;
	case REPORT_in_tx:
		strlcpy(ret, number ? "T" : ".", DATA_SOURCE_TEXT);
		return true;
	case REPORT_abort:
		strlcpy(ret, number ? "A" : ".", DATA_SOURCE_TEXT);
		return true;
	default:
		return false;
	}
}
