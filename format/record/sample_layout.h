/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sample_layout: where the fields of an event's samples stand.
 *
 * The fields up to PERIOD are a word each, in an order of their own that is nearly that of their
 * bits, so their places follow from sample_type alone; what varies in length comes after them.
 * Source: perf_event_open(2), PERF_RECORD_SAMPLE.
 */
#ifndef FORMAT_RECORD_SAMPLE_LAYOUT_H
#define FORMAT_RECORD_SAMPLE_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "format/record/event_attr.h"

/* Words after the record's header; -1: samples of this event do not have it. */
struct sample_layout {
	int8_t identifier, ip, tid, time, addr, id, stream_id, cpu, period;
	uint8_t fixed_words; /* all of the above */
	bool read;	     /* then READ */
	bool callchain;	     /* then u64 nr, nr words */
	uint64_t rest;	     /* bits of sample_type whose fields follow the callchain */
	int8_t rest_words;   /* that they take; -1: that varies */
};

void sample_layout_of(const struct event_attr *attr, struct sample_layout *ret);

#endif
