/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sample_values: what a sample's record has besides its stack, by name: addresses, weights, branches, registers. */
#ifndef SYMBOLIZER_EXPORT_SAMPLE_VALUES_H
#define SYMBOLIZER_EXPORT_SAMPLE_VALUES_H

#include "format/bytes/buf.h"

struct perf_sample;

/* "addr=0x7f1e weight=12 branches=0x1/0x2/0x5,... regs_intr=ax=0x1,...", or nothing. arch: see register_name(). */
void sample_values_text(const struct perf_sample *s, const char *arch, struct buf *out);
/* Likewise "values":{...} with a comma before it, or nothing; hexadecimal numbers are strings. */
void sample_values_json(const struct perf_sample *s, const char *arch, struct buf *out);

#endif
