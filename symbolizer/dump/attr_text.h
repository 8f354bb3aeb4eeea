/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * attr_text: a perf_event_attr in words, as perf evlist -v has it: fields that are 0 are left out.
 */
#ifndef SYMBOLIZER_DUMP_ATTR_TEXT_H
#define SYMBOLIZER_DUMP_ATTR_TEXT_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include "format/bytes/buf.h"
#include "format/bytes/span.h"

/*
 * Calls with the name and value of each field that is not 0, in perf's order, until see() returns false, which is
 * returned. text: of what has bits or is an address, else NULL.
 */
bool attr_text_each(const struct perf_event_attr *attr,
		    bool (*see)(void *arg, const char *name, uint64_t value, const char *text),
		    void *arg);

/* The attr that a recording has, of any size: what is behind the struct is left out. */
void attr_text_of(struct span raw, struct perf_event_attr *ret);

/* Appends "type: 1, size: 128, ...". */
void attr_text(const struct perf_event_attr *attr, struct buf *out);

#endif
