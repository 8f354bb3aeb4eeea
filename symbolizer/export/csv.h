/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * csv: samples as comma-separated values (RFC 4180), a row each under a row of names. spoor-export(1)
 * tells its columns.
 *
 * One row a sample, not one a frame: a table's rows are what is counted, and a sum over a column has
 * to be right. So the stack is one column, folded.
 *
 * Text is quoted, and what is not printable is escaped (escape.h). Spreadsheets execute cells that
 * begin with =, +, - or @: a ' goes before those.
 */
#ifndef SYMBOLIZER_EXPORT_CSV_H
#define SYMBOLIZER_EXPORT_CSV_H

#include "symbolizer/export/sample_export.h"

/* The profile is by pid, tid, cpu and cgroup. */
extern const struct sample_form csv_form;

#endif
