/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfdata_export: a recording, or some of one boot, as a perf.data that perf and others read.
 *
 * Kernel records go out byte for byte in time order; records of perf's tools that were
 * imported stand before them, for there they are good for all. State at the beginning of our
 * own recordings is records already. What the kernel counted as lost and told no record of
 * is told in LOST_SAMPLES at the end, as perf record does, but never of an import. AUX data stand
 * where perf's tool records do.
 */
#ifndef SYMBOLIZER_PERFDATA_PERFDATA_EXPORT_H
#define SYMBOLIZER_PERFDATA_PERFDATA_EXPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "format/bytes/io.h"
#include "format/perfdata/perfdata_header.h"
#include "format/recording/record_stream.h"
#include "symbolizer/profile/filter.h"
#include "symbolizer/resolve/kernel_symbols.h"

struct perfdata_export_options {
	bool pipe;
	/* Of samples: all but those by objects and symbols; its window is set on the streams. NULL: all. */
	const struct filter *filter;
	struct kernel_symbols *kernel; /* gets the kernel's symbols; NULL: nobody wants them */
};

struct perfdata_export_result {
	uint8_t header[PERFDATA_HEADER_BYTES]; /* file mode: belongs at the file's beginning */
	uint64_t records, samples;	       /* of the kernel, written */
	uint64_t left_out;		       /* sections, for their size */
	uint64_t aux_pieces;
	bool aux_left_out;    /* AUX data: with a filter, or of a second tracer */
	uint64_t bad_records; /* of our own, left out: no event parses them, and perf would stop */
};

struct perfdata_export;

/* sink, and what options point to, are borrowed. 0, -FMT_E_NOMEM. */
int perfdata_export_open(struct io_sink *sink, const struct perfdata_export_options *options,
			 struct perfdata_export **ret);
void perfdata_export_close(struct perfdata_export *x);

/*
 * What there is to know before the first record: each recording is looked at, and only then is
 * each one added, in the same order. Several have to be of one boot, for they have one
 * clock: -FMT_E_MISMATCH. What the reader says; it is rewound.
 */
int perfdata_export_look(struct perfdata_export *x, struct recording_reader *reader,
			 struct fmt_where *where);

/*
 * Writes all that stream, which has not been read from and is the reader's, gives. 0, or what
 * the writer says. *ret_read: an error of the recording, of which where tells as well; what
 * was before it has been written.
 */
int perfdata_export_add(struct perfdata_export *x, struct recording_reader *reader,
			struct record_stream *stream, int *ret_read, struct fmt_where *where);

/* After the last one. 0, or what the writer says. */
int perfdata_export_finish(struct perfdata_export *x, struct perfdata_export_result *ret,
			   struct fmt_where *where);

#endif
