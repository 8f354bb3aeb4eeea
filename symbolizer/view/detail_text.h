/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detail_text: details of samples (sample_detail.h) in words, those of perf report. */
#ifndef SYMBOLIZER_VIEW_DETAIL_TEXT_H
#define SYMBOLIZER_VIEW_DETAIL_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "symbolizer/profile/report.h"
#include "symbolizer/text/data_source.h"

/* The text of a number that has one: "L1 hit", "2M", "0x12345040"; false: the number is all there is. */
bool detail_text(enum report_column key, uint64_t number, char ret[DATA_SOURCE_TEXT]);

#endif
