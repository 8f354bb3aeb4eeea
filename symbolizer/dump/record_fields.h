/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record_fields: every field of a record, by name, into a sink; the inner half of
 * record_text. arch (uname -m, may be NULL) names the registers, events (may be NULL) the counts.
 */
#ifndef SYMBOLIZER_DUMP_RECORD_FIELDS_H
#define SYMBOLIZER_DUMP_RECORD_FIELDS_H

#include "format/record/event_set.h"
#include "format/record/perf_record.h"
#include "symbolizer/dump/record_sink.h"
#include "symbolizer/dump/record_text.h"

void record_fields(struct record_sink *s, const struct perf_record *r,
		   const struct record_text_about *about);

#endif
