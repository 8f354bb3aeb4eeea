/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/record/sample_layout.h"

#include <linux/perf_event.h>

/* Fields behind the callchain that are a word each; the two weights share one. */
#define WEIGHTS (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT)
#define WORDS                                                                                      \
	(PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_TRANSACTION | PERF_SAMPLE_PHYS_ADDR |                  \
	 PERF_SAMPLE_CGROUP | PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE)

static int8_t
words_of(uint64_t rest)
{
	if (rest & ~(uint64_t)(WEIGHTS | WORDS))
		return -1;
	return (int8_t)(__builtin_popcountll(rest & WORDS) + ((rest & WEIGHTS) != 0));
}

static int8_t
sample_layout_place(uint64_t sample_type, uint64_t bit, uint8_t *words)
{
	return sample_type & bit ? (int8_t)(*words)++ : -1;
}

void
sample_layout_of(const struct event_attr *attr, struct sample_layout *ret)
{
	uint64_t type = attr->sample_type;
	uint8_t n = 0;

	/* The order of the fields in a record, which is not that of the bits. */
	ret->identifier = sample_layout_place(type, PERF_SAMPLE_IDENTIFIER, &n);
	ret->ip = sample_layout_place(type, PERF_SAMPLE_IP, &n);
	ret->tid = sample_layout_place(type, PERF_SAMPLE_TID, &n);
	ret->time = sample_layout_place(type, PERF_SAMPLE_TIME, &n);
	ret->addr = sample_layout_place(type, PERF_SAMPLE_ADDR, &n);
	ret->id = sample_layout_place(type, PERF_SAMPLE_ID, &n);
	ret->stream_id = sample_layout_place(type, PERF_SAMPLE_STREAM_ID, &n);
	ret->cpu = sample_layout_place(type, PERF_SAMPLE_CPU, &n);
	ret->period = sample_layout_place(type, PERF_SAMPLE_PERIOD, &n);
	ret->fixed_words = n;
	ret->read = type & PERF_SAMPLE_READ;
	ret->callchain = type & PERF_SAMPLE_CALLCHAIN;
	ret->rest = type &
		~(uint64_t)(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			    PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID |
			    PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
			    PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN);
	ret->rest_words = words_of(ret->rest);
}
