/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfdata_export: a recording as a perf.data that perf and others read.
 *
 * Kernel records go out byte for byte in time order; records of perf's tools that were
 * imported stand before them, for there they are good for all. State at the beginning of our
 * own recordings is records already. What the kernel counted as lost and told no record of
 * is told in LOST_SAMPLES at the end, as perf record does, but never of an import.
 */
#ifndef SYMBOLIZER_PERFDATA_EXPORT_H
#define SYMBOLIZER_PERFDATA_EXPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "format/io.h"
#include "format/perfdata_header.h"
#include "format/record_stream.h"
#include "symbolizer/filter.h"
#include "symbolizer/kernel_symbols.h"

struct perfdata_export_options {
	bool pipe;
	/* Of samples: pid, tid, cpu, event; and a window, set on the stream. NULL: all. */
	const struct filter *filter;
	bool windowed;		       /* the stream has a window */
	struct kernel_symbols *kernel; /* gets the kernel's symbols; NULL: nobody wants them */
};

struct perfdata_export_result {
	uint8_t header[PERFDATA_HEADER_BYTES]; /* file mode: belongs at the file's beginning */
	uint64_t records, samples;	       /* of the kernel, written */
	int read_error;	      /* of the recording: what was before it has been written */
	uint64_t bad_records; /* of our own, left out: no event parses them, and perf would stop */
};

/*
 * Writes all that stream gives, which has not been read from, to sink (borrowed). reader is
 * the stream's. 0, or what the writer says; or the reader, before anything was written. where
 * also tells of ret->read_error.
 */
int perfdata_export(struct recording_reader *reader, struct record_stream *stream,
		    struct io_sink *sink, const struct perfdata_export_options *options,
		    struct perfdata_export_result *ret, struct fmt_where *where);

#endif
