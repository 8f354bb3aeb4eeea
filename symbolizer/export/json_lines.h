/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * json_lines: samples as lines of JSON, an object each. spoor-export(1) tells its keys.
 *
 * Numbers are integers below 2^53, as far as those who were sampled leave it at that. Names are as they
 * were recorded: JSON escapes what no text has, and bytes that are not UTF-8 are \xHH.
 */
#ifndef SYMBOLIZER_EXPORT_JSON_LINES_H
#define SYMBOLIZER_EXPORT_JSON_LINES_H

#include "symbolizer/export/sample_export.h"

/* The profile is by pid, tid, cpu, cgroup, address and line. */
extern const struct sample_form json_lines_form;

#endif
