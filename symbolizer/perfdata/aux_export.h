/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * aux_export: the AUX blocks of a recording as records of perf's tools: TIME_CONV and AUXTRACE_INFO, once,
 * and AUXTRACE with the bytes behind it.
 *
 * perf decodes while it reads kernel records, so that all of it stands before them.
 */
#ifndef SYMBOLIZER_PERFDATA_AUX_EXPORT_H
#define SYMBOLIZER_PERFDATA_AUX_EXPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "format/perfdata/perfdata_writer.h"
#include "format/recording/recording_reader.h"

struct aux_export {
	bool told;	 /* what a decoder needs to know, of the first block */
	uint32_t tracer; /* of which that was */
	uint64_t pieces; /* that were written */
	uint64_t others; /* blocks of another tracer, which one perf.data cannot have: left out */
};

/*
 * Writes what a recording has of it; the reader is rewound before and after. 0, what the writer or the
 * reader says.
 */
int aux_export_write(struct aux_export *x, struct recording_reader *reader,
		     struct perfdata_writer *w, struct fmt_where *where);

#endif
