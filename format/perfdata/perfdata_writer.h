/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfdata_writer: a perf.data in pipe mode or in file mode, to a sink.
 *
 * Pipe mode is written from front to back and can be cut anywhere. File mode has its sizes in
 * its first bytes, and a sink only appends: what stands there meanwhile says "0 bytes", which
 * readers know from a killed perf record; in the end the writer tells what belongs there, and
 * putting it there is the caller's. Nothing here looks into a kernel record. Not
 * for perf's compressed or directory shapes.
 */
#ifndef FORMAT_PERFDATA_PERFDATA_WRITER_H
#define FORMAT_PERFDATA_PERFDATA_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "format/bytes/fmt_error.h"
#include "format/bytes/io.h"
#include "format/perfdata/perfdata_header.h"
#include "format/record/event_set.h"

struct perfdata_writer;

struct perfdata_writer_options {
	bool pipe;
	uint32_t keep_attr_bytes; /* attrs up to this size stay as they are; see perfdata_feature.h */
};

/*
 * Writes the header and the events with their ids (in pipe mode with their names as well).
 * sink is borrowed for the writer's life, events for this call. 0, -FMT_E_IO, -FMT_E_NOMEM,
 * -FMT_E_TOO_BIG (pipe mode: an event has more ids than a record can hold).
 */
int perfdata_writer_open(struct io_sink *sink, const struct event_set *events,
			 const struct perfdata_writer_options *options,
			 struct perfdata_writer **ret, struct fmt_where *where);
void perfdata_writer_free(struct perfdata_writer *w);

/*
 * A section of the header, each at most once. File mode keeps it for the end. Pipe mode writes
 * it now, before the records that need it, as the record that readers expect there; what
 * has no such form is left out, as perf record does: what tells file offsets, and what is too
 * long for a record. 0, -FMT_E_IO, -FMT_E_NOMEM, -FMT_E_TOO_BIG (file mode: over 2 GiB).
 */
int perfdata_writer_feature(struct perfdata_writer *w, unsigned int feature, struct span payload,
			    struct fmt_where *where);

/*
 * EVENT_UPDATE records with the units and scales of events, which the header has no place for; before the first record
 * that needs them. 0, -FMT_E_IO, -FMT_E_NOMEM.
 */
int perfdata_writer_units(struct perfdata_writer *w, const struct event_set *events,
			  struct fmt_where *where);

/* Whole records, the kernel's or those of tools with what follows them. 0, -FMT_E_IO... */
int perfdata_writer_records(struct perfdata_writer *w, struct span records,
			    struct fmt_where *where);
/*
 * An AUXTRACE record; the bytes behind it may follow it, or be given as records are. In file mode the AUXTRACE section
 * tells, at the end, where all of them are: some readers take a trace for there only by it.
 */
int perfdata_writer_trace(struct perfdata_writer *w, struct span record, struct fmt_where *where);
/* FINISHED_ROUND: every record so far is older than those that come. */
int perfdata_writer_round(struct perfdata_writer *w, struct fmt_where *where);

/* Bytes of records so far. */
uint64_t perfdata_writer_bytes(const struct perfdata_writer *w);

/*
 * Writes what is left. File mode: ret_header has the bytes that belong at the file's beginning;
 * pipe mode leaves it alone.
 */
int perfdata_writer_finish(struct perfdata_writer *w, uint8_t ret_header[PERFDATA_HEADER_BYTES],
			   struct fmt_where *where);

#endif
